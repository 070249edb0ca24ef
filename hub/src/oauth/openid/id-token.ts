// Checks the signed tokens of a provider of OpenID Connect: ID tokens, which say who has signed in, and logout tokens.

import type { FetchImplementation, JWTPayload, JWTVerifyGetKey, JWTVerifyResult } from "jose";
import { HubError } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import type { AuthorizationServerMetadata, GuardedFetch } from "../types.ts";

/** Only asymmetric ones: with the others, the client's secret would be a key that signs. */
const ALGORITHMS = "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split(" ");
const KEYS_MS = 3_600_000;
const TOLERANCE_S = 30;
/** A logout token is used at once. */
const LOGOUT_AGE_S = 300;
const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";

export interface TokenCheck {
  readonly issuer: string;
  readonly clientId: string;
  readonly keys: JWTVerifyGetKey;
}

/** The provider's keys, fetched when they are needed, and again for a key that is not known. */
export async function providerKeys(
  { issuer, jwks_uri: address }: AuthorizationServerMetadata,
  fetch: GuardedFetch,
): Promise<JWTVerifyGetKey> {
  if (address === undefined) throw new HubError("ProtocolError", `${issuer} has no jwks_uri`);
  const { createRemoteJWKSet, customFetch } = await import("jose");
  const guarded: FetchImplementation = (url, { headers, signal }) =>
    fetch(url, { headers: Object.fromEntries(headers), signal });
  return createRemoteJWKSet(new URL(address), { cacheMaxAge: KEYS_MS, [customFetch]: guarded });
}

/** OpenID Connect Core, section 3.1.3.7. Rejects with LoginFailed. */
export async function checkIdToken(
  token: string,
  nonce: string,
  check: TokenCheck,
): Promise<JWTPayload & { readonly sub: string }> {
  const { payload, protectedHeader } = await verify(token, check, ["exp", "iat", "sub"]);
  const { sub, aud, azp } = payload;
  // Tokens for other purposes may be signed by the same keys.
  if (protectedHeader.typ !== undefined && protectedHeader.typ.toUpperCase() !== "JWT") throw invalid(check, "typ");
  if (typeof sub !== "string" || sub === "" || sub.length > MAX_SUBJECT) throw invalid(check, "sub");
  if (azp !== undefined ? azp !== check.clientId : Array.isArray(aud) && aud.length > 1) throw invalid(check, "azp");
  if (payload["nonce"] !== nonce) throw invalid(check, "nonce");
  return { ...payload, sub };
}

export interface Logout {
  readonly subject: string | undefined;
  readonly sessionId: string | undefined;
  /** Of the token, which is used once. */
  readonly id: string;
}

/** OpenID Connect Back-Channel Logout, section 2.6. Rejects with LoginFailed. */
export async function checkLogoutToken(token: string, check: TokenCheck): Promise<Logout> {
  const { payload, protectedHeader } = await verify(token, check, ["iat", "jti"]);
  const { sub, jti = "", iat = 0 } = payload;
  const { sid, events, nonce } = payload;
  const type = protectedHeader.typ?.toLowerCase() ?? "jwt";
  if (type !== "jwt" && type !== "logout+jwt") throw invalid(check, "typ");
  if (!isObject(events) || !isObject(events[LOGOUT_EVENT])) throw invalid(check, "events");
  if (nonce !== undefined) throw invalid(check, "nonce");
  if (Date.now() / 1000 - iat > LOGOUT_AGE_S) throw invalid(check, "iat");
  const sessionId = typeof sid === "string" ? sid : undefined;
  if (sub === undefined && sessionId === undefined) throw invalid(check, "sub and sid");
  return { subject: sub, sessionId, id: jti };
}

const MAX_SUBJECT = 512;

async function verify(token: string, check: TokenCheck, requiredClaims: string[]): Promise<JWTVerifyResult> {
  const { issuer, clientId, keys } = check;
  const { errors, jwtVerify } = await import("jose");
  try {
    return await jwtVerify(token, keys, {
      issuer,
      audience: clientId,
      algorithms: ALGORITHMS,
      clockTolerance: TOLERANCE_S,
      requiredClaims,
    });
  } catch (error) {
    if (error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired) {
      throw invalid(check, error.claim);
    }
    if (error instanceof errors.JOSEError) throw invalid(check, error.code);
    throw error;
  }
}

function invalid({ issuer }: TokenCheck, what: string): HubError {
  return new HubError("LoginFailed", `${issuer} sent a token that cannot be accepted`, { detail: `Wrong: ${what}` });
}
