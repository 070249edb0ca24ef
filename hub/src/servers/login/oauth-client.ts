// The OAuth requests that are made for one server. Loaded on the first login or renewal: servers without OAuth do not pay for it.

import type { LookupFunction } from "node:net";
import { HubError } from "../../errors.ts";
import { checkCallback, createAuthorizationRequest, requirePkce } from "../../oauth/authorize.ts";
import { pollDevice, startDevice, type DeviceCode } from "../../oauth/device.ts";
import { discover, discoverIssuer } from "../../oauth/discovery/discovery.ts";
import { createDpopKey } from "../../oauth/dpop.ts";
import { clientCredentials, exchangeCode, exchangeToken, jwtBearer, refreshTokens } from "../../oauth/grants.ts";
import { createGuardedFetch } from "../../oauth/fetch/guarded-fetch.ts";
import { deleteRegistration, obtainClient } from "../../oauth/client/registration.ts";
import { revokeTokens } from "../../oauth/revoke.ts";
import { chooseScopes } from "../../oauth/scopes.ts";
import type {
  AuthorizationRequest,
  Challenge,
  Discovery,
  DpopKey,
  GuardedFetch,
  OAuthClient,
  TokenEndpoint,
  TokenSet,
} from "../../oauth/types.ts";
import type { LoginRecord } from "../../secrets/login-store.ts";
import { VERSION } from "../../version.ts";
import type { ResolvedAuth } from "./resolve-auth.ts";
import type { Clock } from "./clock.ts";

/** Sends one refresh token. */
export type RefreshGrant = (record: LoginRecord, refresh: string) => Promise<TokenSet>;

const DISCOVERY_MS = 3_600_000;
const REVOKE_MS = 5000;
const CODE_MS = 10_000;
const ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";

export interface OAuthClientOptions {
  /** The server's address, as an http or https URL. */
  readonly url: URL;
  readonly auth: ResolvedAuth;
  readonly clock: Clock;
  readonly lookup?: LookupFunction | undefined;
}

export interface LoginOptions {
  readonly challenge: Challenge | undefined;
  readonly redirectUri: string;
  readonly record: LoginRecord | undefined;
  /** In place of the configured ones. */
  readonly scopes?: readonly string[] | undefined;
  readonly client?: { readonly id: string; readonly secret?: string | undefined } | undefined;
  readonly issuer?: string | undefined;
  readonly flow: "browser" | "device";
  /** Whether to widen what was requested before. */
  readonly isStepUp: boolean;
  /** False: the authorization server refused offline_access before. */
  readonly offlineAccess?: boolean | undefined;
}

/** Everything that is kept of a login until its callback. */
export interface PreparedLogin {
  readonly discovery: Discovery;
  readonly client: OAuthClient;
  readonly scopes: readonly string[];
  readonly resource: string | undefined;
  readonly dpop: DpopKey | undefined;
  readonly redirectUri: string;
}

export class OAuthRequests {
  readonly #options: OAuthClientOptions;
  readonly #fetch: GuardedFetch;
  #discovery: { readonly value: Discovery; readonly at: number } | undefined;

