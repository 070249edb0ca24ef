// The OAuth client itself, without a hub around it, at real authorization servers and a real protected server.

import { generateKeyPairSync } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { AuthorizationRefused, checkCallback, createAuthorizationRequest } from "../../hub/src/oauth/authorize.ts";
import { parseChallenge } from "../../hub/src/oauth/challenge.ts";
import { pollDevice, startDevice } from "../../hub/src/oauth/device.ts";
import { discover } from "../../hub/src/oauth/discovery/discovery.ts";
import { createDpopKey, dpopSigner } from "../../hub/src/oauth/dpop.ts";
import { clientCredentials, exchangeCode, refreshTokens } from "../../hub/src/oauth/grants.ts";
import { createGuardedFetch } from "../../hub/src/oauth/fetch/guarded-fetch.ts";
import { deleteRegistration, obtainClient, type ConfiguredClient } from "../../hub/src/oauth/client/registration.ts";
import { revokeTokens } from "../../hub/src/oauth/revoke.ts";
import { chooseScopes } from "../../hub/src/oauth/scopes.ts";
import { TokenEndpointError } from "../../hub/src/oauth/token-endpoint.ts";
import type {
  AuthorizationRequest,
  Challenge,
  Discovery,
  DpopKey,
  GuardedFetch,
  OAuthClient,
  TokenEndpoint,
  TokenSet,
} from "../../hub/src/oauth/types.ts";
import { startAuthorizationServer, type AuthorizationServerOptions } from "../support/oauth/authorization-server.ts";
import { Browser } from "../support/oauth/browser.ts";
import { python, startFastMcp } from "../support/oauth/fastmcp.ts";
import { isGlewlwydInstalled, startGlewlwyd } from "../support/oauth/glewlwyd.ts";
import type { Issuer } from "../support/oauth/issuer.ts";
import { ProtectedServer } from "../support/oauth/protected-server.ts";

/** Nothing listens there: the browser stops before it. */
const REDIRECT = "http://localhost:1/oauth/callback";

let open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open) await each.close();
  open = [];
});

async function start(options: AuthorizationServerOptions = {}) {
  const issuer = await startAuthorizationServer(options);
  const server = await ProtectedServer.open([issuer.issuer]);
  issuer.settings.resources.set(server.url, server.allScopes);
  open.push(server, issuer);
  return { issuer, server };
}

interface PreparedLogin {
  readonly challenge: Challenge | undefined;
  readonly discovery: Discovery;
  readonly client: OAuthClient;
  readonly scopes: readonly string[];
  readonly endpoint: TokenEndpoint;
  readonly fetch: GuardedFetch;
}

interface LoginOptions {
  readonly configured?: ConfiguredClient;
  readonly clientMetadataUrl?: string;
  readonly scopes?: readonly string[];
  readonly offlineAccess?: boolean;
}

/** From the refusal of an MCP server to a client at its authorization server. */
async function prepare(url: string, options: LoginOptions = {}): Promise<PreparedLogin> {
  const refusal = await ask(url);
  expect(refusal.status).toBe(401);
  const challenge = parseChallenge(refusal.headers.get("www-authenticate") ?? undefined);
  const guarded = createGuardedFetch({ server: new URL(url) });
  const discovery = await discover({ server: new URL(url), challenge, fetch: guarded });
  const { scopes: configured, offlineAccess } = options;
  const scopes = chooseScopes({ configured, challenge, discovery, offlineAccess });
  const scope = scopes.length === 0 ? undefined : scopes.join(" ");
  const client = await obtainClient({ ...options, discovery, redirectUri: REDIRECT, scope, fetch: guarded });
  const dpopKey = discovery.dpopRequired ? await createDpopKey() : undefined;
  const endpoint = { discovery, client, fetch: guarded, dpopKey, resource: discovery.resource };
  return { challenge, discovery, client, scopes, endpoint, fetch: guarded };
}

/** Up to the callback. */
async function authorize(
  login: PreparedLogin,
  issuer: Issuer,
): Promise<{ request: AuthorizationRequest; callback: URL }> {
  const { discovery, client, scopes, endpoint } = login;
  const { resource, dpopKey } = endpoint;
  const request = await createAuthorizationRequest({
    discovery,
    client,
    scopes,
    resource,
    dpopKey,
    redirectUri: REDIRECT,
    fetch: login.fetch,
  });
  const page = await issuer.approve(new Browser(), request.url, (next) => next.href.startsWith(request.redirectUri));
  return { request, callback: new URL(page.url) };
}

