// The tokens in an answer of a token endpoint.

import type { JsonObject } from "../lib/json/json.ts";
import { idTokenAccount } from "./id-token.ts";
import { TokenEndpointError, unusable } from "./token-endpoint.ts";
import type { TokenEndpoint, TokenSet } from "./types.ts";

/** Characters that are allowed in a header. */
const HEADER_SAFE = /^[!-~]+$/;

export function toTokenSet(endpoint: TokenEndpoint, body: JsonObject, nonce?: string): TokenSet {
  const { issuer } = endpoint.discovery;
  const access = tokenIn(body, "access_token");
  if (access === undefined) throw unusable(issuer, "The answer has no usable access_token");
  const expiresIn = secondsIn(body["expires_in"]);
  const refresh = tokenIn(body, "refresh_token");
  const refreshExpiresIn = secondsIn(body["refresh_token_expires_in"] ?? body["refresh_expires_in"]);
  const { scope } = body;
  const account = idTokenAccount(body["id_token"], endpoint, nonce);
  return {
    access,
    type: typeIn(body, endpoint),
    ...(expiresIn === undefined ? {} : { expiresIn }),
    ...(refresh === undefined ? {} : { refresh }),
    // Zero: as long as the session, or for ever.
    ...(refreshExpiresIn === undefined || refreshExpiresIn === 0 ? {} : { refreshExpiresIn }),
    ...(typeof scope === "string" ? { scope } : {}),
    ...(account === undefined ? {} : { account }),
  };
}

/** A token type that is not known must not be used (RFC 6749, section 7.1). Some servers leave it out. */
function typeIn(body: JsonObject, { discovery, dpopKey }: TokenEndpoint): TokenSet["type"] {
  const { token_type: given = "bearer" } = body;
  const type = typeof given === "string" ? given.toLowerCase() : "";
  if (type === "bearer") return "Bearer";
  if (type === "dpop" && dpopKey !== undefined) return "DPoP";
  const failure = { type: "refused", code: "unsupported_token_type" } as const;
  throw new TokenEndpointError(failure, `${discovery.issuer} gave a token of a type that cannot be used`);
}

export function tokenIn(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  return typeof value === "string" && HEADER_SAFE.test(value) ? value : undefined;
}

/** Some servers send numbers as text. */
export function secondsIn(value: unknown): number | undefined {
  const seconds = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof seconds === "number" && Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}
