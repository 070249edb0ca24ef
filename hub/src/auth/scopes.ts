// What a token was issued for, at most. OAuth clients ask for scopes by these names; the rights of the person behind the token
// limit it further.

import type { Role } from "./grant.ts";

/** Each includes those before it. */
export const SCOPES = ["mcp:read", "mcp", "hub:operate", "hub:admin"] as const;
export type Scope = (typeof SCOPES)[number];

export function isScope(text: string): text is Scope {
  return SCOPES.some((scope) => scope === text);
}

/** The one that includes all others; undefined if there is none. */
export function highestScope(scopes: Iterable<Scope>): Scope | undefined {
  const given = new Set(scopes);
  return SCOPES.findLast((scope) => given.has(scope));
}

/** The role in the management API that a scope allows. */
export function roleWithin(scope: Scope | undefined): Role {
  if (scope === "hub:admin") return "admin";
  return scope === "hub:operate" ? "operator" : "user";
}

/** The scope that a token needs for what needs this role. */
export function scopeFor(role: Role): Scope {
  if (role === "admin") return "hub:admin";
  return role === "operator" ? "hub:operate" : "mcp";
}
