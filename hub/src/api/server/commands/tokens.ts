// Access tokens for clients of the hub. A token is shown once, when it is made.

import { servicePrincipal } from "../../../auth/users.ts";
import type { StoredToken } from "../../../auth/token-store.ts";
import type { AccessToken, AccessTokenInput, NewAccessToken } from "../../schemas/token.ts";
import type { Managed } from "../core.ts";
import { principalNamed } from "./on-behalf.ts";

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 90;

export class TokenCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  async list(): Promise<AccessToken[]> {
    return (await this.#managed.hub.accessTokens.list()).map(toView);
  }

  /** `by`: the principal who makes it. */
  async make(input: AccessTokenInput, by: string): Promise<NewAccessToken> {
    const { name, for: holder, role = "user", groups = "*", read_only: readOnly = false } = input;
    const { expires_in_days: days = DEFAULT_DAYS } = input;
    // An unknown group is a typing error; one that is added later is not meant.
    if (groups !== "*") for (const group of groups) this.#managed.hub.catalog.groupOrSuggest(group);
    const expiresAt = days === null ? undefined : Date.now() + days * DAY_MS;
    const principal = holder === undefined ? servicePrincipal(name) : await principalNamed(this.#managed.hub, holder);
    const given = { name, principal, role, groups, readOnly, expiresAt };
    const { token, stored } = await this.#managed.hub.accessTokens.make(given, by);
    return { ...toView(stored), token };
  }

  /** By id or name. */
  async revoke(idOrName: string, by: string): Promise<AccessToken> {
    return toView(await this.#managed.hub.accessTokens.revoke(idOrName, by));
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
