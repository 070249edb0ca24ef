import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ScriptedServer, type Script } from "../../../test/support/oauth/scripted-server.ts";
import type { HubError } from "../errors.ts";
import {
  AuthorizationRefused,
  checkCallback,
  createAuthorizationRequest,
  type AuthorizationOptions,
} from "./authorize.ts";
import { createDpopKey, dpopThumbprint } from "./dpop.ts";
import { createGuardedFetch } from "./fetch/guarded-fetch.ts";
import type { AuthorizationServerMetadata, OAuthClient } from "./types.ts";

const ISSUER = "https://as.example.com";
const REDIRECT = "http://localhost:8080/oauth/callback";
const S256 = { code_challenge_methods_supported: ["S256"] };

function options(
  metadata: Partial<AuthorizationServerMetadata> = S256,
  more: Partial<AuthorizationOptions> = {},
): AuthorizationOptions {
  const client: OAuthClient = { id: "client", method: "none", how: "configured", issuer: ISSUER };
  return {
    discovery: {
      issuer: ISSUER,
      metadata: { issuer: ISSUER, authorization_endpoint: `${ISSUER}/authorize`, ...metadata },
      resource: undefined,
      resourceScopes: undefined,
      dpopRequired: false,
      isFallback: false,
    },
    client,
    redirectUri: REDIRECT,
    scopes: [],
    resource: undefined,
    fetch: () => Promise.reject(new Error("no request is expected")),
    ...more,
  };
}

const failure = (given: AuthorizationOptions): Promise<HubError> =>
  createAuthorizationRequest(given).then(
    ({ url }) => Promise.reject(new Error(`made ${url}`)),
    (error: HubError) => error,
  );
const queryOf = (url: string) => Object.fromEntries(new URL(url).searchParams);