async function logIn(login: PreparedLogin, issuer: Issuer): Promise<TokenSet> {
  const { request, callback } = await authorize(login, issuer);
  const { code } = checkCallback(callback, request, login.discovery);
  return exchangeCode(login.endpoint, { code, request });
}

function ask(url: string, tokens?: TokenSet, key?: DpopKey): Promise<Response> {
  const proof = (access: string) =>
    key ? { dpop: dpopSigner(key)({ method: "POST", url, accessToken: access }) } : {};
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(tokens && { authorization: `${tokens.type} ${tokens.access}`, ...proof(tokens.access) }),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
    }),
  });
}

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => (error instanceof TokenEndpointError ? error.failure : error),
  );

/** Log in, use, renew, log out. */
async function wholeLife(url: string, issuer: Issuer, options: LoginOptions = {}): Promise<PreparedLogin> {
  const login = await prepare(url, options);
  expect(login.discovery.issuer).toBe(issuer.issuer);
  const first = await logIn(login, issuer);
  expect((await ask(url, first, login.endpoint.dpopKey)).status).toBe(200);
  const second = await refreshTokens(login.endpoint, { refresh: first.refresh ?? "" });
  expect(second.access).not.toBe(first.access);
  expect((await ask(url, second, login.endpoint.dpopKey)).status).toBe(200);
  expect(await revokeTokens(login.endpoint, second)).toBe(true);
  const over = await failureOf(refreshTokens(login.endpoint, { refresh: second.refresh ?? first.refresh ?? "" }));
  expect(over).toMatchObject({ type: "refused", code: "invalid_grant" });
  return login;
}

describe("AU-1 the OAuth client at real authorization servers", () => {
  it("registers, logs in, renews and logs out at oidc-provider", async () => {
    const { issuer, server } = await start();
    const { client, fetch: guarded } = await wholeLife(server.url, issuer);
    expect(client).toMatchObject({ how: "registered", method: "none", redirectUri: REDIRECT });
    await deleteRegistration({ client, fetch: guarded });
    const { management = { uri: "", token: "" } } = client;
    const headers = { authorization: `Bearer ${management.token}` };
    expect((await fetch(management.uri, { headers })).status).toBe(401);
  });

  it.runIf(isGlewlwydInstalled)("registers, logs in, renews and logs out at Glewlwyd", async () => {
    const server = await ProtectedServer.open([], { toolScopes: {} });
    const issuer = await startGlewlwyd("mcp", [server.url]);
    server.settings.issuers = [issuer.issuer];
    open.push(server, issuer);
    const { discovery, client } = await wholeLife(server.url, issuer, { scopes: ["openid", "mcp"] });
    expect([new URL(discovery.issuer).pathname, client.how]).toEqual(["/api/oidc", "registered"]);
  });

  it.runIf(python.kind === "found")("registers, logs in, renews and logs out at FastMCP", async () => {
    const fastmcp = await startFastMcp();
    open.push(fastmcp);
    const { discovery, client } = await wholeLife(fastmcp.url, fastmcp);
    expect([new URL(fastmcp.url).origin + "/", "registered"]).toEqual([discovery.issuer, client.how]);
  });

  it("uses a configured client with a secret", async () => {
    const secret = "s3cr+t%/with:odd characters";
    const clients = [{ client_id: "pre-registered", client_secret: secret, redirect_uris: [REDIRECT] }];
    const { issuer, server } = await start({
      clients: clients.map((each) => ({ ...each, application_type: "native" })),
    });
    const login = await prepare(server.url, {
      configured: { id: "pre-registered", secret },
      offlineAccess: false,
    });
    expect(login.client.method).toBe("client_secret_basic");
    expect((await ask(server.url, await logIn(login, issuer))).status).toBe(200);
    expect(issuer.front.of("register")).toEqual([]);
  });

  it("uses a client metadata document", async () => {
    const { issuer, server } = await start();
    const address = "https://client.example/client.json";
    issuer.settings.documents.set(address, {
      client_id: address,
      client_name: "Plugboard",
      redirect_uris: [REDIRECT],
      application_type: "native",
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "none",
    });
    const { client } = await wholeLife(server.url, issuer, { clientMetadataUrl: address });
    expect(client).toMatchObject({ id: address, how: "metadata_document" });
    expect(issuer.front.of("register")).toEqual([]);
  });

  it("pushes its request where that is required", async () => {
    const { issuer, server } = await start({ requirePushed: true });
    await wholeLife(server.url, issuer);
    expect(issuer.front.of("par")).toHaveLength(1);
  });

  it("gets the name of the account from an ID token, whose nonce it checks", async () => {
    const { issuer, server } = await start();
    const login = await prepare(server.url, { scopes: ["openid", "email", "mcp"] });
    expect((await logIn(login, issuer)).account).toBe("alice@example.com");
    const { request, callback } = await authorize(login, issuer);
    const { code } = checkCallback(callback, request, login.discovery);
    const wrong = exchangeCode(login.endpoint, { code, request: { ...request, nonce: "other" } });
    expect(await failureOf(wrong)).toMatchObject({ code: "invalid_nonce" });
  });

  it("A04 a code is of use once, and only with its verifier", async () => {
    const { issuer, server } = await start();
    const login = await prepare(server.url);
    const { request, callback } = await authorize(login, issuer);
    const { code } = checkCallback(callback, request, login.discovery);
    const stolen = exchangeCode(login.endpoint, { code, request: { ...request, verifier: "x".repeat(43) } });
    expect(await failureOf(stolen)).toMatchObject({ type: "refused", code: "invalid_grant" });
    const other = await authorize(login, issuer);
    const mine = checkCallback(other.callback, other.request, login.discovery);
    await exchangeCode(login.endpoint, { code: mine.code, request: other.request });
    const again = exchangeCode(login.endpoint, { code: mine.code, request: other.request });
    expect(await failureOf(again)).toMatchObject({ type: "refused", code: "invalid_grant" });
  });

  it("A03 the callback of another login is refused", async () => {
    const { issuer, server } = await start();
    const login = await prepare(server.url);
    const [one, two] = [await authorize(login, issuer), await authorize(login, issuer)];
    expect(() => checkCallback(one.callback, two.request, login.discovery)).toThrow("does not belong to the login");
    expect(one.callback.searchParams.get("iss")).toBe(issuer.issuer);
    one.callback.searchParams.delete("iss");
    expect(() => checkCallback(one.callback, one.request, login.discovery)).toThrow("does not belong to the login");
  });

  it("a person who declines ends the login", async () => {
    const { issuer, server } = await start();
    issuer.settings.decision = "deny";
    const login = await prepare(server.url);
    const { request, callback } = await authorize(login, issuer);
    expect(() => checkCallback(callback, request, login.discovery)).toThrow(AuthorizationRefused);
  });

  it("logs in by device code", async () => {
    const { server } = await start({
      clients: [
        {
          client_id: "device",
          token_endpoint_auth_method: "none",
          grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
          redirect_uris: [],
          response_types: [],
        },
      ],
    });
    const login = await prepare(server.url, { configured: { id: "device" }, offlineAccess: false });
    const device = await startDevice(login.endpoint, login);
    const approve = async () => {
      const browser = new Browser();
      const confirm = await browser.submit(await browser.open(device.verificationUriComplete ?? ""));
      await browser.submit(confirm, { confirm: "yes" });
    };
    let polls = 0;
    const tokens = await pollDevice(login.endpoint, device, async () => (polls++ === 1 ? approve() : undefined));
    expect(polls).toBe(2);
    expect((await ask(server.url, tokens)).status).toBe(200);
  });
});

