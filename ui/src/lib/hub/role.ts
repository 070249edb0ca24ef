// What whoever is signed in may do.

import type { UiSession } from "$api/ui.ts";

export type Role = UiSession["role"];

const ROLES: readonly Role[] = ["user", "operator", "admin"];

/** Whether a role includes what another one may do. */
export function includesRole(role: Role, other: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(other);
}