describe("AU-1 an authorization request", () => {
  it("has a state, a challenge of its verifier, the resource and the scopes", async () => {
    const resource = "https://mcp.example.com/mcp";
    const request = await createAuthorizationRequest(options(S256, { scopes: ["a", "b"], resource }));
    expect(queryOf(request.url)).toEqual({
      response_type: "code",
      client_id: "client",
      redirect_uri: REDIRECT,
      state: request.state,
      code_challenge: createHash("sha256").update(request.verifier).digest("base64url"),
      code_challenge_method: "S256",
      scope: "a b",
      resource,
    });
    expect(request).toMatchObject({ redirectUri: REDIRECT, scopes: ["a", "b"], issuer: ISSUER, resource });
    expect(request.nonce).toBeUndefined();
    for (const value of [request.state, request.verifier]) expect(Buffer.from(value, "base64url")).toHaveLength(32);
  });

  it("has no scope and no resource where there is none, and nothing twice", async () => {
    const [one, two] = [await createAuthorizationRequest(options()), await createAuthorizationRequest(options())];
    expect(Object.keys(queryOf(one.url))).not.toContain("scope");
    expect(Object.keys(queryOf(one.url))).not.toContain("resource");
    expect(new Set([one.state, one.verifier, two.state, two.verifier]).size).toBe(4);
  });

  it("has a nonce with openid, and asks for consent with offline_access", async () => {
    const scopes = ["openid", "offline_access"];
    const request = await createAuthorizationRequest(options(S256, { scopes }));
    expect(queryOf(request.url)).toMatchObject({ nonce: request.nonce, prompt: "consent" });
    expect(Buffer.from(request.nonce ?? "", "base64url")).toHaveLength(32);
  });

  it("keeps the query of the endpoint, but not in place of ours", async () => {
    const metadata = { ...S256, authorization_endpoint: `${ISSUER}/a?tenant=1&state=theirs&client_id=theirs` };
    const request = await createAuthorizationRequest(options(metadata));
    expect(queryOf(request.url)).toMatchObject({ tenant: "1", state: request.state, client_id: "client" });
    expect(new URL(request.url).searchParams.getAll("state")).toHaveLength(1);
  });

  it("uses the redirect URI with which the client was registered", async () => {
    const redirectUri = "http://127.0.0.1:8080/oauth/callback";
    const client = { ...options().client, how: "registered", redirectUri } as const;
    const request = await createAuthorizationRequest(options(S256, { client }));
    expect([request.redirectUri, queryOf(request.url)["redirect_uri"]]).toEqual([redirectUri, redirectUri]);
  });

  it("AU-2 binds the code to the key of DPoP", async () => {
    const dpopKey = await createDpopKey();
    const { url } = await createAuthorizationRequest(options(S256, { dpopKey }));
    expect(queryOf(url)["dpop_jkt"]).toBe(dpopThumbprint(dpopKey));
  });

  it.each([
    ["nothing", {}],
    ["an empty list", { code_challenge_methods_supported: [] }],
    ["plain", { code_challenge_methods_supported: ["plain"] }],
    ["another spelling", { code_challenge_methods_supported: ["s256"] }],
  ])("A05 is refused where the metadata advertises %s for PKCE", async (_name, metadata) => {
    expect(await failure(options(metadata))).toMatchObject({
      kind: "LoginRequired",
      hint: expect.stringContaining('"pkce": "assume"'),
    });
  });

  it("A05 is made with S256 where the operator says so, and where there is no metadata to say it", async () => {
    const assumed = await createAuthorizationRequest(options({}, { pkce: "assume" }));
    const { discovery } = options({});
    const byConvention = await createAuthorizationRequest(
      options({}, { discovery: { ...discovery, isFallback: true } }),
    );
    for (const { url } of [assumed, byConvention]) {
      expect(queryOf(url)).toMatchObject({ code_challenge_method: "S256" });
    }
  });

  it.each([
    "javascript:alert(1)",
    "file:///etc/passwd",
    "http://as.example.com/authorize",
    "--flag",
    "https://a b/",
    "https://user:pass@as.example.com/",
    `https://as.example.com/${"x".repeat(10_000)}`,
    "https://as.example.com/\u0007",
  ])("A08 is not made for %j", async (endpoint) => {
    expect((await failure(options({ ...S256, authorization_endpoint: endpoint }))).kind).toBe("UnsafeAddress");
  });

  it("A08 is not made if it becomes too long for a browser", async () => {
    expect((await failure(options(S256, { scopes: ["x".repeat(9000)] }))).kind).toBe("UnsafeAddress");
  });

  it("needs an authorization endpoint", async () => {
    const metadata = { ...S256, authorization_endpoint: undefined } as unknown as Partial<AuthorizationServerMetadata>;
    expect((await failure(options(metadata))).kind).toBe("ProtocolError");
  });
});

