// Access tokens against a real hub: who may use which endpoint over which transport, and what ends with a token.

import { once } from "node:events";
import { Agent, request, type IncomingMessage } from "node:http";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { WebSocket } from "ws";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { HubClient } from "../../hub/src/api/client/client.ts";
import { makeAccessToken } from "../../hub/src/auth/access-token.ts";
import type { AccessTokenInput } from "../../hub/src/api/schemas/token.ts";
import { clientOf, tokenOf } from "../support/client.ts";
import { makeHome, published, startHub, type RunningHub } from "../support/hub.ts";
import { answerOf, connect, http, modern, post } from "../support/rpc.ts";

let hub: RunningHub;
let client: HubClient;

beforeAll(async () => {
  const servers = { everything: published("server-everything"), memory: published("server-memory") };
  const home = await makeHome(servers, { tools: { servers: ["everything"] }, dev: { servers: ["memory"] } });
  await writeFile(
    join(home.dir, "config/hub.json"),
    '{ "auth": { "mcp": "required" }, "trusted_proxies": ["127.0.0.1"] } // a comment',
  );
  hub = await startHub(home);
  client = await clientOf(hub);
});

afterAll(async () => {
  await hub.stop();
  await hub.home.remove();
});

/** Resolves when a stream is open, with the end of it. */
async function openStream(
  path: string,
  headers: Record<string, string>,
): Promise<{ readonly ended: Promise<unknown> }> {
  const outgoing = request(url(path), { headers: { ...headers, accept: "text/event-stream" }, agent: false });
  outgoing.end();
  const [response] = await once(outgoing, "response");
  expect(response.statusCode).toBe(200);
  response.resume();
  return { ended: new Promise((resolve) => response.on("error", () => undefined).once("close", resolve)) };
}

let made = 0;

async function makeToken(input: Partial<AccessTokenInput> = {}) {
  const name = input.name ?? `token ${++made}`;
  const { token } = await client.tokens.create({ ...input, name });
  return { name, token, headers: { authorization: `Bearer ${token}` } };
}

it("AU-3 the life of a token need not be whole days", async () => {
  const { expires_at } = await client.tokens.create({ name: "short", expires_in_days: 0.123_456_789 });
  expect(Date.parse(expires_at ?? "")).toBeLessThan(Date.now() + 86_400_000);
});

it.each([
  { reader: "the fast path", keepAlive: true, forwarded: {}, address: "127.0.0.1" },
  {
    reader: "the fast path",
    keepAlive: true,
    forwarded: { "x-forwarded-for": "6.6.6.6, 203.0.113.7" },
    address: "203.0.113.7",
  },
  { reader: "Node's server", keepAlive: false, forwarded: {}, address: "127.0.0.1" },
  {
    reader: "Node's server",
    keepAlive: false,
    forwarded: { "x-forwarded-for": "203.0.113.8" },
    address: "203.0.113.8",
  },
])(
  "AU-3 a token has its last use and address, read by $reader: $address",
  async ({ keepAlive, forwarded, address }) => {
    const { name, headers } = await makeToken();
    const agent = new Agent({ keepAlive });
    onTestFinished(() => agent.destroy());
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25" },
    });
    const given = {
      ...headers,
      ...forwarded,
      "content-type": "application/json",
      "content-length": String(body.length),
    };
    const outgoing = request(url("/mcp/dev"), { method: "POST", headers: given, agent });
    outgoing.end(body);
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    response.resume();
    // Only the fast path writes its names in small letters.
    expect([response.statusCode, response.rawHeaders.includes("date")]).toEqual([200, keepAlive]);
    const used = (await client.tokens.list()).find((token) => token.name === name);
    expect(used).toMatchObject({ used_from: address, used_at: expect.any(String) });
  },
);

const url = (path: string) => `${hub.url}${path}`;

