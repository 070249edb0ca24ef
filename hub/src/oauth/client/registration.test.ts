import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ScriptedServer, type Script } from "../../../../test/support/oauth/scripted-server.ts";
import type { HubError } from "../../errors.ts";
import { createGuardedFetch } from "../fetch/guarded-fetch.ts";
import { deleteRegistration, obtainClient, type ObtainClientOptions } from "./registration.ts";
import type { AuthorizationServerMetadata, OAuthClient } from "../types.ts";

const REDIRECT = "http://localhost:8080/oauth/callback";
const BY_ADDRESS = "http://127.0.0.1:8080/oauth/callback";
const DOCUMENT = "https://hub.example/oauth/client.json";
const DAY_MS = 86_400_000;

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
});
afterEach(() => server.close());

function options(
  metadata: Partial<AuthorizationServerMetadata> = {},
  more: Partial<ObtainClientOptions> = {},
): ObtainClientOptions {
  return {
    discovery: {
      issuer: server.url,
      metadata: { issuer: server.url, registration_endpoint: `${server.url}/register`, ...metadata },
      resource: undefined,
      resourceScopes: undefined,
      dpopRequired: false,
      isFallback: false,
    },
    redirectUri: REDIRECT,
    fetch: createGuardedFetch({ server: new URL(server.url) }),
    ...more,
  };
}

const failure = (given: ObtainClientOptions): Promise<HubError> =>
  obtainClient(given).then(
    (client) => Promise.reject(new Error(`got ${client.id}`)),
    (error: HubError) => error,
  );
const sent = (index = 0): Record<string, unknown> =>
  JSON.parse(server.requests[index]?.body ?? "") as Record<string, unknown>;
const withoutRegistration = { registration_endpoint: undefined } as unknown as Partial<AuthorizationServerMetadata>;

describe("AU-1 who the hub is at an authorization server", () => {
  it("a configured client comes before all others", async () => {
    const configured = { id: "mine", secret: "s3cret" };
    const metadata = { client_id_metadata_document_supported: true };
    expect(await obtainClient(options(metadata, { configured, clientMetadataUrl: DOCUMENT }))).toEqual({
      id: "mine",
      secret: "s3cret",
      method: "client_secret_basic",
      how: "configured",
      issuer: server.url,
    });
    expect(server.paths).toEqual([]);
  });

  it.each([
    // secret, key, configured method, listed methods
    [undefined, undefined, undefined, undefined, "none"],
    ["s", undefined, undefined, undefined, "client_secret_basic"],
    ["s", undefined, undefined, ["client_secret_post", "client_secret_basic"], "client_secret_basic"],
    ["s", undefined, undefined, ["client_secret_post"], "client_secret_post"],
    ["s", undefined, undefined, ["private_key_jwt"], "client_secret_basic"],
    ["s", undefined, "client_secret_post", ["client_secret_basic"], "client_secret_post"],
    [undefined, { text: "PEM" }, undefined, undefined, "private_key_jwt"],
  ] as const)("with secret %j, key %j, method %j of %j it authenticates by %s", async (...row) => {
    const [secret, key, method, listed, expected] = row;
    const metadata = listed === undefined ? {} : { token_endpoint_auth_methods_supported: [...listed] };
    const client = await obtainClient(options(metadata, { configured: { id: "mine", secret, key, method } }));
    expect(client.method).toBe(expected);
  });

  it("A09 a configured client is not used at another issuer than before", async () => {
    const known: OAuthClient = { id: "mine", method: "none", how: "configured", issuer: "https://old.example" };
    const error = await failure(options({}, { configured: { id: "mine" }, known }));
    expect(error).toMatchObject({ kind: "LoginFailed", detail: expect.stringContaining("https://old.example") });
    expect((await obtainClient(options({}, { configured: { id: "new" }, known }))).id).toBe("new");
  });

  it("a client metadata document comes next, where the authorization server takes one", async () => {
    const metadata = { client_id_metadata_document_supported: true };
    expect(await obtainClient(options(metadata, { clientMetadataUrl: DOCUMENT }))).toEqual({
      id: DOCUMENT,
      method: "none",
      how: "metadata_document",
      issuer: server.url,
    });
    server.scripts = { "/register": { status: 201, body: { client_id: "dyn" } } };
    expect((await obtainClient(options({}, { clientMetadataUrl: DOCUMENT }))).id).toBe("dyn");
    const local = { clientMetadataUrl: "http://localhost/client.json" };
    expect((await obtainClient(options(metadata, local))).id).toBe("dyn");
  });

  it("without registration, a client id is asked for, with the redirect URI to enter", async () => {
    const error = await failure(options(withoutRegistration));
    expect(error).toMatchObject({ kind: "ClientIdRequired", hint: expect.stringContaining(REDIRECT) });
    expect(error.hint).toContain("--client-id");
  });
});