  constructor(options: OAuthClientOptions) {
    this.#options = options;
    const { url, auth, lookup } = options;
    this.#fetch = createGuardedFetch({
      server: url,
      ...(auth.allowPrivate === undefined ? {} : { allowPrivate: auth.allowPrivate }),
      ...(lookup === undefined ? {} : { lookup }),
    });
  }

  /** Kept for an hour. */
  async discover(challenge: Challenge | undefined, { fresh = false, issuer = this.#options.auth.issuer } = {}) {
    const { url, auth, clock } = this.#options;
    const known = this.#discovery;
    if (!fresh && known !== undefined && clock.monotonic() - known.at < DISCOVERY_MS) return known.value;
    const { authorizationUrl, tokenUrl } = auth;
    const endpoints =
      authorizationUrl === undefined || tokenUrl === undefined ? undefined : { authorizationUrl, tokenUrl };
    const value = await discover({ server: url, challenge, fetch: this.#fetch, issuer, endpoints });
    this.#discovery = { value, at: clock.monotonic() };
    return value;
  }

  /** Previews a login of a person: its authorization server and scopes. */
  async preview({ challenge, record, isStepUp }: Pick<LoginOptions, "challenge" | "record" | "isStepUp">) {
    const discovery = await this.discover(challenge);
    const earlier = isStepUp ? record?.requested : undefined;
    const scopes = chooseScopes({ configured: this.#options.auth.scopes, challenge, discovery, earlier });
    const { issuer, metadata } = discovery;
    return { issuer, authorizationServer: new URL(metadata.authorization_endpoint ?? issuer).host, scopes };
  }

  /** A login for a person: where to go, and as which client. */
  async prepare(options: LoginOptions): Promise<PreparedLogin> {
    const { auth } = this.#options;
    const { challenge, record, redirectUri, isStepUp, offlineAccess } = options;
    const discovery = await this.discover(challenge, {
      fresh: true,
      ...(options.issuer === undefined ? {} : { issuer: options.issuer }),
    });
    // Before the hub registers itself at an authorization server where it cannot log in.
    if (options.flow === "browser") requirePkce({ discovery, pkce: auth.pkce });
    const scopes = chooseScopes({
      configured: options.scopes ?? auth.scopes,
      challenge,
      discovery,
      earlier: isStepUp ? record?.requested : undefined,
      offlineAccess,
    });
    const configured = options.client ?? configuredClient(auth) ?? typedClient(record, discovery);
    const client = await obtainClient({
      discovery,
      configured:
        configured === undefined
          ? undefined
          : { ...configured, method: auth.tokenEndpointAuthMethod, key: keyOf(auth) },
      clientMetadataUrl: auth.clientMetadataUrl,
      redirectUri,
      scope: scopes.length === 0 ? undefined : scopes.join(" "),
      known: reusableClient(record, scopes),
      softwareVersion: VERSION,
      fetch: this.#fetch,
    });
    const isBound = auth.dpop ?? (discovery.dpopRequired || challenge?.scheme === "DPoP");
    return {
      discovery,
      client,
      scopes,
      resource: this.#resourceOf(discovery),
      dpop: isBound ? await createDpopKey() : undefined,
      redirectUri: client.redirectUri ?? redirectUri,
    };
  }

  request(login: PreparedLogin): Promise<AuthorizationRequest> {
    const { discovery, client, scopes, resource, dpop, redirectUri } = login;
    const { pkce } = this.#options.auth;
    const fetch = this.#fetch;
    return createAuthorizationRequest({ discovery, client, redirectUri, scopes, resource, pkce, dpopKey: dpop, fetch });
  }

  /** The tokens for a callback. Throws LoginFailed, or TokenEndpointError. */
  async complete(login: PreparedLogin, request: AuthorizationRequest, callback: URL): Promise<TokenSet> {
    const { code } = checkCallback(callback, request, login.discovery);
    return exchangeCode(this.#endpoint(login, AbortSignal.timeout(CODE_MS)), { code, request });
  }

  startDevice(login: PreparedLogin): Promise<DeviceCode> {
    return startDevice(this.#endpoint(login), login);
  }

  pollDevice(login: PreparedLogin, device: DeviceCode, signal: AbortSignal): Promise<TokenSet> {
    return pollDevice(this.#endpoint(login, signal), device);
  }

  readonly refresh: RefreshGrant = async (record, refresh) => {
    const { auth } = this.#options;
    const discovery = await this.discover(challengeOf(record));
    const endpoint = this.#endpoint({ ...record, resource: this.#resourceOf(discovery), discovery, dpop: record.dpop });
    const scope = auth.refreshScope === true ? record.requested.join(" ") : undefined;
    return refreshTokens(endpoint, { refresh, scope });
  };

  /** Best effort: true if the tokens are revoked at the authorization server. */
  async revoke(record: LoginRecord): Promise<boolean> {
    const signal = AbortSignal.timeout(REVOKE_MS);
    const discovery = await this.discover(challengeOf(record));
    const endpoint = this.#endpoint({ ...record, resource: undefined, discovery, dpop: undefined }, signal);
    const tokens = { access: record.access, ...(record.refresh === undefined ? {} : { refresh: record.refresh }) };
    const isRevoked = await revokeTokens(endpoint, tokens).catch(() => false);
    // A registration without tokens is harmless, and many authorization servers do not allow deleting it.
    await deleteRegistration({ client: record.client, fetch: this.#fetch, signal }).catch(() => undefined);
    return isRevoked;
  }

  /** A token without a person, for the types of `auth` that have one. */
  async machineToken(challenge: Challenge | undefined, earlier: readonly string[]): Promise<MachineToken> {
    const { auth } = this.#options;
    const discovery = await this.discover(challenge);
    const scopes = chooseScopes({ configured: auth.scopes, challenge, discovery, earlier, offlineAccess: false });
    const isBound = auth.dpop ?? (discovery.dpopRequired || challenge?.scheme === "DPoP");
    const dpop = isBound ? await createDpopKey() : undefined;
    const client = machineClient(auth, discovery);
    const endpoint = this.#endpoint({ discovery, client, resource: this.#resourceOf(discovery), dpop });
    const tokens = await this.#machineGrant(endpoint, scopes);
    return { tokens, scopes, dpop };
  }

  async #machineGrant(endpoint: TokenEndpoint, scopes: readonly string[]): Promise<TokenSet> {
    const { auth } = this.#options;
    if (auth.workloadToken !== undefined) return jwtBearer(endpoint, { assertion: await auth.workloadToken(), scopes });
    if (auth.type !== "enterprise") return clientCredentials(endpoint, { scopes });
    return jwtBearer(endpoint, { assertion: await this.#identityAssertion(endpoint, scopes), scopes });
  }

  /** The identity provider vouches for the user at the server's authorization server (RFC 8693, then RFC 7523). */
  async #identityAssertion({ discovery, resource }: TokenEndpoint, scopes: readonly string[]): Promise<string> {
    const { idp } = this.#options.auth;
    if (idp === undefined) throw new HubError("InvalidConfig", "auth.idp is missing", { field: "auth.idp" });
    const provider = await discoverIssuer({ issuer: idp.issuer, fetch: this.#fetch, tokenUrl: idp.tokenUrl });
    const client: OAuthClient = {
      id: idp.clientId,
      method: idp.clientSecret === undefined ? "none" : "client_secret_basic",
      how: "configured",
      issuer: idp.issuer,
      ...(idp.clientSecret === undefined ? {} : { secret: idp.clientSecret }),
    };
    const { token } = await exchangeToken(
      { discovery: provider, client, fetch: this.#fetch, resource },
      {
        subjectToken: idp.idToken,
        subjectTokenType: ID_TOKEN,
        requestedTokenType: ID_JAG,
        audience: discovery.issuer,
        scopes,
      },
    );
    return token;
  }

  #endpoint(
    login: Pick<TokenEndpoint, "discovery" | "resource"> & {
      readonly client: OAuthClient;
      readonly dpop?: DpopKey | undefined;
    },
    signal?: AbortSignal,
  ): TokenEndpoint {
    const { discovery, resource, dpop } = login;
    const key = keyOf(this.#options.auth);
    const client =
      login.client.method === "private_key_jwt" && key !== undefined ? { ...login.client, key } : login.client;
    return { discovery, client, resource, dpopKey: dpop, fetch: this.#fetch, signal };
  }

  #resourceOf({ resource }: Discovery): string | undefined {
    const configured = this.#options.auth.resource;
    return configured === false ? undefined : (configured ?? resource);
  }
}

export interface MachineToken {
  readonly tokens: TokenSet;
  readonly scopes: readonly string[];
  readonly dpop: DpopKey | undefined;
}

function configuredClient({ clientId, clientSecret }: ResolvedAuth): LoginOptions["client"] {
  return clientId === undefined ? undefined : { id: clientId, secret: clientSecret };
}

/** A registered client may be limited to the scopes for which it was registered: for more, a new one is registered. */
function reusableClient(record: LoginRecord | undefined, scopes: readonly string[]): OAuthClient | undefined {
  const isWider = scopes.some((scope) => record?.requested.includes(scope) === false);
  return record?.client.how === "registered" && isWider ? undefined : record?.client;
}

/** The client id that a person gave at an earlier login. */
function typedClient(record: LoginRecord | undefined, { issuer }: Discovery): LoginOptions["client"] {
  const isSame = record?.client.how === "configured" && record.client.issuer === issuer;
  return isSame ? { id: record.client.id, secret: record.client.secret } : undefined;
}

function machineClient(auth: ResolvedAuth, { issuer, metadata }: Discovery): OAuthClient {
  const { clientId = "", clientSecret, type, tokenEndpointAuthMethod } = auth;
  const key = keyOf(auth);
  const listed = metadata.token_endpoint_auth_methods_supported ?? [];
  const bySecret =
    listed.length > 0 && !listed.includes("client_secret_basic") && listed.includes("client_secret_post")
      ? "client_secret_post"
      : "client_secret_basic";
  const method = type === "private_key_jwt" ? "private_key_jwt" : clientSecret === undefined ? "none" : bySecret;
  return {
    id: clientId,
    how: "configured",
    issuer,
    method: tokenEndpointAuthMethod ?? method,
    ...(clientSecret === undefined ? {} : { secret: clientSecret }),
    ...(key === undefined ? {} : { key }),
  };
}

function keyOf({ key, algorithm, keyId }: ResolvedAuth): OAuthClient["key"] {
  if (key === undefined) return undefined;
  return {
    text: key,
    ...(algorithm === undefined ? {} : { algorithm }),
    ...(keyId === undefined ? {} : { keyId }),
  };
}

/** The known parts of the server's challenge if there is no current one. */
function challengeOf({ resourceMetadata, type }: LoginRecord): Challenge | undefined {
  return resourceMetadata === undefined ? undefined : { scheme: type, resourceMetadata };
}
