// Tokens of identity providers against a real hub: metadata and challenges, what a token opens, how long, and where it does not go.

import { once } from "node:events";
import { request } from "node:http";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { makeHome, published, startHub, type RunningHub } from "../support/hub.ts";
import { startAuthorizationServer, type AuthorizationServer } from "../support/oauth/authorization-server.ts";
import { Front } from "../support/oauth/front.ts";
import { sdkLogin } from "../support/oauth/sdk-login.ts";
import { TokenIssuer } from "../support/oauth/token-issuer.ts";
import { startRemote, type Remote } from "../support/remote.ts";
import { answerOf, connect, http, modern, post } from "../support/rpc.ts";

let hub: RunningHub;
let provider: AuthorizationServer;
let issuer: TokenIssuer;
let closeIssuer: () => void;
/** Stands before a server of the hub, and sees all that the hub sends. */
let spy: Front;
let remote: Remote;

beforeAll(async () => {
  provider = await startAuthorizationServer();
  issuer = await TokenIssuer.create();
  closeIssuer = await issuer.listen();
  remote = await startRemote("legacy-http");
  spy = await Front.open([[/./, "other"]]);
  spy.serve(Number(remote.port));
  const servers = {
    memory: published("server-memory"),
    far: { url: `${spy.url}${new URL(remote.url).pathname}`, auth: false },
  };
  const home = await makeHome(servers, { dev: { servers: ["memory"] }, ops: { servers: ["far"] } });
  const introspection = { client_id: "hub", client_secret: "s3cret-of-introspection" };
  const roles = { claim: "roles" };
  const auth = {
    mcp: "required",
    issuers: [{ issuer: provider.issuer }, { issuer: issuer.url, introspection, roles }],
  };
  await writeFile(join(home.dir, "config/hub.json"), JSON.stringify({ auth }));
  hub = await startHub(home);
});

afterAll(async () => {
  await hub.stop();
  await hub.home.remove();
  await provider.close();
  await spy.close();
  await remote.stop();
  closeIssuer();
});

const url = (path: string) => `${hub.url}${path}`;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const tokenFor = async (path: string, claims: object = {}) => bearer(await issuer.token({ aud: url(path), ...claims }));
const list = (path: string, headers: Record<string, string>) => modern(url(path), "tools/list", {}, headers);
const metadataOf = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  http(url(`/.well-known/oauth-protected-resource${path}`), { method, headers });

describe("AU-4 metadata of what tokens are issued for", () => {
  it.each([
    ["/mcp", "mcp"],
    ["/mcp/dev", "mcp"],
    ["/groups/dev/mcp", "mcp"],
    ["/sse/dev", "mcp"],
    ["/mcp/@admin", "hub:admin"],
    ["/api/v1", "hub:operate"],
  ])("exists for %s", async (path, scope) => {
    const { status, headers, body } = await metadataOf(path);
    expect(status).toBe(200);
    expect(headers).toMatchObject({ "cache-control": "public, max-age=3600", "access-control-allow-origin": "*" });
    expect(JSON.parse(body)).toMatchObject({
      resource: url(path),
      authorization_servers: [provider.issuer, issuer.url],
      scopes_supported: [scope],
      bearer_methods_supported: ["header"],
    });
  });

  it("says nothing about which groups there are", async () => {
    const [known, unknown] = await Promise.all([metadataOf("/mcp/ops"), metadataOf("/mcp/xyz")]);
    expect(known.body.replaceAll("ops", "xyz")).toBe(unknown.body);
    expect(unknown.status).toBe(200);
    for (const path of ["", "/", "/mcp/", "/nothing", "/mcp/a/b", "/messages/dev"]) {
      expect((await metadataOf(path)).status).toBe(404);
    }
  });

  it("A30 can be read by pages of every origin, and believes no header about the hub's address", async () => {
    const lies = {
      origin: "https://inspector.example",
      "x-forwarded-host": "evil.example",
      forwarded: "host=evil.example",
    };
    const { body } = await metadataOf("/mcp/dev", {
      ...lies,
      "sec-fetch-site": "cross-site",
      "x-forwarded-proto": "https",
    });
    expect(JSON.parse(body).resource).toBe(url("/mcp/dev"));
    const preflight = await metadataOf("/mcp/dev", { ...lies, "access-control-request-method": "GET" }, "OPTIONS");
    expect([preflight.status, preflight.headers["access-control-allow-origin"]]).toEqual([204, "*"]);
    expect((await metadataOf("/mcp/dev", { host: "evil.example" })).status).toBe(403);
    expect((await metadataOf("/mcp/dev", {}, "POST")).status).toBe(405);
  });
});