describe("AU-1 dynamic registration", () => {
  it.each([
    [REDIRECT, "native"],
    ["https://hub.example/oauth/callback", "web"],
  ])("for %s is that of a %s application", async (redirectUri, type) => {
    server.scripts = { "/register": { status: 201, body: { client_id: "dyn" } } };
    await obtainClient(options({}, { redirectUri, scope: "a b", softwareVersion: "1.2.3" }));
    expect(server.requests[0]).toMatchObject({ method: "POST", headers: { "content-type": "application/json" } });
    expect(sent()).toEqual({
      client_name: "Plugboard",
      redirect_uris: [redirectUri],
      application_type: type,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "client_secret_basic",
      scope: "a b",
      software_id: "plugboard",
      software_version: "1.2.3",
    });
  });

  it.each([
    [undefined, "client_secret_basic"],
    [["client_secret_post", "none"], "none"],
    [["client_secret_post", "client_secret_basic"], "client_secret_basic"],
    [["client_secret_post"], "client_secret_post"],
    [["tls_client_auth"], "client_secret_basic"],
  ])("of the listed methods %j asks for %s", async (listed, expected) => {
    server.scripts = { "/register": { body: { client_id: "dyn" } } };
    await obtainClient(options(listed === undefined ? {} : { token_endpoint_auth_methods_supported: listed }));
    expect(sent()["token_endpoint_auth_method"]).toBe(expected);
  });

  it.each([
    [200, { client_id: "dyn" }, { method: "none" }],
    [201, { client_id: "dyn", client_secret: "s" }, { method: "client_secret_basic", secret: "s" }],
    [
      201,
      { client_id: "dyn", client_secret: "s", token_endpoint_auth_method: "client_secret_post" },
      { method: "client_secret_post", secret: "s" },
    ],
    [
      201,
      { client_id: "dyn", client_secret: "s", token_endpoint_auth_method: "none" },
      { method: "none", secret: "s" },
    ],
    [201, { client_id: "dyn", token_endpoint_auth_method: "client_secret_basic" }, { method: "none" }],
    [201, { client_id: "dyn", client_secret: "s", token_endpoint_auth_method: 7 }, { method: "client_secret_basic" }],
    [201, { client_id: "dyn", client_secret: "s", client_secret_expires_at: 0 }, { secret: "s" }],
    [201, { client_id: "dyn", client_secret: "s", client_secret_expires_at: 2e9 }, { secretExpiresAt: 2e12 }],
    [
      201,
      { client_id: "dyn", registration_client_uri: "https://as.example/r", registration_access_token: "t" },
      { management: { uri: "https://as.example/r", token: "t" } },
    ],
    [201, { client_id: "dyn", registration_client_uri: "file:///x", registration_access_token: "t" }, {}],
  ])("an answer %i %j gives %j", async (status, body, expected) => {
    server.scripts = { "/register": { status, body } };
    const client = await obtainClient(options());
    expect(client).toMatchObject({ id: "dyn", how: "registered", issuer: server.url, redirectUri: REDIRECT });
    expect(client).toMatchObject(expected);
    if (!("management" in expected)) expect(client.management).toBeUndefined();
    if (!("secretExpiresAt" in expected)) expect(client.secretExpiresAt).toBeUndefined();
  });

  it("is tried once more with an address if the name is refused", async () => {
    const refusal = { status: 400, body: { error: "invalid_redirect_uri" } };
    server.scripts = {
      "/register": ({ body }) => (body.includes("localhost") ? refusal : { status: 201, body: { client_id: "dyn" } }),
    };
    expect((await obtainClient(options())).redirectUri).toBe(BY_ADDRESS);
    expect(server.requests).toHaveLength(2);
    server.scripts = { "/register": refusal };
    expect((await failure(options())).kind).toBe("ClientIdRequired");
    expect(server.requests).toHaveLength(4);
    expect((await failure(options({}, { redirectUri: BY_ADDRESS }))).kind).toBe("ClientIdRequired");
    expect(server.requests).toHaveLength(5);
  });

  it("is tried once more without scopes if the authorization server does not know them", async () => {
    const refusal = { status: 400, body: { error: "invalid_client_metadata" } };
    server.scripts = {
      "/register": ({ body }) => (body.includes('"scope"') ? refusal : { status: 201, body: { client_id: "dyn" } }),
    };
    expect((await obtainClient(options({}, { scope: "read" }))).id).toBe("dyn");
    expect(server.requests).toHaveLength(2);
  });

  const REFUSALS: readonly (readonly [string, Script, string])[] = [
    [
      "403 with the server's words",
      { status: 403, body: { error: "insufficient_scope", error_description: "Policy 'Trusted Hosts' rejected" } },
      "insufficient_scope: Policy 'Trusted Hosts' rejected",
    ],
    ["401 without a body", { status: 401, body: "" }, "HTTP status 401"],
    ["404", { status: 404, body: "<html>" }, "HTTP status 404"],
    ["400 with an error", { status: 400, body: { error: "invalid_client_metadata" } }, "invalid_client_metadata"],
    ["an error with status 200", { status: 200, body: { error: "access_denied" } }, "access_denied"],
    [
      "hidden and long text",
      { status: 403, body: { error: "no", error_description: `a\u202e${"x".repeat(500)}` } },
      `no: a\\u202e${"x".repeat(192)}…`,
    ],
  ];

  it.each(REFUSALS)("%s means that a client id is needed", async (_name, script, detail) => {
    server.scripts = { "/register": script };
    expect(await failure(options())).toMatchObject({ kind: "ClientIdRequired", detail });
    expect(server.requests).toHaveLength(1);
  });

  const FAILURES: readonly (readonly [string, Script])[] = [
    ["503", { status: 503 }],
    ["429", { status: 429, body: { error: "too_many" } }],
    ["HTML", { body: "<html>" }],
    ["no client_id", { status: 201, body: {} }],
    ["a client_id that is no text", { status: 201, body: { client_id: 7 } }],
    ["a redirect", { status: 302, headers: { location: "/elsewhere" } }],
    ["a reset connection", "reset"],
  ];

  it.each(FAILURES)("%s is a failure, and no reason to ask for a client id", async (_name, script) => {
    server.scripts = { "/register": script };
    expect((await failure(options())).kind).toBe("ConnectionFailed");
    expect(server.paths).toEqual(["/register"]);
  });
});

