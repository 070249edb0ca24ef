// Checks the DPoP proof of one request to a protected server (RFC 9449 §4.3).

import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify, type JWTPayload } from "jose";

interface Proven {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Of the access token. */
  readonly payload: JWTPayload;
}

/** @returns what is wrong with it */
export async function checkDpopProof({ method, url, headers, payload }: Proven): Promise<string | undefined> {
  const { authorization = "", dpop } = headers;
  if (typeof dpop !== "string" || !authorization.startsWith("DPoP ")) return "no DPoP proof";
  const proof = await jwtVerify(dpop, EmbeddedJWK, { typ: "dpop+jwt", maxTokenAge: "60 s" }).catch(() => undefined);
  if (proof === undefined) return "the DPoP proof is not valid";
  const { htm, htu, ath, jti } = proof.payload;
  const digest = createHash("sha256").update(authorization.slice("DPoP ".length)).digest("base64url");
  if (htm !== method || htu !== url || ath !== digest || typeof jti !== "string")
    return "the proof is for another request";
  const thumbprint = await calculateJwkThumbprint(proof.protectedHeader.jwk ?? {});
  if ((payload["cnf"] as { jkt?: string } | undefined)?.jkt !== thumbprint) return "the proof is of another key";
  return undefined;
}