/** Over both eras and, since connections are kept open, over both HTTP readers. */
async function statusesOf(path: string, headers: Record<string, string>): Promise<number[]> {
  const results = await Promise.all([
    modern(url(path), "tools/list", {}, headers),
    post(
      url(path),
      { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } },
      headers,
    ),
  ]);
  return results.map(({ status }) => status);
}

async function toolsOf(path: string, headers: Record<string, string>): Promise<string[]> {
  const { body } = await modern(url(path), "tools/list", {}, headers);
  return answerOf(body).result.tools.map(({ name }: { name: string }) => name);
}

describe("AU-3 an endpoint that needs a token", () => {
  it("refuses a request without one, and says how to authenticate", async () => {
    const { status, headers, body } = await modern(url("/mcp/dev"), "tools/list");
    expect(status).toBe(401);
    expect(headers["www-authenticate"]).toBe('Bearer realm="plugboard"');
    expect(answerOf(body).error.message).toContain("access token");
  });

  it.each([
    ["a wrong token", () => ({ authorization: `Bearer pbt_${"x".repeat(49)}` })],
    ["another scheme", () => ({ authorization: "Basic YTpi" })],
    ["something else", () => ({ authorization: "Bearer eyJhbGciOiJub25lIn0.e30." })],
  ])("refuses %s", async (_, headers) => {
    expect(await statusesOf("/mcp/dev", headers())).toEqual([401, 401]);
    const { headers: answered } = await modern(url("/mcp/dev"), "tools/list", {}, headers());
    expect(answered["www-authenticate"]).toContain("Bearer");
  });

  it("takes no token from the address", async () => {
    const { token } = await makeToken();
    expect(await statusesOf(`/mcp/dev?access_token=${token}`, {})).toEqual([401, 401]);
  });

  it("serves its own groups, and knows no other", async () => {
    const { headers } = await makeToken({ groups: ["dev"] });
    expect(await statusesOf("/mcp/dev", headers)).toEqual([200, 200]);
    expect(await statusesOf("/groups/dev/mcp", headers)).toEqual([200, 200]);
    const [foreign, unknown] = await Promise.all(
      ["tools", "nowhere"].map((group) => modern(url(`/mcp/${group}`), "tools/list", {}, headers)),
    );
    expect(foreign?.status).toBe(404);
    expect(foreign?.body.replaceAll("tools", "nowhere")).toBe(unknown?.body);
    expect(await statusesOf("/mcp", headers)).toEqual([404, 404]);
  });

  it("a token for all groups, and the management token, open every group", async () => {
    const { headers } = await makeToken();
    expect(await statusesOf("/mcp", headers)).toEqual([200, 200]);
    expect(await statusesOf("/mcp", { authorization: `Bearer ${await tokenOf(hub.home)}` })).toEqual([200, 200]);
  });

  it("a read-only token sees and calls only tools that change nothing", async () => {
    const [all, reading] = await Promise.all([makeToken(), makeToken({ read_only: true })]);
    const every = await toolsOf("/mcp/dev", all.headers);
    const shown = await toolsOf("/mcp/dev", reading.headers);
    expect(every).toEqual(expect.arrayContaining(["create_entities", "read_graph"]));
    expect(shown).toContain("read_graph");
    expect(shown).not.toContain("create_entities");
    const call = (name: string) =>
      modern(url("/mcp/dev"), "tools/call", { name, arguments: { entities: [] } }, reading.headers);
    expect(answerOf((await call("create_entities")).body).error.message).toMatch(/^Tool not found/);
    expect(answerOf((await call("read_graph")).body).result.isError).not.toBe(true);
  });

  it("T33 A32 a session belongs to the principal and client that opened it", async () => {
    const [ann, ben] = await Promise.all([makeToken({ for: "ann" }), makeToken({ for: "ben" })]);
    const session = await connect(url("/mcp/dev"), "2025-11-25", undefined, {}, ann.headers.authorization);
    expect((await session.request("tools/list")).result.tools.length).toBeGreaterThan(0);
    const list = { jsonrpc: "2.0", id: 9, method: "tools/list" };
    const stolen = await post(url("/mcp/dev"), list, { ...session.headers, ...ben.headers });
    const unknown = await post(url("/mcp/dev"), list, { ...session.headers, ...ben.headers, "mcp-session-id": "x" });
    expect([stolen.status, stolen.body]).toEqual([404, unknown.body]);
    const stopped = await http(url("/mcp/dev"), { method: "DELETE", headers: { ...session.headers, ...ben.headers } });
    expect(stopped.status).toBe(404);
    const other = await makeToken({ for: "ann" });
    expect((await post(url("/mcp/dev"), list, { ...session.headers, ...other.headers })).status).toBe(404);
    expect((await post(url("/mcp/dev"), list, { ...session.headers, ...ann.headers })).status).toBe(200);
  });
});

