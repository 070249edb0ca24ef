// Whose logins and personal secrets a request is about: its own caller's, or, for an administrator, those of a named principal.

import { OWNER } from "../../../auth/grant.ts";
import { may, type Rights } from "../../../auth/policy.ts";
import { servicePrincipal } from "../../../auth/users.ts";
import { HubError } from "../../../errors.ts";
import type { Core } from "../core.ts";

/** The caller of a hub inside a command. */
export const OWNER_RIGHTS: Rights = {
  kind: "owner",
  principal: OWNER,
  role: "admin",
  teams: new Set(),
  email: undefined,
  groups: "*",
  readOnly: false,
  hasEnded: false,
};

/** A user by address or id, `local`, or the name of a program. */
export async function principalNamed({ users }: Pick<Core, "users">, named: string): Promise<string> {
  if (named === OWNER || named.startsWith(servicePrincipal(""))) return named;
  const isUser = named.includes("@") || named.startsWith("user:");
  if (isUser) return (await users.get(named)).principal;
  await users.reload();
  return users.find(named)?.principal ?? servicePrincipal(named);
}

/** `named`: undefined for the caller. Throws if the caller may not act for that principal. */
export async function actingFor(hub: Pick<Core, "users">, rights: Rights, named: string | undefined): Promise<string> {
  if (named === undefined || named === "me") return rights.principal;
  // Not even whether there is such a user is said to others.
  if (!may(rights, { to: "manage", as: "admin", changes: true }) && named !== rights.principal) throw notTheirs();
  return principalNamed(hub, named);
}

export function notTheirs(): HubError {
  return new HubError("Forbidden", "The logins and secrets of other people need the role admin");
}

/** Whether the caller may use the server in some group. Someone who manages the hub may use every server. */
export function mayReach({ catalog }: Pick<Core, "catalog">, rights: Rights, server: string): boolean {
  if (may(rights, { to: "manage", as: "operator", changes: false })) return true;
  return catalog.groupNames.some((name) => {
    const group = catalog.group(name);
    return group.servers.includes(server) && may(rights, { to: "use", group });
  });
}
