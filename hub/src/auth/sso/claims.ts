// What the claims of an identity provider say about a person: who it is, whether it may enter, its teams and its role.

import { HubError } from "../../errors.ts";
import { includesRole, type Role } from "../grant.ts";
import type { SignIn } from "../users.ts";

export type Claims = Readonly<Record<string, unknown>>;
type ClaimValue = string | number | boolean;

export interface ClaimRules {
  /** Of the provider. */
  readonly name: string;
  readonly teams?: { readonly claim: string; readonly map?: Readonly<Record<string, string>> | undefined } | undefined;
  readonly roles?: { readonly claim: string; readonly map: Readonly<Record<string, Role>> } | undefined;
  readonly allowed_domains?: readonly string[] | undefined;
  readonly required_claims?: Readonly<Record<string, ClaimValue | readonly ClaimValue[]>> | undefined;
}

/** The claims that the rules look at, beside those about the person. */
export function claimsOf({ teams, roles, allowed_domains, required_claims = {} }: ClaimRules): string[] {
  const named = [teams?.claim, roles?.claim].filter((claim) => claim !== undefined);
  return [...(allowed_domains === undefined ? [] : ["email"]), ...named, ...Object.keys(required_claims)];
}

/** Throws Forbidden for a person who may not enter. */
export function toSignIn(issuer: string, subject: string, claims: Claims, rules: ClaimRules): SignIn {
  const email = textOf(claims["email"]);
  // Some providers send it as text.
  const emailVerified = claims["email_verified"] === true || claims["email_verified"] === "true";
  requireAllowed(claims, emailVerified ? email : undefined, rules);
  const role = roleOf(claims, rules);
  const teams = teamsOf(claims, rules);
  return {
    issuer,
    subject,
    ...(email === undefined ? {} : { email, emailVerified }),
    name: textOf(claims["name"]) ?? textOf(claims["preferred_username"]),
    ...(teams === undefined ? {} : { teams }),
    ...(role === undefined ? {} : { role }),
  };
}

function requireAllowed(claims: Claims, verifiedEmail: string | undefined, rules: ClaimRules): void {
  const { name, allowed_domains: domains, required_claims: required = {} } = rules;
  const at = verifiedEmail?.lastIndexOf("@") ?? -1;
  const given = at < 1 ? undefined : verifiedEmail?.slice(at + 1).toLowerCase();
  if (domains !== undefined && !domains.some((domain) => domain.toLowerCase() === given)) {
    throw new HubError("Forbidden", `${name} did not confirm an email address that may use this hub`, {
      hint: "An administrator of the hub decides: auth.sso in hub.json, allowed_domains",
    });
  }
  for (const [claim, wanted] of Object.entries(required)) {
    const values = valuesOf(claims[claim]);
    if ([wanted].flat().some((value) => values.includes(String(value)))) continue;
    throw new HubError("Forbidden", `This account of ${name} may not use this hub`, {
      detail: `The claim ${claim} has not the value that is required`,
      hint: "An administrator of the hub decides: auth.sso in hub.json, required_claims",
    });
  }
}

/** "user" if none of the values is mapped: who loses a role at the provider loses it here. */
function roleOf(claims: Claims, { roles }: ClaimRules): Role | undefined {
  if (roles === undefined) return undefined;
  const mapped = valuesOf(claims[roles.claim]).map((value) => own(roles.map, value) ?? "user");
  return mapped.reduce((highest, role) => (includesRole(role, highest) ? role : highest), "user");
}

function teamsOf(claims: Claims, { teams }: ClaimRules): string[] | undefined {
  if (teams === undefined) return undefined;
  const { claim, map } = teams;
  const values = valuesOf(claims[claim]);
  return map === undefined ? values : values.map((value) => own(map, value)).filter((team) => team !== undefined);
}

function own<T>(map: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** A claim with one value, or a list of them. */
function valuesOf(claim: unknown): string[] {
  return [claim].flat().flatMap((value) => {
    const isValue = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
    return isValue ? [String(value)] : [];
  });
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === "string" && claim !== "" ? claim : undefined;
}