describe("AU-4 a challenge", () => {
  const challengeOf = async (path: string, headers: Record<string, string> = {}) => {
    const { status, headers: answered } = await list(path, headers);
    return `${status} ${answered["www-authenticate"] ?? ""}`;
  };
  const pointer = (path: string) => `resource_metadata="${url(`/.well-known/oauth-protected-resource${path}`)}"`;

  it("names the metadata of the address, and the fault of a token that was sent", async () => {
    const missing = `401 Bearer realm="plugboard", ${pointer("/groups/dev/mcp")}, scope="mcp"`;
    expect(await challengeOf("/groups/dev/mcp")).toBe(missing);
    const fault = 'error="invalid_token", error_description="The token has expired"';
    const expired = await tokenFor("/mcp/dev", { exp: 1 });
    expect(await challengeOf("/mcp/dev", expired)).toBe(
      `401 Bearer realm="plugboard", ${pointer("/mcp/dev")}, scope="mcp", ${fault}`,
    );
    const { body } = await list("/mcp/dev", expired);
    const message = expect.stringContaining("The token has expired");
    expect(answerOf(body)).toMatchObject({ jsonrpc: "2.0", id: null, error: { message } });
  });

  it("names the scope that a token lacks", async () => {
    const headers = await tokenFor("/mcp/dev", { scope: "openid" });
    expect(await challengeOf("/mcp/dev", headers)).toMatch(/^403 .*scope="mcp", error="insufficient_scope"/);
    const api = await tokenFor("/api/v1", { roles: ["admin"], sub: "root", scope: "hub:operate" });
    const secrets = await http(url("/api/v1/secrets"), { method: "GET", headers: api });
    expect([secrets.status, secrets.headers["www-authenticate"]]).toEqual([
      403,
      expect.stringMatching(/scope="hub:admin", error="insufficient_scope"/),
    ]);
    expect(secrets.headers["content-type"]).toBe("application/problem+json");
    expect((await http(url("/api/v1/servers"), { method: "GET", headers: api })).status).toBe(200);
  });
});

