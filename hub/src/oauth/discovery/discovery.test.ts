import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ScriptedServer, type Script, type Scripts } from "../../../../test/support/oauth/scripted-server.ts";
import type { HubError } from "../../errors.ts";
import { discover, discoverIssuer, type DiscoverOptions } from "./discovery.ts";
import { createGuardedFetch } from "../fetch/guarded-fetch.ts";
import type { Challenge, Discovery } from "../types.ts";

const PRM = "/.well-known/oauth-protected-resource";
const OAUTH = "/.well-known/oauth-authorization-server";
const OPENID = "/.well-known/openid-configuration";

/** The protected server, and its authorization server. */
let server: ScriptedServer;
let issuer: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.start();
  issuer = await ScriptedServer.start();
});
afterEach(() => Promise.all([server.close(), issuer.close()]));

const prm = (more: object = {}) => ({
  body: { resource: `${server.url}/mcp`, authorization_servers: [issuer.url], ...more },
});
const metadata = (name = issuer.url, more: object = {}) => ({
  body: {
    issuer: name,
    authorization_endpoint: `${issuer.url}/authorize`,
    token_endpoint: `${issuer.url}/token`,
    code_challenge_methods_supported: ["S256"],
    ...more,
  },
});

function run(more: Partial<DiscoverOptions> = {}): Promise<Discovery> {
  const url = more.server ?? new URL(`${server.url}/mcp`);
  return discover({ server: url, challenge: undefined, fetch: createGuardedFetch({ server: url }), ...more });
}

function failure(more: Partial<DiscoverOptions> = {}): Promise<HubError> {
  return run(more).then(
    () => Promise.reject(new Error("found something")),
    (error: HubError) => error,
  );
}

const challenge = (resourceMetadata: string): Challenge => ({ scheme: "Bearer", resourceMetadata });

describe("AU-1 where the server's metadata is looked for", () => {
  beforeEach(() => {
    issuer.scripts = { [OAUTH]: metadata() };
  });

  it("at the address in the challenge, and nowhere else", async () => {
    server.scripts = { "/custom/prm": prm(), [PRM]: prm({ authorization_servers: ["https://other.example"] }) };
    const found = await run({ challenge: challenge(`${server.url}/custom/prm`) });
    expect(found).toMatchObject({ issuer: issuer.url, resource: `${server.url}/mcp`, isFallback: false });
    expect(server.paths).toEqual(["/custom/prm"]);
    expect(server.requests[0]?.headers).toMatchObject({
      accept: "application/json",
      "mcp-protocol-version": "2026-07-28",
    });
  });

  it.each([
    ["/mcp", [`${PRM}/mcp`], [`${PRM}/mcp`]],
    ["/mcp", [PRM], [`${PRM}/mcp`, PRM]],
    ["/a/b?tenant=1", [`${PRM}/a/b`], [`${PRM}/a/b?tenant=1`]],
    ["/", [PRM], [PRM]],
  ])("of %s without a challenge, if it is at %j: %j", async (path, places, asked) => {
    server.scripts = Object.fromEntries(places.map((place) => [place, prm({ resource: server.url })]));
    expect((await run({ server: new URL(server.url + path) })).issuer).toBe(issuer.url);
    expect(server.paths).toEqual(asked);
  });

  it.each([404, 405, 401, 403, 410])("status %i means that it is not there", async (status) => {
    server.scripts = { [`${PRM}/mcp`]: { status }, [PRM]: prm() };
    expect((await run()).issuer).toBe(issuer.url);
  });

  const UNREADABLE: readonly (readonly [string, Script, string])[] = [
    ["500", { status: 500 }, "ConnectionFailed"],
    ["503", { status: 503 }, "ConnectionFailed"],
    ["400", { status: 400 }, "ConnectionFailed"],
    ["429", { status: 429 }, "ConnectionFailed"],
    ["204", { status: 204 }, "ConnectionFailed"],
    ["HTML", { body: "<html></html>" }, "ConnectionFailed"],
    ["a JSON list", { body: [] }, "ConnectionFailed"],
    ["an empty body", { body: "" }, "ConnectionFailed"],
    ["a redirect elsewhere", { status: 302, headers: { location: "https://example.com/" } }, "ConnectionFailed"],
    ["a broken connection", "reset", "ConnectionFailed"],
    ["a body of 70 KB", { body: " ".repeat(70_000) }, "ProtocolError"],
  ];

  it.each(UNREADABLE)("A33 %s is an error, and no reason to go on elsewhere", async (_name, script, kind) => {
    server.scripts = { [`${PRM}/mcp`]: script, [PRM]: prm(), [OAUTH]: metadata(server.url) };
    expect((await failure()).kind).toBe(kind);
    expect(server.paths).toEqual([`${PRM}/mcp`]);
    expect(issuer.paths).toEqual([]);
  });

  it("A33 no answer is an error, and no reason to go on elsewhere", async () => {
    server.scripts = { [`${PRM}/mcp`]: "hang", [PRM]: prm() };
    const fetch = createGuardedFetch({ server: new URL(server.url) });
    const hasty = { fetch: ((url, init) => fetch(url, { ...init, timeoutMs: 100 })) as typeof fetch };
    expect((await failure(hasty)).kind).toBe("Timeout");
    expect(server.paths).toEqual([`${PRM}/mcp`]);
  });

  it("A33 a document that the challenge names but is not there is an error", async () => {
    server.scripts = { [PRM]: prm(), [OAUTH]: metadata(server.url) };
    expect((await failure({ challenge: challenge(`${server.url}/gone`) })).kind).toBe("ConnectionFailed");
    expect((await failure({ challenge: challenge("no address") })).kind).toBe("ProtocolError");
    expect(server.paths).toEqual(["/gone"]);
  });
});

