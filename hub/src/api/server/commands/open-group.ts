// Which groups new credentials may be for.

import { lowerRole, type Grant } from "../../../auth/grant.ts";
import { may } from "../../../auth/policy.ts";
import type { StoredToken } from "../../../auth/token-store.ts";
import { groupNotFound } from "../../../catalog/catalog.ts";
import { HubError } from "../../../errors.ts";
import type { Core } from "../core.ts";

const NO_TEAMS: ReadonlySet<string> = new Set();

/** Throws unless the group is open to the maker of the credentials, and to whom they are for. */
export function requireGroup(
  { catalog, users }: Pick<Core, "catalog" | "users">,
  name: string,
  maker: Grant,
  { principal, role }: Pick<StoredToken, "principal" | "role">,
): void {
  const isAdmin = may(maker, { to: "manage", as: "admin", changes: true });
  const group = isAdmin ? catalog.groupOrSuggest(name) : catalog.group(name);
  if (!may(maker, { to: "use", group })) throw groupNotFound(name);
  const rights = users.rightsOf(principal);
  const holder = { kind: "token", principal, groups: "*", readOnly: false, hasEnded: false, ...rights } as const;
  const limited = { teams: NO_TEAMS, email: undefined, ...holder, role: lowerRole(role, rights?.role ?? "user") };
  if (may(limited, { to: "use", group })) return;
  throw new HubError("InvalidArgument", `The group ${name} is not open to ${principal}`, {
    field: "groups",
    hint: "Add it to the group's `access` first: plugboard group set NAME --access …",
  });
}
