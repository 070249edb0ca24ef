// The one place that decides who may do what. Every edge asks it: MCP over all transports, REST, events, metrics, the admin
// endpoint. What is not allowed here is refused.

import type { Grant, Role } from "./grant.ts";

export type Action =
  /** Use the MCP endpoint of a group. */
  | { readonly to: "use"; readonly group: string }
  /** Use the management API, at a route that needs this role. */
  | { readonly to: "manage"; readonly as: Role };

const RANK: Readonly<Record<Role, number>> = { user: 0, operator: 1, admin: 2 };

export function may({ groups, role, hasEnded }: Pick<Grant, "groups" | "role" | "hasEnded">, action: Action): boolean {
  if (hasEnded) return false;
  switch (action.to) {
    case "use":
      return groups === "*" || groups.has(action.group);
    case "manage":
      return RANK[role] >= RANK[action.as];
  }
}
