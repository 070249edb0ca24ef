// Access tokens for clients of the hub. A token is shown once, when it is made.

import { includesRole, type Grant } from "../../../auth/grant.ts";
import { may } from "../../../auth/policy.ts";
import { HubError } from "../../../errors.ts";
import { servicePrincipal } from "../../../auth/users.ts";
import type { StoredToken } from "../../../auth/token-store.ts";
import type { AccessToken, AccessTokenInput, NewAccessToken } from "../../schemas/token.ts";
import type { Managed } from "../core.ts";
import { principalNamed } from "./on-behalf.ts";
import { requireGroup } from "./open-group.ts";

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 90;

export class TokenCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  /** Those that the viewer may handle. */
  async list(viewer: Grant): Promise<AccessToken[]> {
    return (await this.#managed.hub.accessTokens.list())
      .filter(({ principal }) => may(viewer, { to: "handle", owner: principal, as: "admin" }))
      .map(toView);
  }

  /** `maker`: without the role admin it makes tokens for itself only, which may do no more than it may itself. */
  async make(input: AccessTokenInput, maker: Grant): Promise<NewAccessToken> {
    const { name, for: holder, role = "user", groups = "*", read_only: readOnly = false } = input;
    const { expires_in_days: days = DEFAULT_DAYS } = input;
    const isAdmin = may(maker, { to: "manage", as: "admin", changes: true });
    const own = isAdmin ? servicePrincipal(name) : maker.principal;
    const principal = holder === undefined ? own : await principalNamed(this.#managed.hub, holder);
    if (!isAdmin) requireWithin(maker, { principal, role });
    // An unknown group is a typing error; one that is added later is not meant.
    if (groups !== "*") for (const group of groups) requireGroup(this.#managed.hub, group, maker, { principal, role });
    const expiresAt = days === null ? undefined : Math.round(Date.now() + days * DAY_MS);
    const given = { name, principal, role, groups, readOnly, expiresAt };
    const { token, stored } = await this.#managed.hub.accessTokens.make(given, maker.principal);
    return { ...toView(stored), token };
  }

  /** By id or name. A token that the revoker may not handle does not exist for it. */
  async revoke(idOrName: string, revoker: Grant): Promise<AccessToken> {
    const { accessTokens } = this.#managed.hub;
    const mine = ({ principal }: StoredToken) => may(revoker, { to: "handle", owner: principal, as: "admin" });
    return toView(await accessTokens.revoke(idOrName, revoker.principal, mine));
  }
}

/** A stolen token must not outlive its revocation by making others. */
function requireWithin({ kind, principal, role }: Grant, wanted: Pick<StoredToken, "principal" | "role">): void {
  if (kind === "token" || kind === "issued") {
    throw new HubError("Forbidden", "A token with this role makes no tokens", {
      hint: "Sign in to the web interface to make one, or ask an administrator of the hub",
    });
  }
  if (wanted.principal !== principal) {
    throw new HubError("Forbidden", "Only an administrator makes tokens for others", { field: "for" });
  }
  if (!includesRole(role, wanted.role)) {
    throw new HubError("Forbidden", `A token cannot have a higher role than its user, ${role}`, { field: "role" });
  }
}

function toView(stored: StoredToken): AccessToken {
  const { id, name, start, principal, role, groups, readOnly, createdAt, createdBy, expiresAt, usedAt, usedFrom } =
    stored;
  return {
    id,
    name,
    start,
    principal,
    role,
    groups: groups === "*" ? "*" : [...groups],
    read_only: readOnly,
    created_at: new Date(createdAt).toISOString(),
    created_by: createdBy,
    expires_at: toTime(expiresAt),
    used_at: toTime(usedAt),
    used_from: usedFrom ?? null,
  };
}

function toTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
