import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ScriptedServer, type Script, type ScriptedRequest } from "../../../test/support/oauth/scripted-server.ts";
import type { HubError } from "../errors.ts";
import { createDpopKey } from "./dpop.ts";
import { clientCredentials, exchangeCode, exchangeToken, jwtBearer, refreshTokens } from "./grants.ts";
import { createGuardedFetch } from "./fetch/guarded-fetch.ts";
import { TokenEndpointError, type TokenFailure } from "./token-endpoint.ts";
import type { TokenEndpoint, TokenSet } from "./types.ts";

const RESOURCE = "https://mcp.example.com/mcp";
const REFRESH = "refresh-token-that-nobody-may-see";
const SECRET = "client-secret-that-nobody-may-see";

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
});
afterEach(() => server.close());

function endpoint(more: Partial<TokenEndpoint> = {}): TokenEndpoint {
  return {
    discovery: { issuer: server.url, metadata: { issuer: server.url, token_endpoint: `${server.url}/token` } },
    client: { id: "client", secret: SECRET, method: "client_secret_basic", how: "configured", issuer: server.url },
    fetch: createGuardedFetch({ server: new URL(server.url) }),
    resource: RESOURCE,
    ...more,
  };
}

const answer = (body: object): Script => ({ body: { access_token: "at", token_type: "Bearer", ...body } });
const formOf = (request: ScriptedRequest | undefined) => Object.fromEntries(request?.form ?? []);
const refresh = (more: Partial<TokenEndpoint> = {}) => refreshTokens(endpoint(more), { refresh: REFRESH });

