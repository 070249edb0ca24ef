// Revocation of tokens (RFC 7009).

import { authenticated, bodyOf, sendOnce } from "./token-endpoint.ts";
import type { ServerAnswer } from "./server-answer.ts";
import type { TokenEndpoint, TokenSet } from "./types.ts";

/**
 * The refresh token first, then the access token. Resolves to false if the authorization server revokes no tokens, or none of these
 * kinds; rejects if one of them was not revoked for another reason, after both were tried.
 */
export async function revokeTokens(
  endpoint: TokenEndpoint,
  { access, refresh }: Pick<TokenSet, "access" | "refresh">,
): Promise<boolean> {
  if (endpoint.discovery.metadata.revocation_endpoint === undefined) return false;
  const tokens = [
    ...(refresh === undefined ? [] : [{ token: refresh, hint: "refresh_token" }]),
    { token: access, hint: "access_token" },
  ];
  let isRevoked = false;
  const failures: unknown[] = [];
  for (const { token, hint } of tokens) {
    try {
      isRevoked = (await revoke(endpoint, token, hint)) || isRevoked;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return isRevoked;
}

/** False: tokens of this kind cannot be revoked. Access tokens that are JWTs often cannot: they are valid until they expire. */
async function revoke(endpoint: TokenEndpoint, token: string, hint: string): Promise<boolean> {
  const { issuer } = endpoint.discovery;
  let answer = await send(endpoint, { token, token_type_hint: hint });
  // The Python SDK requires the secret in the body for any client method. Sending it twice is harmless.
  if (answer.type === "refused" && answer.code === "invalid_request" && endpoint.client.method !== "private_key_jwt") {
    const { secret = "" } = endpoint.client;
    answer = await send(endpoint, { token, token_type_hint: hint, client_secret: secret });
  }
  // The body of a success is empty.
  if (answer.type === "failed" && answer.status === 200) return true;
  if (answer.type === "refused" && answer.code === "unsupported_token_type") return false;
  // Keycloak says so of an access token that has ended with its refresh token.
  if (answer.type === "refused" && answer.code === "invalid_token") return true;
  bodyOf(answer, issuer);
  return true;
}

async function send(
  endpoint: TokenEndpoint,
  { token, ...additionalParameters }: { readonly token: string; readonly [name: string]: string },
): Promise<ServerAnswer> {
  const { revocationRequest } = await import("oauth4webapi");
  const { as, auth, options } = await authenticated(endpoint);
  const given = { ...options, additionalParameters };
  return sendOnce(endpoint, () => revocationRequest(as, { client_id: endpoint.client.id }, auth, token, given), [
    token,
  ]);
}
