// The grants: what is sent to a token endpoint to get tokens.

import { requestToken, unusable } from "./token-endpoint.ts";
import { secondsIn, tokenIn, toTokenSet } from "./token-set.ts";
import type { AuthorizationRequest, TokenEndpoint, TokenSet } from "./types.ts";

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";

/** Sends a code. Once: a code is used up by the attempt. */
export async function exchangeCode(
  endpoint: TokenEndpoint,
  {
    code,
    request,
  }: {
    readonly code: string;
    readonly request: Pick<AuthorizationRequest, "verifier" | "redirectUri" | "nonce">;
  },
): Promise<TokenSet> {
  const grant = { code, redirect_uri: request.redirectUri, code_verifier: request.verifier };
  return toTokenSet(endpoint, await requestToken(endpoint, "authorization_code", grant), request.nonce);
}

/** `scope`: for authorization servers that want it repeated. */
export async function refreshTokens(
  endpoint: TokenEndpoint,
  { refresh, scope }: { readonly refresh: string; readonly scope?: string | undefined },
): Promise<TokenSet> {
  return toTokenSet(endpoint, await requestToken(endpoint, "refresh_token", { refresh_token: refresh, scope }));
}

export async function clientCredentials(
  endpoint: TokenEndpoint,
  { scopes }: { readonly scopes: readonly string[] },
): Promise<TokenSet> {
  return toTokenSet(endpoint, await requestToken(endpoint, "client_credentials", { scope: scopeOf(scopes) }));
}

/** RFC 7523: a JWT of a platform or of an identity provider. */
export async function jwtBearer(
  endpoint: TokenEndpoint,
  { assertion, scopes }: { readonly assertion: string; readonly scopes: readonly string[] },
): Promise<TokenSet> {
  return toTokenSet(endpoint, await requestToken(endpoint, JWT_BEARER, { assertion, scope: scopeOf(scopes) }));
}

export interface TokenExchange {
  readonly subjectToken: string;
  readonly subjectTokenType: string;
  readonly requestedTokenType?: string | undefined;
  readonly audience?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
}

/** RFC 8693. The token may be one that is no access token (`token_type` N_A), such as an ID-JAG. */
export async function exchangeToken(
  endpoint: TokenEndpoint,
  { subjectToken, subjectTokenType, requestedTokenType, audience, scopes = [] }: TokenExchange,
): Promise<{ readonly token: string; readonly expiresIn?: number }> {
  const body = await requestToken(endpoint, TOKEN_EXCHANGE, {
    subject_token: subjectToken,
    subject_token_type: subjectTokenType,
    requested_token_type: requestedTokenType,
    audience,
    scope: scopeOf(scopes),
  });
  const token = tokenIn(body, "access_token");
  const expiresIn = secondsIn(body["expires_in"]);
  if (token === undefined) throw unusable(endpoint.discovery.issuer, "The answer has no token");
  const issued = body["issued_token_type"];
  if (requestedTokenType !== undefined && issued !== undefined && issued !== requestedTokenType) {
    throw unusable(endpoint.discovery.issuer, "The token is of another type than the one that was asked for");
  }
  return { token, ...(expiresIn === undefined ? {} : { expiresIn }) };
}

function scopeOf(scopes: readonly string[]): string | undefined {
  return scopes.length === 0 ? undefined : scopes.join(" ");
}