describe("AU-1 a pushed authorization request", () => {
  let server: ScriptedServer;
  beforeEach(async () => {
    server = await ScriptedServer.start();
  });
  afterEach(() => server.close());

  const pushed = (script: Script, client: Partial<OAuthClient> = {}) => {
    server.scripts = { "/par": script };
    const { discovery } = options({
      ...S256,
      require_pushed_authorization_requests: true,
      pushed_authorization_request_endpoint: `${server.url}/par`,
    });
    return options(S256, {
      discovery,
      scopes: ["a"],
      client: { ...options().client, ...client },
      fetch: createGuardedFetch({ server: new URL(server.url) }),
    });
  };

  it("is made where the authorization server requires it, with the client's credentials", async () => {
    const given = pushed(
      { status: 201, body: { request_uri: "urn:example:1", expires_in: 60 } },
      { method: "client_secret_basic", secret: "s" },
    );
    const request = await createAuthorizationRequest(given);
    expect(queryOf(request.url)).toEqual({ client_id: "client", request_uri: "urn:example:1" });
    expect(server.requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from("client:s").toString("base64")}`);
    expect(Object.fromEntries(server.requests[0]?.form ?? [])).toMatchObject({
      response_type: "code",
      client_id: "client",
      state: request.state,
      scope: "a",
      code_challenge_method: "S256",
    });
  });

  it.each<[string, Script, object]>([
    [
      "a refusal",
      { status: 400, body: { error: "invalid_scope", error_description: "no a" } },
      { kind: "LoginFailed" },
    ],
    ["a failure", { status: 503 }, { kind: "ConnectionFailed" }],
    ["an answer without a reference", { status: 201, body: {} }, { kind: "ConnectionFailed" }],
  ])("ends with %s", async (_name, script, expected) => {
    expect(await failure(pushed(script))).toMatchObject(expected);
  });

  it("needs its endpoint", async () => {
    const given = options({ ...S256, require_pushed_authorization_requests: true });
    expect((await failure(given)).kind).toBe("ProtocolError");
  });
});

describe("A03 the issuer of a callback", () => {
  const check = (query: string, advertised: boolean, issuer = ISSUER) => {
    const metadata = { issuer, authorization_response_iss_parameter_supported: advertised };
    const request = { state: "the-state", issuer };
    return checkCallback(new URL(`${REDIRECT}?state=the-state&${query}`), request, { metadata });
  };

  it.each([
    // advertised, iss, issuer
    [true, ISSUER, ISSUER],
    [false, ISSUER, ISSUER],
    [false, undefined, ISSUER],
    [true, `${ISSUER}/`, `${ISSUER}/`],
  ])("advertised: %s, iss: %s, issuer: %s: goes on", (advertised, iss, issuer) => {
    const query = iss === undefined ? "code=c" : `code=c&iss=${encodeURIComponent(iss)}`;
    expect(check(query, advertised, issuer)).toEqual({ code: "c" });
  });

  it.each([
    [true, undefined],
    [true, ""],
    [false, ""],
    [true, "https://evil.example.com"],
    [false, "https://evil.example.com"],
    [true, `${ISSUER}/`],
    [false, `${ISSUER}/`],
    [true, "https://AS.example.com"],
    [false, "https://as.example.com:443"],
    [true, `${ISSUER}/tenant`],
  ])("advertised: %s, iss: %s: is refused, and nothing of it is shown", (advertised, iss) => {
    const query = iss === undefined ? "" : `&iss=${encodeURIComponent(iss)}`;
    for (const outcome of ["code=stolen", "error=access_denied&error_description=stolen"]) {
      expect(() => check(outcome + query, advertised)).toThrow(
        expect.objectContaining({ kind: "LoginFailed", message: "The answer does not belong to the login" }),
      );
      try {
        check(outcome + query, advertised);
      } catch (error) {
        expect(JSON.stringify(error)).not.toMatch(/stolen|access_denied/);
        expect(error).not.toBeInstanceOf(AuthorizationRefused);
      }
    }
  });
});

describe("AU-1 a callback", () => {
  const check = (query: string) =>
    checkCallback(
      new URL(`${REDIRECT}?${query}`),
      { state: "the-state", issuer: ISSUER },
      { metadata: { issuer: ISSUER } },
    );
  const thrownBy = (query: string): unknown => {
    try {
      return check(query);
    } catch (error) {
      return error;
    }
  };

  it.each([
    ["", "no state"],
    ["code=c", "no state"],
    ["code=c&state=", "an empty state"],
    ["code=c&state=the-stat", "another state"],
    ["code=c&state=THE-STATE", "another state"],
    ["code=c&state=the-state&state=the-state", "a state twice"],
    ["code=c&code=d&state=the-state", "a code twice"],
    ["state=the-state", "no code"],
    ["state=the-state&code=", "an empty code"],
    ["error=e&error=f&state=the-state", "an error twice"],
  ])("%j with %s belongs to no login", (query) => {
    expect(thrownBy(query)).toMatchObject({ kind: "LoginFailed", message: "The answer does not belong to the login" });
  });

  it.each([
    ["access_denied", "The login was declined"],
    ["invalid_scope", "The authorization server does not grant the requested scopes"],
    ["something_new", "The authorization server refused the login"],
  ])("with the error %s says: %s", (code, message) => {
    const error = thrownBy(`state=the-state&error=${code}&error_description=a%0Ab%E2%80%AE${"x".repeat(300)}`);
    expect(error).toBeInstanceOf(AuthorizationRefused);
    expect(error).toMatchObject({ kind: "LoginFailed", message, failure: { type: "refused", code } });
    const { detail = "" } = error as HubError;
    expect(detail.startsWith(`${code}: a b\\u202ex`)).toBe(true);
    expect(detail.length).toBe(code.length + 2 + 200);
  });
});
