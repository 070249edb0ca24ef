// The ID token of OpenID Connect, which some authorization servers send along. It comes from the token endpoint itself, so that its
// signature adds nothing (OpenID Connect Core, section 3.1.3.7), and it is used for nothing but the name of the account.

import { parseObject } from "./parse-object.ts";
import { shownText } from "./text.ts";
import { TokenEndpointError } from "./token-endpoint.ts";
import type { TokenEndpoint } from "./types.ts";

const MAX_ACCOUNT = 100;

/**
 * Who logged in. One that is not for us, as some servers pass on from elsewhere, says nothing. Throws if one of ours has another nonce
 * than the request: then it is the answer to another login.
 */
export function idTokenAccount(token: unknown, endpoint: TokenEndpoint, nonce?: string): string | undefined {
  const claims = typeof token === "string" ? claimsIn(token) : undefined;
  if (claims === undefined) return undefined;
  const { iss, aud } = claims;
  const isOurs = iss === endpoint.discovery.issuer && [aud].flat().includes(endpoint.client.id);
  if (!isOurs) return undefined;
  if (nonce !== undefined && claims["nonce"] !== nonce) {
    const failure = { type: "refused", code: "invalid_nonce" } as const;
    throw new TokenEndpointError(failure, `${endpoint.discovery.issuer} answered with the ID token of another login`);
  }
  const names = [claims["email"], claims["preferred_username"], claims["sub"]];
  return names.map((name) => shownText(name, { max: MAX_ACCOUNT })).find((name) => name !== undefined);
}

function claimsIn(token: string) {
  const [, payload = ""] = token.split(".");
  return parseObject(Buffer.from(payload, "base64url").toString());
}
