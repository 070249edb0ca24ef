// Reads from the claims of a verified token who sends it and what for.

import { isObject, type JsonObject } from "../../lib/json/json.ts";
import { isRole, includesRole, type Role } from "../grant.ts";
import { highestScope, isScope, type Scope } from "../scopes.ts";
import type { ClaimRule, IssuerSettings, ScopeRule } from "./issuer-settings.ts";
import { InvalidToken } from "./refusals.ts";

export interface TokenIdentity {
  readonly subject: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  readonly name: string | undefined;
  /** The OAuth client that got the token. */
  readonly client: string | undefined;
  /** Undefined: the issuer says nothing about roles. */
  readonly role: Role | undefined;
  readonly teams: readonly string[] | undefined;
  readonly groups: "*" | ReadonlySet<string>;
  /** Undefined: the token was issued for something else. */
  readonly scope: Scope | undefined;
  /** The key that the token is bound to (RFC 9449), as its thumbprint. */
  readonly keyThumbprint: string | undefined;
}

const MAX_SUBJECT = 255;
/** In the order in which providers are most precise. */
const CLIENT_CLAIMS = ["azp", "client_id", "cid", "appid"] as const;

/** Throws InvalidToken if a claim is missing or has another value than it must have. */
export function readIdentity(claims: JsonObject, settings: IssuerSettings): TokenIdentity {
  requireClaims(claims, settings);
  const values = (rule: ClaimRule<string> | undefined) => rule && mapped(rule, claims);
  const groups = values(settings.groups);
  const roles = values(settings.roles)?.filter(isRole);
  return {
    subject: subjectOf(claims, settings.principal),
    email: textOf(claims["email"]),
    emailVerified: claims["email_verified"] === true,
    name: textOf(claims["name"]) ?? textOf(claims["preferred_username"]) ?? textOf(claims["username"]),
    client: clientOf(claims),
    role: roles && highest(roles),
    teams: values(settings.teams),
    groups: groups === undefined || groups.includes("*") ? "*" : new Set(groups),
    scope: scopeOf(claims, settings.scopes),
    keyThumbprint: thumbprintOf(claims["cnf"]),
  };
}

export function clientOf(claims: JsonObject): string | undefined {
  return CLIENT_CLAIMS.map((name) => textOf(claims[name])).find((client) => client !== undefined);
}

/** The values of a claim: a text is one value. The name itself comes before a path, since some names are addresses with dots. */
export function valuesOf(claims: JsonObject, claim: string): string[] {
  const value = claimOf(claims, claim);
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((each) => typeof each === "string");
}

function claimOf(claims: JsonObject, claim: string): unknown {
  if (Object.hasOwn(claims, claim)) return claims[claim];
  let value: unknown = claims;
  for (const name of claim.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

function mapped({ claim, map }: ClaimRule<string>, claims: JsonObject): string[] {
  const values = valuesOf(claims, claim);
  return map === undefined ? values : values.flatMap((value) => map.get(value) ?? []);
}

function requireClaims(claims: JsonObject, { requiredClaims }: IssuerSettings): void {
  for (const [claim, expected] of requiredClaims) {
    const value = claimOf(claims, claim);
    if (value === undefined) throw new InvalidToken(`The token has no claim ${claim}`, { isGenuine: true });
    const isRight = expected === undefined || value === expected || (Array.isArray(value) && value.includes(expected));
    if (!isRight) throw new InvalidToken(`The claim ${claim} of the token has another value`, { isGenuine: true });
  }
}

/** Anyone can have an address that was never verified, so it names no one. */
function subjectOf(claims: JsonObject, claim: string): string {
  const subject = claimOf(claims, claim);
  if (typeof subject !== "string" || subject === "" || subject.length > MAX_SUBJECT) {
    throw new InvalidToken(`The claim ${claim} of the token does not name anyone`, { isGenuine: true });
  }
  if (claim === "email" && claims["email_verified"] !== true) {
    throw new InvalidToken("The email address in the token is not verified", { isGenuine: true });
  }
  return subject;
}

/** `scope` is one text with spaces (RFC 9068); Okta has a list in `scp`, Entra a text. */
function scopeOf(claims: JsonObject, { map, fallback }: ScopeRule): Scope | undefined {
  const names = ["scope", "scp"].flatMap((claim) => valuesOf(claims, claim)).flatMap((text) => text.split(" "));
  const known = names.flatMap((name) => map.get(name) ?? (isScope(name) ? [name] : []));
  return highestScope(known.length === 0 ? fallback : known);
}

function highest(roles: readonly Role[]): Role {
  return roles.reduce<Role>((best, role) => (includesRole(role, best) ? role : best), "user");
}

function thumbprintOf(confirmation: unknown): string | undefined {
  if (confirmation === undefined) return undefined;
  const thumbprint = isObject(confirmation) ? confirmation["jkt"] : undefined;
  if (typeof thumbprint === "string") return thumbprint;
  throw new InvalidToken("The token is bound to its client in a way that the hub does not know", { isGenuine: true });
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