describe("AU-2 the OAuth client of machines", () => {
  it.each([false, true])(
    "gets and uses bound tokens; the authorization server wants a nonce: %s",
    async (dpopNonce) => {
      const { issuer, server } = await start({ dpopNonce });
      server.settings.dpop = true;
      const { challenge, discovery } = await wholeLife(server.url, issuer);
      expect([challenge?.scheme, discovery.dpopRequired]).toEqual(["DPoP", true]);
    },
  );

  it("logs in by client credentials, with a secret and with a key", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const common = { grant_types: ["client_credentials"], redirect_uris: [], response_types: [] };
    const jwks = { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k1" }] } as never;
    const { server } = await start({
      clients: [
        { client_id: "by-secret", client_secret: "machine-secret", ...common },
        { client_id: "by-key", token_endpoint_auth_method: "private_key_jwt", jwks, ...common },
      ],
    });
    const text = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    for (const configured of [
      { id: "by-secret", secret: "machine-secret" },
      { id: "by-key", key: { text, keyId: "k1" } },
    ]) {
      const { endpoint, scopes } = await prepare(server.url, { configured, offlineAccess: false });
      const tokens = await clientCredentials(endpoint, { scopes });
      expect((await ask(server.url, tokens)).status).toBe(200);
      const wrong = {
        ...endpoint,
        client: { ...endpoint.client, secret: "wrong-secret", method: "client_secret_post" },
      };
      const refused = await failureOf(clientCredentials(wrong as TokenEndpoint, { scopes }));
      expect(refused).toMatchObject({ type: "refused", code: "invalid_client" });
    }
  });
});
