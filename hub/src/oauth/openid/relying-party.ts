// A client of one provider of OpenID Connect: signs people in by code, with PKCE and a nonce.

import { HubError } from "../../errors.ts";
import { checkCallback, createAuthorizationRequest } from "../authorize.ts";
import { defaultMethod } from "../client/client-auth.ts";
import { findOpenIdMetadata } from "../discovery/issuer-metadata.ts";
import { parseObject } from "../parse-object.ts";
import { requestToken, unusable } from "../token-endpoint.ts";
import { tokenIn } from "../token-set.ts";
import type { AuthorizationServerMetadata, Discovery, GuardedFetch, OAuthClient } from "../types.ts";
import { checkIdToken, checkLogoutToken, providerKeys, type Logout } from "./id-token.ts";

export interface RelyingPartyOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: () => Promise<string | undefined>;
  readonly scopes: readonly string[];
  /** Those that an ID token without them makes the client ask for at the UserInfo endpoint. */
  readonly claims: readonly string[];
  readonly fetch: GuardedFetch;
}

/** Someone whom the provider has recognised. */
export interface Person {
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** The provider's session, for its logout. */
  readonly sessionId: string | undefined;
  readonly idToken: string;
}

export interface BegunSignIn {
  /** Where the browser goes. */
  readonly url: string;
  readonly state: string;
  /** Rejects unless the callback belongs to this sign-in, and proves who it is. Once: a code is used up by the attempt. */
  readonly finish: (callback: URL) => Promise<Person>;
}

interface Provider {
  readonly metadata: AuthorizationServerMetadata;
  readonly keys: Awaited<ReturnType<typeof providerKeys>>;
  readonly at: number;
}

const METADATA_MS = 3_600_000;

export class RelyingParty {
  readonly #options: RelyingPartyOptions;
  #provider: Promise<Provider> | undefined;

  constructor(options: RelyingPartyOptions) {
    this.#options = options;
  }

  async begin(redirectUri: string): Promise<BegunSignIn> {
    const { issuer, fetch, scopes } = this.#options;
    // Changes of the metadata between here and the callback do not count.
    const { metadata, keys } = await this.#discover();
    const client = await this.#clientFor(metadata);
    const discovery: Discovery = {
      issuer,
      metadata,
      resource: undefined,
      resourceScopes: undefined,
      dpopRequired: false,
      isFallback: false,
    };
    const request = await createAuthorizationRequest({
      discovery,
      client,
      redirectUri,
      scopes: ["openid", ...scopes.filter((scope) => scope !== "openid")],
      resource: undefined,
      // Providers check it without a word in their metadata, and the nonce ties the ID token to this request in any case.
      pkce: "assume",
      fetch,
    });
    const { url, state, verifier, nonce = "" } = request;
    const finish = async (callback: URL): Promise<Person> => {
      const { code } = checkCallback(callback, request, discovery);
      const endpoint = { discovery, client, fetch, resource: undefined };
      const grant = { code, redirect_uri: redirectUri, code_verifier: verifier };
      const body = await requestToken(endpoint, "authorization_code", grant);
      const idToken = tokenIn(body, "id_token");
      if (idToken === undefined) throw unusable(issuer, "The answer has no ID token");
      const payload = await checkIdToken(idToken, nonce, { issuer, clientId: client.id, keys });
      const more = await this.#userInfo(metadata, payload, tokenIn(body, "access_token"));
      const { sub: subject, sid } = payload;
      const sessionId = typeof sid === "string" ? sid : undefined;
      return { subject, claims: { ...more, ...payload }, sessionId, idToken };
    };
    return { url, state, finish };
  }

  async checkLogout(token: string): Promise<Logout> {
    const { issuer, clientId } = this.#options;
    const { keys } = await this.#discover();
    return checkLogoutToken(token, { issuer, clientId, keys });
  }

  /** Where a browser signs out at the provider; undefined if it has no such page. */
  async endSessionUrl(returnTo: string, idToken: string | undefined): Promise<string | undefined> {
    const { metadata } = await this.#discover();
    if (metadata.end_session_endpoint === undefined) return undefined;
    const url = new URL(metadata.end_session_endpoint);
    url.searchParams.set("client_id", this.#options.clientId);
    url.searchParams.set("post_logout_redirect_uri", returnTo);
    if (idToken !== undefined) url.searchParams.set("id_token_hint", idToken);
    return url.href;
  }

  /** Providers may leave claims out of the ID token that the scopes have asked for. */
  async #userInfo(
    { userinfo_endpoint: url }: AuthorizationServerMetadata,
    known: Readonly<Record<string, unknown>>,
    accessToken: string | undefined,
  ): Promise<Readonly<Record<string, unknown>>> {
    const isComplete = this.#options.claims.every((claim) => known[claim] !== undefined);
    if (isComplete || url === undefined || accessToken === undefined) return {};
    const { issuer, fetch } = this.#options;
    const headers = { authorization: `Bearer ${accessToken}`, accept: "application/json" };
    const response = await fetch(url, { headers });
    const claims = response.status === 200 ? parseObject(await response.text()) : undefined;
    if (claims === undefined) throw unusable(issuer, "The UserInfo endpoint did not answer with claims");
    // It could be about someone else (OpenID Connect Core, section 5.3.4).
    if (claims["sub"] !== known["sub"]) {
      throw new HubError("LoginFailed", `${issuer} answered with the claims of another person`);
    }
    return claims;
  }

  async #clientFor(metadata: AuthorizationServerMetadata): Promise<OAuthClient> {
    const { issuer, clientId, clientSecret } = this.#options;
    const secret = await clientSecret();
    const method = defaultMethod(metadata, { secret });
    return { id: clientId, ...(secret === undefined ? {} : { secret }), method, how: "configured", issuer };
  }

  /** Kept for an hour, unless it failed. */
  #discover(): Promise<Provider> {
    const load = () => {
      const loading = this.#load().catch((error: unknown) => {
        if (this.#provider === loading) this.#provider = undefined;
        throw error;
      });
      return (this.#provider = loading);
    };
    if (this.#provider === undefined) return load();
    return this.#provider.then((known) => (performance.now() - known.at < METADATA_MS ? known : load()));
  }

  async #load(): Promise<Provider> {
    const { issuer, fetch } = this.#options;
    const metadata = await findOpenIdMetadata(issuer, { fetch });
    if (metadata === undefined) {
      throw new HubError("ProtocolError", `${issuer} has no metadata of OpenID Connect`, {
        hint: "Correct the issuer of this provider: auth.sso in hub.json",
      });
    }
    return { metadata, keys: await providerKeys(metadata, fetch), at: performance.now() };
  }
}