describe("AU-1 an earlier registration", () => {
  const good = (): OAuthClient => ({
    id: "old",
    method: "none",
    how: "registered",
    issuer: server.url,
    redirectUri: REDIRECT,
  });

  it.each<[string, Partial<OAuthClient>, "old" | "new"]>([
    ["the same", {}, "old"],
    ["another issuer", { issuer: "https://old.example" }, "new"],
    ["another redirect URI", { redirectUri: "http://localhost:9999/oauth/callback" }, "new"],
    ["the redirect URI by address", { redirectUri: BY_ADDRESS }, "old"],
    ["a secret that lasts", { secret: "s", secretExpiresAt: Date.now() + 30 * DAY_MS }, "old"],
    ["a secret that expires within a week", { secret: "s", secretExpiresAt: Date.now() + 6 * DAY_MS }, "new"],
    ["a configured client", { how: "configured" }, "new"],
    ["a metadata document", { how: "metadata_document" }, "new"],
  ])("with %s", async (_name, changes, expected) => {
    server.scripts = { "/register": { body: { client_id: "new" } } };
    expect((await obtainClient(options({}, { known: { ...good(), ...changes } }))).id).toBe(expected);
    expect(server.requests).toHaveLength(expected === "old" ? 0 : 1);
  });

  it("can be deleted where the authorization server offers that", async () => {
    const fetch = createGuardedFetch({ server: new URL(server.url) });
    const client = { ...good(), management: { uri: `${server.url}/reg/old`, token: "manage-token" } };
    server.scripts = { "/reg/old": { status: 204 } };
    await deleteRegistration({ client, fetch });
    expect(server.requests[0]).toMatchObject({
      method: "DELETE",
      headers: { authorization: "Bearer manage-token" },
    });
    await deleteRegistration({ client: good(), fetch });
    expect(server.requests).toHaveLength(1);
    server.scripts = { "/reg/old": { status: 404 } };
    await deleteRegistration({ client, fetch });
    server.scripts = { "/reg/old": { status: 500 } };
    const error = await deleteRegistration({ client, fetch }).catch((thrown: HubError) => thrown);
    expect(error).toMatchObject({ kind: "ConnectionFailed" });
    expect(JSON.stringify(error)).not.toContain("manage-token");
  });
});