describe("A10 the resource that the server's metadata is about", () => {
  beforeEach(() => {
    issuer.scripts = { [OAUTH]: metadata() };
  });

  it.each([
    ["/mcp", "/mcp"],
    ["/mcp", "/mcp/"],
    ["/mcp/", "/mcp"],
    ["/mcp", ""],
    ["/mcp", "/"],
    ["/a/b/c", "/a/b"],
    ["/mcp?tenant=1", "/mcp?tenant=1"],
    ["/mcp?tenant=1", "/mcp"],
  ])("a server at %s may be called %j, and that is kept as it is", async (path, name) => {
    const resource = server.url + name;
    server.scripts = { [PRM]: prm({ resource }) };
    expect((await run({ server: new URL(server.url + path) })).resource).toBe(resource);
  });

  it.each([
    ["/mcp", "/mcp2"],
    ["/mcp2", "/mcp"],
    ["/mcp", "/mcp/deeper"],
    ["/mcp", "/other"],
    ["/mcp", "/%6dcp"],
    ["/mcp", "/mcp#fragment"],
    ["/mcp", "/mcp#"],
    ["/mcp", "/mcp?tenant=2"],
  ])("a server at %s cannot be called %s", async (path, name) => {
    server.scripts = { [PRM]: prm({ resource: server.url + name }) };
    expect(await failure({ server: new URL(server.url + path) })).toMatchObject({
      kind: "ProtocolError",
      message: "The server's metadata is about another resource",
    });
    expect(issuer.paths).toEqual([]);
  });

  it.each([["https://evil.example/mcp"], ["//evil.example/mcp"], [""], [undefined], [7], ["urn:x"]])(
    "%j is another resource",
    async (resource) => {
      server.scripts = { [PRM]: prm({ resource }) };
      expect((await failure()).kind).toBe("ProtocolError");
    },
  );

  it("another port is another resource", async () => {
    server.scripts = { [PRM]: prm({ resource: `${issuer.url}/mcp` }) };
    expect((await failure()).kind).toBe("ProtocolError");
  });
});

