// Shared types of the OAuth client and of the code that stores its data.

import type { JWK } from "jose";
import type { AuthorizationServer } from "oauth4webapi";

/** The part of fetch that the protocol needs. */
export interface GuardedRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For all of it: lookup, connection, redirects and body. Default: 5 s. */
  readonly timeoutMs?: number | undefined;
}

/**
 * fetch for addresses that came out of a document of someone else. The response is complete: its body has been read. Rejects with a
 * HubError: UnsafeAddress, ConnectionFailed, Timeout or Cancelled.
 */
export type GuardedFetch = (url: string, init?: GuardedRequest) => Promise<Response>;

/** The authentication challenge of a 401 or 403. */
export interface Challenge {
  readonly scheme: "Bearer" | "DPoP";
  readonly resourceMetadata?: string;
  readonly scope?: string;
  readonly error?: string;
  readonly errorDescription?: string;
}

/** The metadata document of an authorization server (RFC 8414), unknown fields included. */
export type AuthorizationServerMetadata = AuthorizationServer;

/** The authorization server of a server, with its endpoints and capabilities. */
export interface Discovery {
  /** As text, exactly as the server's metadata names it. */
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata;
  /** The server's name for itself, from its metadata (RFC 9728), verbatim. Undefined: it has none, as in revision 2025-03-26. */
  readonly resource: string | undefined;
  /** `scopes_supported` of the server's metadata. */
  readonly resourceScopes: readonly string[] | undefined;
  readonly dpopRequired: boolean;
  /** The authorization server has no metadata document: its endpoints are those of the convention of 2025-03-26, or configured. */
  readonly isFallback: boolean;
}

export type ClientAuthMethod = "none" | "client_secret_basic" | "client_secret_post" | "private_key_jwt";

export interface ClientKey {
  /** PKCS#8 PEM, or a JWK as JSON. */
  readonly text: string;
  /** Default: that of the JWK, or what fits the key. */
  readonly algorithm?: string;
  readonly keyId?: string;
}

/** The hub's client at an authorization server. Never sent to another issuer. */
export interface OAuthClient {
  readonly id: string;
  readonly secret?: string;
  readonly method: ClientAuthMethod;
  readonly how: "configured" | "metadata_document" | "registered";
  readonly issuer: string;
  /** The one that was registered. */
  readonly redirectUri?: string;
  /** Milliseconds since 1970. */
  readonly secretExpiresAt?: number;
  /** For deleting the registration (RFC 7592). */
  readonly management?: { readonly uri: string; readonly token: string };
  readonly key?: ClientKey;
}

/** An authorization request that a person takes to the authorization server. All of it is kept until the callback. */
export interface AuthorizationRequest {
  readonly url: string;
  readonly state: string;
  readonly verifier: string;
  readonly nonce?: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly issuer: string;
  readonly resource: string | undefined;
}

/** The key of DPoP-bound tokens (RFC 9449): EC, P-256. */
export interface DpopKey {
  readonly privateJwk: JWK;
  readonly publicJwk: JWK;
}

export interface TokenSet {
  readonly access: string;
  readonly type: "Bearer" | "DPoP";
  /** Seconds. */
  readonly expiresIn?: number;
  readonly refresh?: string;
  /** Seconds. */
  readonly refreshExpiresIn?: number;
  readonly scope?: string;
  /** The account in the ID token, if there is one: email, user name or subject. */
  readonly account?: string;
}

/** Inputs of a request to a token endpoint, for any grant. */
export interface TokenEndpoint {
  readonly discovery: Pick<Discovery, "issuer" | "metadata">;
  readonly client: OAuthClient;
  readonly fetch: GuardedFetch;
  readonly dpopKey?: DpopKey | undefined;
  /** Sent with every grant. Undefined: not sent. */
  readonly resource: string | undefined;
  readonly signal?: AbortSignal | undefined;
}