describe("A18 AU-3 a token that is revoked", () => {
  it("ends its sessions, streams, sockets and running calls within a second", async () => {
    const { name, token, headers } = await makeToken();
    const session = await connect(url("/mcp/tools"), "2025-11-25", undefined, {}, headers.authorization);
    const streams = await Promise.all([openStream("/mcp/tools", session.headers), openStream("/sse/tools", headers)]);
    const socket = new WebSocket(url("/mcp/tools").replace("http", "ws"), ["mcp"], { headers });
    onTestFinished(() => socket.terminate());
    await once(socket, "open");
    const long = { name: "trigger-long-running-operation", arguments: { duration: 60, steps: 60 } };
    const call = modern(url("/mcp/tools"), "tools/call", long, headers);
    const legacyCall = session.send("tools/call", long);
    const listening = modern(
      url("/mcp/tools"),
      "subscriptions/listen",
      { notifications: { toolsListChanged: true } },
      headers,
    );
    await expect.poll(async () => (await client.calls.active()).length).toBe(2);

    const from = performance.now();
    const ended = Promise.all([
      ...streams.map(({ ended: end }) => end),
      once(socket, "close").then(([code]) => expect(code).toBe(1008)),
      Promise.allSettled([call, legacyCall, listening]),
    ]);
    await client.tokens.revoke(name);
    await ended;
    // On a busy machine, the time says little: the calls would have taken a minute.
    expect(performance.now() - from).toBeLessThan(30_000);
    await expect.poll(async () => (await client.calls.active()).length).toBe(0);
    expect(await statusesOf("/mcp/tools", headers)).toEqual([401, 401]);
    expect((await session.send("tools/list")).status).toBe(401);
    expect(token).toMatch(/^pbt_/);
  });

  it("is refused also by sessions that a restarted hub would continue", async () => {
    const { name, headers } = await makeToken({ for: "carla" });
    const session = await connect(url("/mcp/dev"), "2025-11-25", undefined, {}, headers.authorization);
    await client.tokens.revoke(name);
    const { headers: later } = await makeToken({ for: "carla" });
    const list = { jsonrpc: "2.0", id: 9, method: "tools/list" };
    expect((await post(url("/mcp/dev"), list, { ...session.headers, ...later })).status).toBe(404);
  });
});

describe("AU-3 a damaged identity.db", () => {
  it("lets no token in, and does not keep the hub from serving", async () => {
    const home = await makeHome({ memory: published("server-memory") });
    await mkdir(join(home.dir, "data"), { mode: 0o700 });
    await writeFile(join(home.dir, "data/identity.db"), "not a database".repeat(1000), { mode: 0o600 });
    const damaged = await startHub(home);
    onTestFinished(async () => {
      await damaged.stop();
      await home.remove();
    });
    expect(damaged.stderr()).toContain("No access token works");
    expect((await modern(`${damaged.url}/mcp`, "tools/list")).status).toBe(200);
    const headers = { authorization: `Bearer ${makeAccessToken()}` };
    expect((await modern(`${damaged.url}/mcp`, "tools/list", {}, headers)).status).toBe(500);
  });
});
