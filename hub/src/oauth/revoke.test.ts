import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ScriptedServer, type Script } from "../../../test/support/oauth/scripted-server.ts";
import { createGuardedFetch } from "./fetch/guarded-fetch.ts";
import { revokeTokens } from "./revoke.ts";
import type { TokenEndpoint } from "./types.ts";

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
});
afterEach(() => server.close());

function endpoint(isOffered = true): TokenEndpoint {
  const offered = isOffered ? { revocation_endpoint: `${server.url}/revoke` } : {};
  return {
    discovery: { issuer: server.url, metadata: { issuer: server.url, ...offered } },
    client: { id: "client", secret: "s", method: "client_secret_post", how: "configured", issuer: server.url },
    fetch: createGuardedFetch({ server: new URL(server.url) }),
    resource: undefined,
  };
}

const TOKENS = { access: "access-token", refresh: "refresh-token" };

describe("AU-1 logout revokes tokens", () => {
  it.each<[string, Script]>([
    ["an empty body", { body: "" }],
    ["JSON", { body: {} }],
  ])("the refresh token first, at servers that answer with %s", async (_name, script) => {
    server.scripts = { "/revoke": script };
    expect(await revokeTokens(endpoint(), TOKENS)).toBe(true);
    const common = { client_id: "client", client_secret: "s" };
    expect(server.requests.map(({ form }) => Object.fromEntries(form))).toEqual([
      { ...common, token: "refresh-token", token_type_hint: "refresh_token" },
      { ...common, token: "access-token", token_type_hint: "access_token" },
    ]);
  });

  it("the access token alone if there is no other", async () => {
    server.scripts = { "/revoke": { body: "" } };
    expect(await revokeTokens(endpoint(), { access: "access-token" })).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  it("or says that it is not offered", async () => {
    expect(await revokeTokens(endpoint(false), TOKENS)).toBe(false);
    expect(server.requests).toEqual([]);
  });

  it.each([
    ["access_token", TOKENS, true],
    ["refresh_token", TOKENS, true],
    ["access_token", { access: "access-token" }, false],
  ])("where a server cannot revoke an %s, it revokes the rest of %j: %s", async (kind, tokens, isRevoked) => {
    const unsupported = { status: 400, body: { error: "unsupported_token_type" } };
    server.scripts = { "/revoke": ({ form }) => (form.get("token_type_hint") === kind ? unsupported : { body: "" }) };
    expect(await revokeTokens(endpoint(), tokens)).toBe(isRevoked);
  });

  it("an access token that ended with its refresh token counts as revoked", async () => {
    const ended = { status: 400, body: { error: "invalid_token", error_description: "Invalid token" } };
    server.scripts = { "/revoke": ({ form }) => (form.get("token") === TOKENS.access ? ended : { body: "" }) };
    expect(await revokeTokens(endpoint(), TOKENS)).toBe(true);
  });

  it.each<["client_secret_basic" | "none", string]>([
    ["client_secret_basic", "s"],
    ["none", ""],
  ])("a server that wants a secret in the body gets it, of a client by %s", async (method, secret) => {
    const missing = {
      status: 400,
      body: { error: "invalid_request", error_description: "client_secret: Field required" },
    };
    server.scripts = { "/revoke": ({ form }) => (form.has("client_secret") ? { body: "" } : missing) };
    const { secret: _secret, ...client } = endpoint().client;
    const given = { ...client, method, ...(method === "none" ? {} : { secret: "s" }) };
    expect(await revokeTokens({ ...endpoint(), client: given }, { access: "access-token" })).toBe(true);
    expect(server.requests.map(({ form }) => form.get("client_secret"))).toEqual([null, secret]);
  });

  it.each<[string, Script, string]>([
    [
      "a refusal",
      { status: 400, body: { error: "invalid_client", error_description: "no access-token" } },
      "LoginFailed",
    ],
    ["a failure", { status: 503, body: "" }, "ConnectionFailed"],
    ["a broken connection", "reset", "ConnectionFailed"],
  ])("T12 and tries both before it reports %s, without quoting a token", async (_name, script, kind) => {
    server.scripts = { "/revoke": (request) => (request.body.includes("refresh-token") ? script : { body: "" }) };
    const error: unknown = await revokeTokens(endpoint(), TOKENS).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind });
    expect(JSON.stringify(error)).not.toContain("refresh-token");
    expect(server.requests).toHaveLength(2);
  });
});
