// An identity provider whose tokens the hub accepts: an entry of `auth.issuers` in hub.json, complete.

import type { Role } from "../grant.ts";
import type { Scope } from "../scopes.ts";

export interface IssuerSettings {
  /** Compared as text with the claim `iss`. */
  readonly issuer: string;
  /** Audiences besides the addresses of groups, for providers that cannot name those in a token. */
  readonly audience: readonly string[];
  /** Undefined: from the issuer's metadata. */
  readonly jwksUri: string | undefined;
  readonly algorithms: readonly Algorithm[];
  /** The claim that names the person or program; unique at the issuer. */
  readonly principal: string;
  readonly roles: ClaimRule<Role> | undefined;
  readonly teams: ClaimRule<string> | undefined;
  /** Undefined: all groups whose access lists allow it. */
  readonly groups: ClaimRule<string> | undefined;
  readonly scopes: ScopeRule;
  /** Claims that a token must have; with this value, unless it is undefined. */
  readonly requiredClaims: ReadonlyMap<string, string | number | boolean | undefined>;
  /** Tokens are checked again after this time. Undefined: not before they expire. */
  readonly recheckMs: number | undefined;
  /** For tokens that are not JWTs. Undefined: they are refused. */
  readonly introspection: IntrospectionSettings | undefined;
}

/** How the values of a claim are read. */
export interface ClaimRule<T extends string> {
  /** Its name, or a path with dots into nested claims: `realm_access.roles`. */
  readonly claim: string;
  /** Undefined: its values are taken as they are. Otherwise, values without an entry mean nothing. */
  readonly map: ReadonlyMap<string, readonly T[]> | undefined;
}

export interface ScopeRule {
  /** The provider's own scopes, besides those of the hub. */
  readonly map: ReadonlyMap<string, readonly Scope[]>;
  /** Of tokens that have no scope with a meaning here. */
  readonly fallback: readonly Scope[];
}

export interface IntrospectionSettings {
  /** Undefined: from the issuer's metadata. */
  readonly endpoint: string | undefined;
  readonly clientId: string;
  /** Read when it is needed: it may be in the secret store. */
  readonly clientSecret: () => Promise<string>;
}

/** Asymmetric ones only. With a shared secret, or none, the hub or anyone else could have made the token. */
export const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;
export type Algorithm = (typeof ALGORITHMS)[number];