describe("AU-1 the authorization server's metadata", () => {
  /** The issuer path, the location of its document, and the requested paths. */
  it.each([
    ["", OAUTH, [OAUTH]],
    ["", OPENID, [OAUTH, OPENID]],
    ["/", OAUTH, [OAUTH]],
    ["/tenant1", `${OAUTH}/tenant1`, [`${OAUTH}/tenant1`]],
    ["/tenant1", `${OPENID}/tenant1`, [`${OAUTH}/tenant1`, `${OPENID}/tenant1`]],
    ["/tenant1", `/tenant1${OPENID}`, [`${OAUTH}/tenant1`, `${OPENID}/tenant1`, `/tenant1${OPENID}`]],
    ["/a/b/", `/a/b${OPENID}`, [`${OAUTH}/a/b`, `${OPENID}/a/b`, `/a/b${OPENID}`]],
  ])("of an issuer with the path %j is at %s: %j", async (path, place, asked) => {
    const name = issuer.url + path;
    server.scripts = { [PRM]: prm({ authorization_servers: [name] }) };
    // The root document belongs to another issuer, and is not requested if there is a path.
    issuer.scripts = { ...(path.length > 1 ? { [OAUTH]: metadata() } : {}), [place]: metadata(name) };
    expect((await run()).issuer).toBe(name);
    expect(issuer.paths).toEqual(asked);
  });

  it.each([
    ["another host", "https://evil.example"],
    ["a slash", "/"],
    ["a path", "/tenant"],
  ])("A09 an issuer that differs by %s ends the search", async (_name, other) => {
    server.scripts = { [PRM]: prm() };
    const name = other.startsWith("/") ? issuer.url + other : other;
    issuer.scripts = { [OAUTH]: metadata(name), [OPENID]: metadata() };
    expect(await failure()).toMatchObject({
      kind: "ProtocolError",
      message: "The authorization server's metadata is of another issuer",
    });
    expect(issuer.paths).toEqual([OAUTH]);
  });

  it("A09 an issuer is compared as text, with its slash at the end", async () => {
    const name = `${issuer.url}/`;
    server.scripts = { [PRM]: prm({ authorization_servers: [name] }) };
    issuer.scripts = { [OAUTH]: metadata(name) };
    expect((await run()).issuer).toBe(name);
  });

  it.each([["500", { status: 500 }] as const, ["broken JSON", { body: "{" }] as const, ["a reset", "reset"] as const])(
    "A33 %s is an error, and no other place or issuer is asked",
    async (_name, script) => {
      server.scripts = { [PRM]: prm({ authorization_servers: [issuer.url, server.url] }) };
      issuer.scripts = { [OAUTH]: script, [OPENID]: metadata() };
      expect((await failure()).kind).toBe("ConnectionFailed");
      expect(issuer.paths).toEqual([OAUTH]);
      expect(server.paths).not.toContain(OAUTH);
    },
  );

  it("A33 if there is none, nothing is guessed", async () => {
    server.scripts = { [PRM]: prm() };
    expect((await failure()).kind).toBe("ProtocolError");
    expect(server.paths).toEqual([`${PRM}/mcp`, PRM]);
  });

  it("is that of the first listed issuer that has one", async () => {
    server.scripts = { [PRM]: prm({ authorization_servers: [`${issuer.url}/none`, issuer.url] }) };
    issuer.scripts = { [OAUTH]: metadata() };
    expect((await run()).issuer).toBe(issuer.url);
  });

  it("A09 is that of the configured issuer, which the server must name", async () => {
    server.scripts = { [PRM]: prm({ authorization_servers: [`${issuer.url}/first`, issuer.url] }) };
    issuer.scripts = { [OAUTH]: metadata(), [`${OAUTH}/first`]: metadata(`${issuer.url}/first`) };
    expect((await run({ issuer: issuer.url })).issuer).toBe(issuer.url);
    const error = await failure({ issuer: "https://other.example" });
    expect(error).toMatchObject({ kind: "ProtocolError", detail: expect.stringContaining(`${issuer.url}/first`) });
    expect(error.message).toContain("https://other.example");
  });

  it.each([[undefined], [[]], ["text"], [[7]]])("the server must name one: %j is none", async (servers) => {
    server.scripts = { [PRM]: prm({ authorization_servers: servers }) };
    expect((await failure()).message).toBe("The server's metadata names no authorization server");
  });

  it.each([
    "authorization_endpoint",
    "token_endpoint",
    "registration_endpoint",
    "revocation_endpoint",
    "pushed_authorization_request_endpoint",
    "device_authorization_endpoint",
  ])("A08 %s must be https, or http on this machine", async (name) => {
    server.scripts = { [PRM]: prm() };
    for (const address of ["http://as.example.com/", "javascript:alert(1)", "file:///etc/passwd", "--flag", 7]) {
      issuer.scripts = { [OAUTH]: metadata(issuer.url, { [name]: address }) };
      expect(await failure()).toMatchObject({ kind: "UnsafeAddress", message: expect.stringContaining(name) });
    }
  });

  it.each(["http://as.example.com", "file:///etc", "https://u:p@as.example.com", "https://as.example.com/?x", "no"])(
    "A08 the issuer %s is not asked",
    async (name) => {
      server.scripts = { [PRM]: prm({ authorization_servers: [name] }) };
      expect(["UnsafeAddress", "ProtocolError"]).toContain((await failure()).kind);
    },
  );

  it("scopes and DPoP of the server are told", async () => {
    issuer.scripts = { [OAUTH]: metadata() };
    server.scripts = { [PRM]: prm({ scopes_supported: ["a", "b", 7], dpop_bound_access_tokens_required: true }) };
    expect(await run()).toMatchObject({ resourceScopes: ["a", "b"], dpopRequired: true });
    server.scripts = { [PRM]: prm() };
    expect(await run()).toMatchObject({ resourceScopes: undefined, dpopRequired: false });
    expect(await run({ challenge: { scheme: "DPoP" } })).toMatchObject({ dpopRequired: true });
  });
});