async function failureOf(promise: Promise<unknown>): Promise<TokenFailure> {
  const error: unknown = await promise.then(
    () => new Error("it succeeded"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof TokenEndpointError) return error.failure;
  throw error as Error;
}

describe("AU-1 grants", () => {
  it("a code is sent with its verifier, redirect URI and resource", async () => {
    server.scripts = { "/token": answer({}) };
    const request = { verifier: "v", redirectUri: "http://localhost:1/cb" };
    expect(await exchangeCode(endpoint(), { code: "c", request })).toEqual({ access: "at", type: "Bearer" });
    expect(formOf(server.requests[0])).toEqual({
      grant_type: "authorization_code",
      code: "c",
      code_verifier: "v",
      redirect_uri: "http://localhost:1/cb",
      resource: RESOURCE,
      client_id: "client",
    });
    expect(server.requests[0]?.headers).toMatchObject({
      accept: "application/json",
      authorization: `Basic ${Buffer.from(`client:${SECRET}`).toString("base64")}`,
      "content-type": expect.stringContaining("application/x-www-form-urlencoded"),
      "user-agent": "plugboard",
    });
  });

  it("a refresh token is sent with the resource, and with the scope only on request", async () => {
    server.scripts = { "/token": answer({}) };
    await refresh();
    await refreshTokens(endpoint({ resource: undefined }), { refresh: REFRESH, scope: "a b" });
    const common = { grant_type: "refresh_token", refresh_token: REFRESH, client_id: "client" };
    expect(server.requests.map(formOf)).toEqual([
      { ...common, resource: RESOURCE },
      { ...common, scope: "a b" },
    ]);
  });

  it("AU-2 client credentials, a JWT, and a token that is exchanged", async () => {
    server.scripts = { "/token": answer({ issued_token_type: "urn:jag", token_type: "N_A", expires_in: 300 }) };
    const exchanged = await exchangeToken(endpoint(), {
      subjectToken: "id-token",
      subjectTokenType: "urn:id",
      requestedTokenType: "urn:jag",
      audience: "https://as.example",
    });
    expect(exchanged).toEqual({ token: "at", expiresIn: 300 });
    server.scripts = { "/token": answer({}) };
    await clientCredentials(endpoint(), { scopes: ["a", "b"] });
    await clientCredentials(endpoint(), { scopes: [] });
    await jwtBearer(endpoint(), { assertion: "jwt", scopes: [] });
    const common = { client_id: "client", resource: RESOURCE };
    expect(server.requests.map(formOf)).toEqual([
      {
        ...common,
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        subject_token: "id-token",
        subject_token_type: "urn:id",
        requested_token_type: "urn:jag",
        audience: "https://as.example",
      },
      { ...common, grant_type: "client_credentials", scope: "a b" },
      { ...common, grant_type: "client_credentials" },
      { ...common, grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: "jwt" },
    ]);
  });

  it("AU-2 an exchanged token of another type is not used", async () => {
    server.scripts = { "/token": answer({ issued_token_type: "urn:ietf:params:oauth:token-type:access_token" }) };
    const exchange = { subjectToken: "t", subjectTokenType: "urn:id", requestedTokenType: "urn:jag" };
    expect((await failureOf(exchangeToken(endpoint(), exchange))).type).toBe("transient");
  });

  it("A03 nothing is sent if the client belongs to another issuer", async () => {
    const client = { ...endpoint().client, issuer: "https://old.example" };
    expect(await failureOf(refresh({ client }))).toEqual({ type: "refused", code: "issuer_changed" });
    expect(server.requests).toEqual([]);
  });

  it("A07 a token endpoint inside the network is not asked", async () => {
    const fetch = createGuardedFetch({ server: new URL("https://93.184.216.34/mcp") });
    await expect(refresh({ fetch })).rejects.toMatchObject({ kind: "UnsafeAddress" });
    expect(server.requests).toEqual([]);
  });

  it("there must be a token endpoint", async () => {
    const discovery = { issuer: server.url, metadata: { issuer: server.url } };
    await expect(refresh({ discovery })).rejects.toMatchObject({ kind: "ProtocolError" });
  });
});

describe("AU-1 the tokens of an answer", () => {
  it.each<[object, Partial<TokenSet>]>([
    [{ token_type: "bearer" }, {}],
    [{ token_type: "BEARER" }, {}],
    [{ token_type: undefined }, {}],
    [{ expires_in: 3600 }, { expiresIn: 3600 }],
    [{ expires_in: "3600" }, { expiresIn: 3600 }],
    [{ expires_in: 0 }, { expiresIn: 0 }],
    [{ expires_in: "soon" }, {}],
    [{ expires_in: -1 }, {}],
    [{ expires_in: null }, {}],
    [
      { refresh_token: "rt", refresh_token_expires_in: 10 },
      { refresh: "rt", refreshExpiresIn: 10 },
    ],
    [
      { refresh_token: "rt", refresh_expires_in: 20 },
      { refresh: "rt", refreshExpiresIn: 20 },
    ],
    [{ refresh_token: "rt", refresh_expires_in: 0 }, { refresh: "rt" }],
    [{ refresh_token: "" }, {}],
    [{ refresh_token: 7 }, {}],
    [{ refresh_token: "r\nt" }, {}],
    [{ scope: "a b" }, { scope: "a b" }],
    [{ scope: ["a"] }, {}],
    [{ id_token: "broken" }, {}],
    [{ id_token: 7 }, {}],
  ])("%j gives %j", async (body, expected) => {
    server.scripts = { "/token": answer(body) };
    expect(await refresh()).toEqual({ access: "at", type: "Bearer", ...expected });
  });

  it.each<[string, object, TokenFailure["type"]]>([
    ["no access token", { access_token: undefined }, "transient"],
    ["an empty access token", { access_token: "" }, "transient"],
    ["an access token that is no text", { access_token: 7 }, "transient"],
    ["an access token that no header can carry", { access_token: "a\r\nX-Evil: b" }, "transient"],
    ["an unknown type", { token_type: "mac" }, "refused"],
    ["a type that is no text", { token_type: {} }, "refused"],
    ["N_A in place of an access token", { token_type: "N_A" }, "refused"],
    ["a DPoP token without a key", { token_type: "DPoP" }, "refused"],
  ])("an answer with %s cannot be used", async (_name, body, type) => {
    server.scripts = { "/token": answer(body) };
    expect((await failureOf(refresh())).type).toBe(type);
  });

  const idToken = (claims: object) =>
    `e30.${Buffer.from(JSON.stringify({ iss: server.url, aud: "client", ...claims })).toString("base64url")}.sig`;
  const exchange = (nonce?: string) =>
    exchangeCode(endpoint(), {
      code: "c",
      request: { verifier: "v", redirectUri: "http://localhost:1/cb", ...(nonce === undefined ? {} : { nonce }) },
    });

  it.each<[object, string | undefined]>([
    [{ sub: "42", email: "alice@example.com", preferred_username: "alice" }, "alice@example.com"],
    [{ sub: "42", preferred_username: "alice" }, "alice"],
    [{ sub: "42", email: 7 }, "42"],
    [{ sub: "42", email: "a\u202e\n" }, "a\\u202e"],
    [{ sub: "42", aud: ["other", "client"] }, "42"],
    [{ sub: "42", aud: "other" }, undefined],
    [{ sub: "42", iss: "https://other.example" }, undefined],
    [{}, undefined],
  ])("an ID token with %j names the account %s", async (claims, account) => {
    server.scripts = { "/token": answer({ id_token: idToken({ nonce: "n", ...claims }) }) };
    expect((await exchange("n")).account).toBe(account);
  });

  it("A04 an ID token of another login ends the login", async () => {
    server.scripts = { "/token": answer({ id_token: idToken({ sub: "42", nonce: "other" }) }) };
    expect(await failureOf(exchange("n"))).toEqual({ type: "refused", code: "invalid_nonce" });
    server.scripts = { "/token": answer({ id_token: idToken({ sub: "42" }) }) };
    expect(await failureOf(exchange("n"))).toEqual({ type: "refused", code: "invalid_nonce" });
    expect((await exchange()).account).toBe("42");
  });
});

describe("A17 failures of a token endpoint", () => {
  const OUTCOMES: readonly (readonly [string, Script, TokenFailure])[] = [
    ["invalid_grant", { status: 400, body: { error: "invalid_grant" } }, { type: "refused", code: "invalid_grant" }],
    [
      "invalid_client with a description",
      { status: 401, body: { error: "invalid_client", error_description: "Missing\nclient_id" } },
      { type: "refused", code: "invalid_client", description: "Missing client_id" },
    ],
    [
      "an error with status 200, as GitHub answers",
      { status: 200, body: { error: "bad_refresh_token", error_description: "It has expired" } },
      { type: "refused", code: "invalid_grant", description: "bad_refresh_token: It has expired" },
    ],
    [
      "a code of Slack",
      { status: 200, body: { ok: false, error: "bad_client_secret" } },
      { type: "refused", code: "invalid_client", description: "bad_client_secret" },
    ],
    ["400 without a body, as Glewlwyd answers", { status: 400, body: "" }, { type: "refused", code: "invalid_grant" }],
    ["not_allowed", { status: 400, body: { error: "not_allowed" } }, { type: "refused", code: "not_allowed" }],
    [
      "a code that is too long",
      { status: 400, body: { error: "x".repeat(100) } },
      { type: "refused", code: `${"x".repeat(63)}…` },
    ],
    ["500", { status: 500, body: "<html>" }, { type: "transient", delivery: "unknown" }],
    ["502", { status: 502, body: "" }, { type: "transient", delivery: "unknown" }],
    ["503", { status: 503, body: "" }, { type: "transient", delivery: "refused" }],
    [
      "503 with Retry-After",
      { status: 503, headers: { "retry-after": "7" } },
      { type: "transient", delivery: "refused", retryAfterMs: 7000 },
    ],
    [
      "429 with Retry-After and an error",
      { status: 429, headers: { "retry-after": "2" }, body: { error: "invalid_grant" } },
      { type: "transient", delivery: "refused", retryAfterMs: 2000 },
    ],
    [
      "500 with an error",
      { status: 500, body: { error: "invalid_grant" } },
      { type: "transient", delivery: "unknown" },
    ],
    ["server_error", { status: 400, body: { error: "server_error" } }, { type: "transient", delivery: "unknown" }],
    [
      "temporarily_unavailable",
      { status: 400, body: { error: "temporarily_unavailable" } },
      { type: "transient", delivery: "unknown" },
    ],
    ["HTML with status 200", { body: "<html>" }, { type: "transient", delivery: "unknown" }],
    ["HTML with status 400", { status: 400, body: "<html>" }, { type: "transient", delivery: "unknown" }],
    ["an empty 401", { status: 401, body: "" }, { type: "transient", delivery: "unknown" }],
    ["JSON that is no object", { body: [] }, { type: "transient", delivery: "unknown" }],
    [
      "an error that is no text",
      { status: 400, body: { error: { code: 400 } } },
      { type: "transient", delivery: "unknown" },
    ],
    ["a redirect", { status: 302, headers: { location: "/elsewhere" } }, { type: "transient", delivery: "unknown" }],
    ["a reset connection", "reset", { type: "transient", delivery: "unknown" }],
    ["a body of 70 KB", { body: "x".repeat(70_000) }, { type: "transient", delivery: "unknown" }],
  ];

  it.each(OUTCOMES)("%s", async (_name, script, failure) => {
    server.scripts = { "/token": script };
    expect(await failureOf(refresh())).toEqual(failure);
    expect(server.paths).toEqual(["/token"]);
  });

  it("no answer, and no connection", async () => {
    server.scripts = { "/token": "hang" };
    const fetch = createGuardedFetch({ server: new URL(server.url) });
    const hasty: typeof fetch = (url, init) => fetch(url, { ...init, timeoutMs: 100 });
    expect(await failureOf(refresh({ fetch: hasty }))).toEqual({ type: "transient", delivery: "unknown" });
    const gone = endpoint();
    await server.close();
    expect(await failureOf(refreshTokens(gone, { refresh: REFRESH }))).toEqual({
      type: "transient",
      delivery: "unsent",
    });
    server = await ScriptedServer.start();
  });

  it("a caller that gives up gets no failure of the endpoint", async () => {
    server.scripts = { "/token": "hang" };
    const caller = new AbortController();
    const outcome = refresh({ signal: caller.signal });
    await expect.poll(() => server.requests.length).toBe(1);
    caller.abort();
    await expect(outcome).rejects.toMatchObject({ kind: "Cancelled" });
  });

  it("are kinds of the hub's errors", async () => {
    server.scripts = { "/token": { status: 400, body: { error: "invalid_grant", error_description: "gone" } } };
    await expect(refresh()).rejects.toMatchObject({ kind: "LoginFailed", detail: "invalid_grant: gone" });
    server.scripts = { "/token": { status: 503, headers: { "retry-after": "7" } } };
    await expect(refresh()).rejects.toMatchObject({ kind: "ConnectionFailed", retryAfterMs: 7000 });
  });
});

describe("A20 errors of a token endpoint quote nothing that is secret", () => {
  const echo: Script = ({ body, headers }) => ({
    status: 400,
    body: {
      error: "invalid_request",
      error_description: `${body} ${decodeURIComponent(body)} ${headers.authorization ?? ""} ${Buffer.from(REFRESH).toString("base64")}`,
    },
  });
  const PLANTED = [SECRET, REFRESH, "planted-code", "planted-verifier", "planted-assertion", "planted-subject"];

  it.each<[string, () => Promise<unknown>]>([
    ["a refresh", () => refresh()],
    ["a secret in the body", () => refresh({ client: { ...endpoint().client, method: "client_secret_post" } })],
    [
      "a code",
      () =>
        exchangeCode(endpoint(), {
          code: "planted-code",
          request: { verifier: "planted-verifier", redirectUri: "http://localhost:1/cb" },
        }),
    ],
    ["an assertion", () => jwtBearer(endpoint(), { assertion: "planted-assertion", scopes: [] })],
    ["an exchange", () => exchangeToken(endpoint(), { subjectToken: "planted-subject", subjectTokenType: "urn:id" })],
  ])("of %s", async (_name, send) => {
    server.scripts = { "/token": echo };
    const error = await send().catch((thrown: unknown) => thrown as HubError);
    expect(error).toBeInstanceOf(TokenEndpointError);
    const { message, detail, hint, stack, cause, failure } = error as TokenEndpointError;
    const shown = JSON.stringify([message, detail, hint, stack, String(cause), failure]);
    expect(shown).toContain("***");
    for (const secret of PLANTED) {
      expect(shown).not.toContain(secret);
      expect(shown).not.toContain(Buffer.from(secret).toString("base64").replaceAll("=", "").slice(0, -2));
    }
  });

  it("nor do answers that cannot be used", async () => {
    server.scripts = { "/token": answer({ access_token: "planted token with blanks", refresh_token: "planted" }) };
    const error = await refresh().catch((thrown: unknown) => thrown as HubError);
    const { message, detail, stack, cause } = error as HubError;
    expect(JSON.stringify([message, detail, stack, String(cause)])).not.toContain("planted");
  });
});

describe("AU-2 DPoP at a token endpoint", () => {
  const claimsOf = (request: ScriptedRequest | undefined): Record<string, unknown> => {
    const [, payload = ""] = String(request?.headers["dpop"]).split(".");
    return JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
  };
  const wantsNonce: Script = (request) =>
    claimsOf(request)["nonce"] === "n1"
      ? answer({ token_type: "DPoP" })
      : { status: 400, headers: { "dpop-nonce": "n1" }, body: { error: "use_dpop_nonce" } };

  it("a proof is sent, and the token is bound", async () => {
    server.scripts = { "/token": answer({ token_type: "DPoP" }) };
    expect((await refresh({ dpopKey: await createDpopKey() })).type).toBe("DPoP");
    expect(claimsOf(server.requests[0])).toMatchObject({ htm: "POST", htu: `${server.url}/token` });
  });

  it("a server that does not bind tokens gives a Bearer token", async () => {
    server.scripts = { "/token": answer({}) };
    expect((await refresh({ dpopKey: await createDpopKey() })).type).toBe("Bearer");
  });

  it("a wanted nonce is sent in one repetition with a new proof", async () => {
    server.scripts = { "/token": wantsNonce };
    expect((await refresh({ dpopKey: await createDpopKey() })).type).toBe("DPoP");
    const [one, two] = server.requests.map(claimsOf);
    expect([one?.["nonce"], two?.["nonce"]]).toEqual([undefined, "n1"]);
    expect(one?.["jti"]).not.toBe(two?.["jti"]);
  });

  it("a nonce that is never right ends after one repetition, and without a key there is none", async () => {
    const script: Script = { status: 400, headers: { "dpop-nonce": "n2" }, body: { error: "use_dpop_nonce" } };
    server.scripts = { "/token": script };
    const failure = await failureOf(refresh({ dpopKey: await createDpopKey() }));
    expect(failure).toEqual({ type: "refused", code: "use_dpop_nonce" });
    expect(server.requests).toHaveLength(2);
    expect(await failureOf(refresh())).toEqual(failure);
    expect(server.requests).toHaveLength(3);
  });
});
