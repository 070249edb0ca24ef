// What a caller may do, as its credentials say. Everything that a caller holds open hangs on its grant, and ends with it.

import { Lifetime } from "../lib/lifetime.ts";

export const ROLES = ["user", "operator", "admin"] as const;
export type Role = (typeof ROLES)[number];

export function isRole(text: unknown): text is Role {
  return ROLES.some((role) => role === text);
}

const RANK: Readonly<Record<Role, number>> = { user: 0, operator: 1, admin: 2 };

/** Whether a role includes what another one may do. */
export function includesRole(role: Role, other: Role): boolean {
  return RANK[role] >= RANK[other];
}

export function lowerRole(one: Role, other: Role): Role {
  return includesRole(one, other) ? other : one;
}

/** The person who runs the hub. */
export const OWNER = "local";

/** By what a caller was recognised. */
export type GrantKind =
  /** The management token. */
  | "owner"
  /** An access token of the hub. */
  | "token"
  /** A token of an external issuer. */
  | "jwt"
  /** A token that the hub's own authorization server has issued. */
  | "issued"
  /** A browser that is signed in. */
  | "session"
  /** Nothing, where the endpoints are open to programs of this machine. */
  | "anonymous";

export interface GrantInit {
  readonly kind: GrantKind;
  /** Of the token or session, or `management` and the like. */
  readonly id: string;
  /** The person or program: `local`, `user:<id>` or `service:<name>`. What one of them opens no other can use. */
  readonly principal: string;
  /** What it may do in the management API. */
  readonly role: Role;
  /** The role that it would have if its token had been issued for all scopes. Default: `role`. */
  readonly unscopedRole?: Role;
  /** The teams of the person or program. */
  readonly teams?: ReadonlySet<string>;
  /** Verified, in lower case: people are named by it in the access lists of groups. */
  readonly email?: string | undefined;
  /** The groups whose endpoints it may use, if their access lists allow it. */
  readonly groups: "*" | ReadonlySet<string>;
  /** It sees and calls only tools that say that they change nothing. */
  readonly readOnly: boolean;
  /** The program that acts for the principal: the id of an OAuth client, or the name of an access token. */
  readonly client?: string | undefined;
  /** The name under which its calls are recorded, whatever the client calls itself. */
  readonly clientName?: string;
}

const NO_TEAMS: ReadonlySet<string> = new Set();

/** Everything is allowed to the person who runs the hub. */
export function ownerGrant(init: Pick<GrantInit, "kind" | "id" | "client" | "clientName">): Grant {
  return new Grant({ ...init, principal: OWNER, role: "admin", groups: "*", readOnly: false });
}

/** It ends when it is revoked, or has expired. */
export class Grant extends Lifetime implements GrantInit {
  readonly kind: GrantKind;
  readonly id: string;
  readonly principal: string;
  readonly role: Role;
  readonly unscopedRole: Role;
  readonly teams: ReadonlySet<string>;
  readonly email: string | undefined;
  readonly groups: "*" | ReadonlySet<string>;
  readonly readOnly: boolean;
  readonly client: string | undefined;
  /** Principal and client: a session, task or suspended call of one is unknown to all others. */
  readonly owner: string;
  declare readonly clientName?: string;

  constructor(init: GrantInit) {
    super();
    const { kind, id, principal, role, teams, email, groups, readOnly, client, clientName } = init;
    this.kind = kind;
    this.id = id;
    this.principal = principal;
    this.role = role;
    this.unscopedRole = init.unscopedRole ?? role;
    this.teams = teams ?? NO_TEAMS;
    this.email = email;
    this.groups = groups;
    this.readOnly = readOnly;
    this.client = client;
    this.owner = client === undefined ? principal : JSON.stringify([principal, client]);
    if (clientName !== undefined) this.clientName = clientName;
  }

  /** The same with this role at most. Ends with this one. */
  limitedTo(role: Role): Grant {
    if (includesRole(role, this.role)) return this;
    const { kind, id, principal, teams, email, groups, readOnly, client, clientName } = this;
    const rights = { kind, id, principal, teams, email, groups, readOnly, client, role, unscopedRole: role };
    const limited = new Grant({ ...rights, ...(clientName === undefined ? {} : { clientName }) });
    this.onceEnded((why) => limited.end(why));
    return limited;
  }
}
