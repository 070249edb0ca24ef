// Verifies a JWT: made by the issuer, for use as an access token, and valid now.

import { isObject, type JsonObject } from "../../lib/json/json.ts";
import { clientOf, valuesOf } from "./claims.ts";
import type { IssuerSettings } from "./issuer-settings.ts";
import type { KeySet } from "./key-set.ts";
import { InvalidToken } from "./refusals.ts";

/** More than any header that Node reads. */
const MAX_CHARACTERS = 16 << 10;
const CLOCK_SKEW_S = 30;
/** `JWT` is what most providers write; a proof, an assertion or a logout token has a type of its own. */
const TYPES: ReadonlySet<string> = new Set(["at+jwt", "application/at+jwt", "jwt"]);
/** Claims that only ID tokens have. */
const ID_TOKEN_CLAIMS = ["nonce", "at_hash", "c_hash", "s_hash"] as const;

/** What a JWT says of its issuer: enough to know whose keys to try, and not to be believed. */
export function claimedIssuer(token: string): string | undefined {
  if (token.length > MAX_CHARACTERS) return undefined;
  const issuer = parsePart(token.split(".", 2)[1])?.["iss"];
  return typeof issuer === "string" ? issuer : undefined;
}

/** The claims. Rejects with InvalidToken, or with IssuerUnavailable if its keys are not known. */
export async function verifyJwt(
  token: string,
  { issuer, algorithms }: Pick<IssuerSettings, "issuer" | "algorithms">,
  { keys, now }: { readonly keys: KeySet; readonly now: () => number },
): Promise<JsonObject> {
  if (token.length > MAX_CHARACTERS) throw new InvalidToken("The token is too long");
  const { jwtVerify, errors } = await import("jose");
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keys.find, {
      issuer,
      algorithms: [...algorithms],
      requiredClaims: ["exp", "sub"],
      clockTolerance: CLOCK_SKEW_S,
      currentDate: new Date(now()),
    });
    requireAccessToken(payload, protectedHeader.typ);
    // Without tolerance: the token then ends at the same moment for those who have it in use.
    if ((payload.exp ?? 0) * 1000 <= now()) throw expired();
    return payload;
  } catch (thrown) {
    // Claims are looked at after the signature.
    if (thrown instanceof errors.JWTExpired) throw expired();
    if (thrown instanceof errors.JWTClaimValidationFailed) {
      throw new InvalidToken(`The claim ${thrown.claim} of the token is missing or wrong`, { isGenuine: true });
    }
    if (thrown instanceof errors.JWSSignatureVerificationFailed) throw new InvalidToken("The signature is wrong");
    if (thrown instanceof errors.JOSEAlgNotAllowed)
      throw new InvalidToken("The token is signed with another algorithm");
    if (thrown instanceof errors.JOSEError) throw new InvalidToken("The token is not a valid JWT");
    // What Web Crypto says of a key that does not fit.
    if (thrown instanceof TypeError || thrown instanceof DOMException) {
      throw new InvalidToken("The token is not a valid JWT");
    }
    throw thrown;
  }
}

/** An ID token says who has signed in at a client, and gives no one access to anything. */
function requireAccessToken(claims: JsonObject, headerType: string | undefined): void {
  const type = headerType?.toLowerCase();
  if (type !== undefined && !TYPES.has(type)) throw notForAccess();
  if (ID_TOKEN_CLAIMS.some((name) => claims[name] !== undefined)) throw notForAccess();
  // Keycloak writes the kind of token into a claim.
  const kind = claims["typ"];
  if (typeof kind === "string" && !/^(?:bearer|dpop|jwt|at\+jwt)$/i.test(kind)) throw notForAccess();
  if (type?.endsWith("at+jwt") !== true && isForClientOnly(claims)) throw notForAccess();
}

/** The audience of an ID token is its client. An access token of such a program for itself has scopes or roles. */
function isForClientOnly(claims: JsonObject): boolean {
  const client = clientOf(claims);
  const audience = valuesOf(claims, "aud");
  if (client === undefined || audience.length !== 1 || audience[0] !== client) return false;
  return ["scope", "scp", "roles"].every((name) => claims[name] === undefined);
}

function notForAccess(): InvalidToken {
  return new InvalidToken("The token is not an access token", { isGenuine: true });
}

function expired(): InvalidToken {
  return new InvalidToken("The token has expired", { isGenuine: true });
}

function parsePart(part: string | undefined): JsonObject | undefined {
  if (part === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