describe("AU-1 servers without metadata of their own (2025-03-26)", () => {
  it.each(["", "/"])("have that of an authorization server at their root, with %j after the origin", async (slash) => {
    server.scripts = { [OAUTH]: metadata(server.url + slash) };
    expect(await run()).toMatchObject({
      issuer: server.url + slash,
      resource: undefined,
      isFallback: false,
      metadata: { token_endpoint: `${issuer.url}/token` },
    });
    expect(server.paths).toEqual([`${PRM}/mcp`, PRM, OAUTH]);
  });

  it("or endpoints by convention", async () => {
    expect(await run()).toEqual({
      issuer: server.url,
      metadata: {
        issuer: server.url,
        authorization_endpoint: `${server.url}/authorize`,
        token_endpoint: `${server.url}/token`,
        registration_endpoint: `${server.url}/register`,
      },
      resource: undefined,
      resourceScopes: undefined,
      dpopRequired: false,
      isFallback: true,
    });
  });

  it("A09 but no metadata of another issuer", async () => {
    server.scripts = { [OAUTH]: metadata("https://evil.example") };
    expect((await failure()).kind).toBe("ProtocolError");
  });

  it("A33 and no convention where the metadata cannot be read", async () => {
    server.scripts = { [OAUTH]: { status: 500 } };
    expect((await failure()).kind).toBe("ConnectionFailed");
  });

  it("or the configured issuer", async () => {
    issuer.scripts = { [OAUTH]: metadata() };
    expect(await run({ issuer: issuer.url })).toMatchObject({ issuer: issuer.url, resource: undefined });
  });
});

describe("configured endpoints", () => {
  const endpoints = () => ({ authorizationUrl: `${issuer.url}/auth`, tokenUrl: `${issuer.url}/tok` });

  it("are used without metadata of the authorization server", async () => {
    server.scripts = { [PRM]: prm({ authorization_servers: [`${issuer.url}/x`] }) };
    expect(await run({ endpoints: endpoints() })).toMatchObject({
      issuer: `${issuer.url}/x`,
      metadata: { authorization_endpoint: `${issuer.url}/auth`, token_endpoint: `${issuer.url}/tok` },
      isFallback: true,
    });
    expect(issuer.paths).toEqual([]);
    const without = await run({ endpoints: endpoints(), server: new URL(`${issuer.url}/mcp`) });
    expect(without.issuer).toBe(issuer.url);
  });

  it("A08 must be safe too", async () => {
    const unsafe = { ...endpoints(), authorizationUrl: "http://as.example.com/" };
    expect((await failure({ endpoints: unsafe })).kind).toBe("UnsafeAddress");
  });
});

describe("an issuer that the config names", () => {
  const ofIssuer = (tokenUrl?: string) =>
    discoverIssuer({ issuer: issuer.url, tokenUrl, fetch: createGuardedFetch({ server: new URL(server.url) }) });

  it("has metadata, or a configured token endpoint", async () => {
    const scripts: Scripts = { [OPENID]: metadata() };
    issuer.scripts = scripts;
    expect((await ofIssuer()).metadata.token_endpoint).toBe(`${issuer.url}/token`);
    issuer.scripts = {};
    await expect(ofIssuer()).rejects.toMatchObject({ kind: "ProtocolError" });
    expect((await ofIssuer(`${issuer.url}/t`)).metadata).toEqual({
      issuer: issuer.url,
      token_endpoint: `${issuer.url}/t`,
    });
  });
});
