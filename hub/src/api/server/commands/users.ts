// Users, and who the caller is.

import type { Grant } from "../../../auth/grant.ts";
import { may } from "../../../auth/policy.ts";
import { labelOf, type User } from "../../../auth/users.ts";
import { HubError } from "../../../errors.ts";
import type { Me, UserPatch, UserView } from "../../schemas/user.ts";
import type { Managed } from "../core.ts";

export class UserCommands {
  readonly #hub: Managed["hub"];

  constructor({ hub }: Pick<Managed, "hub">) {
    this.#hub = hub;
  }

  async list(): Promise<UserView[]> {
    return (await this.#hub.users.list()).map(toView);
  }

  /** By id, or by verified email address. */
  async get(id: string): Promise<UserView> {
    return toView(await this.#hub.users.get(id));
  }

  async change(id: string, { role, disabled }: UserPatch): Promise<UserView> {
    const { users } = this.#hub;
    if (role === undefined && disabled === undefined) {
      throw new HubError("InvalidArgument", "Neither a role nor `disabled` is given");
    }
    if (role !== undefined) await users.setRole(id, role ?? undefined);
    if (disabled !== undefined) await users.setDisabled(id, disabled);
    return this.get(id);
  }

  /** Their tokens are revoked. */
  async remove(id: string, by: string): Promise<void> {
    const { users, accessTokens } = this.#hub;
    const { principal } = await users.remove(id);
    const tokens = await accessTokens.list();
    for (const token of tokens.filter((each) => each.principal === principal)) await accessTokens.revoke(token.id, by);
  }

  me(grant: Grant): Me {
    const { catalog, users } = this.#hub;
    const { principal, role, teams, readOnly, kind, client } = grant;
    const user = principal.startsWith("user:") ? users.find(principal) : undefined;
    return {
      principal,
      name: user === undefined ? principal.replace(/^service:/, "") : labelOf(user),
      role,
      teams: [...teams],
      read_only: readOnly,
      groups: catalog.groupNames.filter((name) => may(grant, { to: "use", group: catalog.group(name) })),
      credentials: kind,
      client: client ?? null,
    };
  }
}

function toView(user: User): UserView {
  const { id, principal, email, emailVerified, name, issuer, subject, role, givenRole, teams, disabled } = user;
  return {
    id,
    principal,
    email: email ?? null,
    email_verified: emailVerified,
    name: name ?? null,
    issuer,
    subject,
    role,
    given_role: givenRole ?? null,
    teams: [...teams],
    disabled,
    created_at: new Date(user.createdAt).toISOString(),
    seen_at: new Date(user.seenAt).toISOString(),
  };
}