describe("AU-4 a JWT", () => {
  it("A10 opens the group that it was issued for, over every reader, and no other", async () => {
    const headers = await tokenFor("/mcp/dev");
    // The second request is answered without Node's server, since the token is known.
    for (const path of ["/mcp/dev", "/mcp/dev", "/groups/dev/mcp"])
      expect((await list(path, headers)).status).toBe(200);
    for (const path of ["/mcp/ops", "/mcp", "/mcp/@admin"]) expect((await list(path, headers)).status).toBe(401);
    for (const place of [`/mcp/dev?access_token=${headers.authorization.slice(7)}`]) {
      expect((await list(place, {})).status).toBe(401);
    }
  });

  it("with the scope mcp:read sees only tools that change nothing", async () => {
    const { body } = await list("/mcp/dev", await tokenFor("/mcp/dev", { scope: "mcp:read" }));
    const names = answerOf(body).result.tools.map(({ name }: { name: string }) => name);
    expect(names).toContain("read_graph");
    expect(names).not.toContain("create_entities");
  });

  it("A32 opens sessions that are unknown to another client of the same person", async () => {
    const mine = await tokenFor("/mcp/dev", { azp: "one" });
    const session = await connect(url("/mcp/dev"), "2025-11-25", undefined, {}, mine.authorization);
    const other = await tokenFor("/mcp/dev", { azp: "two" });
    const message = { jsonrpc: "2.0", id: 9, method: "tools/list" };
    expect((await post(url("/mcp/dev"), message, { ...session.headers, ...other })).status).toBe(404);
    expect((await session.send("tools/list")).status).toBe(200);
  });

  it("ends what it holds open when it expires, and its session goes on with the next token", async () => {
    const claims = { azp: "renewing", exp: Math.ceil(Date.now() / 1000) + 4 };
    const first = await tokenFor("/mcp/dev", claims);
    const session = await connect(url("/mcp/dev"), "2025-11-25", undefined, {}, first.authorization);
    const outgoing = request(url("/mcp/dev"), {
      headers: { ...session.headers, accept: "text/event-stream" },
      agent: false,
    });
    outgoing.end();
    const [stream] = await once(outgoing, "response");
    expect(stream.statusCode).toBe(200);
    stream.on("error", () => undefined).resume();
    await once(stream, "close");
    expect((await session.send("tools/list")).status).toBe(401);
    const next = await tokenFor("/mcp/dev", { azp: "renewing" });
    const message = { jsonrpc: "2.0", id: 9, method: "tools/list" };
    expect((await post(url("/mcp/dev"), message, { ...session.headers, ...next })).status).toBe(200);
  });

  it("of an issuer that does not answer is answered with 503, others are not affected", async () => {
    const token = `opaque-${Date.now()}`;
    issuer.failure = 500;
    onTestFinished(() => void (issuer.failure = undefined));
    const { status, headers } = await list("/mcp/dev", bearer(token));
    expect([status, Number(headers["retry-after"]) > 0]).toEqual([503, true]);
    expect((await list("/mcp/dev", await tokenFor("/mcp/dev"))).status).toBe(200);
  });

  it("that only its issuer can read is accepted after asking it", async () => {
    issuer.active.set("opaque-1", { active: true, sub: "alice", aud: url("/mcp/dev"), scope: "mcp" });
    expect((await list("/mcp/dev", bearer("opaque-1"))).status).toBe(200);
    expect((await list("/mcp/ops", bearer("opaque-1"))).status).toBe(401);
    expect((await list("/mcp/dev", bearer("opaque-2"))).status).toBe(401);
  });
});

describe("AU-4 the official client", () => {
  it.each(["2025-11-25", "2026-07-28"])(
    "logs in at the identity provider and calls a tool, in revision %s",
    async (revision) => {
      provider.settings.resources.set(url("/mcp/dev"), ["mcp"]);
      const { client, accessToken } = await sdkLogin(url("/mcp/dev"), provider, { revision });
      onTestFinished(() => client.close());
      expect(accessToken).toMatch(/^ey/);
      const result = await client.callTool({ name: "read_graph", arguments: {} });
      expect(result.isError).not.toBe(true);
    },
  );
});

describe("T40 credentials of a client", () => {
  it("do not reach a server, in whichever place they come", async () => {
    const { authorization } = await tokenFor("/mcp/ops");
    const planted = {
      cookie: "session=planted-cookie-2b4c",
      dpop: "planted-dpop-3c5d",
      "x-api-key": "planted-key-4d6e",
      "proxy-authorization": "Basic planted-proxy-5e7f",
    };
    const { body } = await list("/mcp/ops", { authorization, ...planted });
    const [tool] = answerOf(body).result.tools;
    spy.passed.length = 0;
    const called = await modern(
      url("/mcp/ops?access_token=planted-query-6f80"),
      "tools/call",
      { name: tool.name, arguments: {} },
      { authorization, ...planted },
    );
    expect(called.status).toBe(200);
    expect(spy.passed.length).toBeGreaterThan(0);
    const seen = JSON.stringify(spy.passed.map(({ path, headers, body: sent }) => ({ path, headers, sent })));
    expect(seen).not.toContain("planted-");
    expect(seen).not.toContain(authorization.slice("Bearer ".length));
    expect(spy.passed.flatMap(({ headers }) => headers.authorization ?? [])).toEqual([]);
  });
});
