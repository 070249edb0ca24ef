// Tells credentials apart by their shape alone, so that none is tried where it does not belong: a token of the hub never reaches
// an authorization server, and no token is tried in turn until one place accepts it.

import type { IncomingHttpHeaders } from "node:http";

export interface Credential {
  readonly scheme: "bearer" | "dpop";
  readonly token: string;
  readonly shape: CredentialShape;
}

/** A token of one of the hub's own kinds, a JWT, or anything else. */
export type CredentialShape = OwnShape | "jwt" | "opaque";
type OwnShape = "management" | "access-token";

/** A request, as far as it says who makes it. Nothing but headers is looked at: addresses and bodies end up in logs. */
export interface IdentifiedRequest {
  readonly headers: Pick<IncomingHttpHeaders, "authorization"> & { readonly dpop?: string | string[] | undefined };
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}

/** Secret scanners recognise the prefixes. A token that begins so is the hub's, whether it is valid or not. */
const PREFIXES: Readonly<Record<string, OwnShape>> = {
  pb_: "management",
  pbt_: "access-token",
  // Issued to OAuth clients. A refresh token gives no access, and is sent nowhere else.
  pbo_: "access-token",
  pbr_: "access-token",
};
const PREFIX = /^pb[a-z]?_/;
/** Three parts, the signature included: an unsigned JWT is not one. */
const JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const AUTHORIZATION = /^(Bearer|DPoP) +([^\s]+)$/i;

/** Undefined: none, or of a scheme that is not the hub's. */
export function credentialIn(authorization: string | undefined): Credential | undefined {
  const [, scheme, token] = AUTHORIZATION.exec(authorization ?? "") ?? [];
  if (scheme === undefined || token === undefined) return undefined;
  return { scheme: scheme.toLowerCase() === "dpop" ? "dpop" : "bearer", token, shape: shapeOf(token) };
}

export function shapeOf(token: string): CredentialShape {
  const own = PREFIXES[PREFIX.exec(token)?.[0] ?? ""];
  if (own !== undefined) return own;
  return JWT.test(token) ? "jwt" : "opaque";
}
