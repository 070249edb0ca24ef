// The one place that decides who may do what. Every edge asks it: MCP over all transports, REST, events, metrics, the admin
// endpoint. What is not allowed here is refused.

import { includesRole, OWNER, type Grant, type Role } from "./grant.ts";

/** A group, as its endpoint is asked for. */
export interface ProtectedGroup {
  readonly name: string;
  /** `user:<email or id>`, `team:<name>`, `service:<name>`, or `*`. Undefined: everyone whose credentials are valid. */
  readonly access?: readonly string[] | undefined;
}

export type Action =
  /** Use the MCP endpoint of a group. */
  | { readonly to: "use"; readonly group: ProtectedGroup }
  /** See in the management API what a group is and offers. */
  | { readonly to: "see"; readonly group: ProtectedGroup }
  /** Read the registry that the hub serves. */
  | { readonly to: "find" }
  /** Use the management API, at a route that needs this role. `changes`: whether the route may change anything. */
  | { readonly to: "manage"; readonly as: Role; readonly changes: boolean }
  /** Decide whether a call of this principal is made, that waits for a person. */
  | { readonly to: "approve"; readonly owner: string }
  /** See or change something that belongs to a principal; what belongs to others needs the role. */
  | { readonly to: "handle"; readonly owner: string; readonly as: Role };

/** What a decision depends on. */
export type Rights = Pick<
  Grant,
  "kind" | "principal" | "role" | "teams" | "email" | "groups" | "readOnly" | "hasEnded"
>;

export function may(grant: Rights, action: Action): boolean {
  if (grant.hasEnded) return false;
  switch (action.to) {
    case "use":
      return isWithin(grant, action.group) && isAdmitted(grant, action.group);
    case "see":
      if (grant.kind === "anonymous") return false;
      return includesRole(grant.role, "operator") || (isWithin(grant, action.group) && isAdmitted(grant, action.group));
    case "find":
      // A token that is limited to groups opens these only.
      return grant.groups === "*";
    case "manage":
      if (grant.kind === "anonymous" || (action.changes && grant.readOnly)) return false;
      return includesRole(grant.role, action.as);
    case "approve":
      // Tokens are what programs have: a model that calls must not approve its own call.
      if (grant.kind !== "owner" && grant.kind !== "session") return false;
      return grant.principal === action.owner || includesRole(grant.role, "operator");
    case "handle":
      if (grant.kind === "anonymous") return false;
      return grant.principal === action.owner || includesRole(grant.role, action.as);
  }
}

/** By the limits of the token. */
function isWithin({ groups }: Rights, { name }: ProtectedGroup): boolean {
  return groups === "*" || groups.has(name);
}

/** By the access list of the group. */
function isAdmitted({ kind, principal, role, teams, email }: Rights, { access }: ProtectedGroup): boolean {
  // Administrators, who could change the list, and the programs of the owner's machine where the endpoints are open to them.
  if (access === undefined || role === "admin" || principal === OWNER || kind === "anonymous") return true;
  return access.some(
    (entry) =>
      entry === "*" ||
      entry === principal ||
      (email !== undefined && entry.toLowerCase() === `user:${email}`) ||
      (entry.startsWith(TEAM) && teams.has(entry.slice(TEAM.length))),
  );
}

const TEAM = "team:";
