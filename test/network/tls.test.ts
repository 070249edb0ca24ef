// A hub that others reach over TLS, as a real process: its clients, its commands, its certificate, and what only its own machine
// may use.

import { once } from "node:events";
import { copyFile, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Agent, request, type RequestOptions } from "node:https";
import { join } from "node:path";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { makeCertificate } from "../support/certificates.ts";
import { clientOf, tokenOf } from "../support/client.ts";
import { fixture, makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";

const PUBLIC = "https://hub.example.com";
const LISTED = "https://app.example.com";
const ADMIN = ["/api/v1/status", "/metrics", "/ui/", "/mcp/@admin", "/.well-known/plugboard-hub?nonce=0", "/"];

let home: Home;
let hub: RunningHub;
let tls: { readonly cert: string; readonly key: string };
let ca: Buffer;
let port: number;
let token: string;

beforeAll(async () => {
  home = await makeHome({ it: fixture("echo") });
  await mkdir(join(home.dir, "tls"));
  tls = await makeCertificate(join(home.dir, "tls"));
  ca = await readFile(tls.cert);
  const settings = {
    listen: { host: "0.0.0.0", admin: "loopback" },
    public_url: PUBLIC,
    auth: { mcp: "required" },
    tls: { cert: "../tls/hub.pem", key: "../tls/hub.key" },
    trusted_proxies: ["127.0.0.1"],
    allowed_hosts: ["hub.lan"],
    allowed_origins: [LISTED],
  };
  await writeFile(join(home.dir, "config/hub.json"), JSON.stringify(settings));
  hub = await startHub(home);
  const record = JSON.parse(await readFile(runFile(), "utf8"));
  port = record.listen.port;
  const client = await clientOf(hub);
  ({ token } = await client.tokens.create({ name: "colleague" }));
});

afterAll(async () => {
  await hub.stop();
  await home.remove();
});

function runFile(): string {
  return join(home.dir, "state", "hub.json");
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

interface AskOptions extends Pick<RequestOptions, "method" | "agent"> {
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request as it arrives from the public address. */
async function ask(path: string, options: AskOptions = {}, body?: string): Promise<Answer> {
  const { headers, ...rest } = options;
  const to = { host: "127.0.0.1", port, servername: "hub.example.com", ca, path, agent: false as const };
  const asked = request({ ...to, headers: { host: "hub.example.com", ...headers }, ...rest });
  asked.end(body);
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString() };
}

const modern = (method: string) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method,
    params: {
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  });

const mcpHeaders = (method: string) => ({
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": method,
});

function post(method: string, headers: Record<string, string> = {}, more: AskOptions = {}): Promise<Answer> {
  const body = modern(method);
  return ask(
    "/mcp",
    { ...more, method: "POST", headers: { ...mcpHeaders(method), "content-length": String(body.length), ...headers } },
    body,
  );
}

const bearer = () => ({ authorization: `Bearer ${token}` });

async function handshake(options: object = {}): Promise<TLSSocket> {
  const socket = connectTls({ host: "127.0.0.1", port, servername: "hub.example.com", ca, ...options });
  await once(socket, "secureConnect");
  socket.destroy();
  return socket;
}

async function serialOf(): Promise<string> {
  const socket = connectTls({ host: "127.0.0.1", port, rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

describe("clients", () => {
  it("AU-6 are served over https with a token, and refused without", async () => {
    expect((await post("tools/list")).status).toBe(401);
    const { status, headers, body } = await post("tools/list", bearer());
    expect({ status, body }).toEqual({ status: 200, body: expect.stringContaining('"echo"') });
    expect(headers["strict-transport-security"]).toBe("max-age=31536000");
    expect(JSON.parse(body)).toMatchObject({ id: 1 });
  });

  it("AU-6 are served by the fast path and by Node's server on one connection", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const statuses: number[] = [];
    for (const method of ["tools/list", "tools/list", "resources/list"])
      statuses.push((await post(method, bearer(), { agent })).status);
    // Not with a POST: from here on Node reads the connection.
    statuses.push((await ask("/readyz", { agent })).status);
    statuses.push((await post("tools/list", bearer(), { agent })).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    agent.destroy();
  });

  it("AU-6 can use WebSocket", async () => {
    const socket = new WebSocket(`wss://localhost:${port}/mcp`, "mcp", { ca, headers: bearer() });
    await once(socket, "open");
    socket.send(
      JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
      }),
    );
    const [message] = await once(socket, "message");
    expect(String(message)).toContain("protocolVersion");
    socket.close();
  });

  it("AU-6 need TLS 1.2 or later", async () => {
    expect((await handshake({ maxVersion: "TLSv1.2" })).destroyed).toBe(true);
    const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" };
    await expect(handshake(old)).rejects.toMatchObject({ code: expect.stringMatching(/^(ERR_SSL|EPROTO|ECONNRESET)/) });
  });
});

describe("the hub's own machine", () => {
  it("AU-6 commands find the hub, and name the addresses of its clients", async () => {
    const status = await plugboard(home, ["status"]);
    expect(status).toMatchObject({ code: 0, stdout: expect.stringContaining(`${PUBLIC}/mcp`) });
    expect(hub.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const called = await plugboard(home, ["call", "echo", "text=hello", "--json"]);
    expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining("hello") });
  });

  it.each(ADMIN)("AU-6 listen.admin keeps %s on this machine", async (path) => {
    const authorization = `Bearer ${await tokenOf(home)}`;
    const headers = { authorization };
    expect((await ask(path, { headers })).status).toBe(404);
    expect((await ask(path, { headers: { ...headers, host: `127.0.0.1:${port}` } })).status).toBe(404);
    const local = await fetch(`${hub.url}${path}`, { headers, redirect: "manual" });
    expect(local.status).not.toBe(404);
  });

  it("AU-6 a probe answers at both addresses, and says nothing but the state", async () => {
    expect((await ask("/readyz")).body).toBe('{"status":"ok"}');
    expect(await (await fetch(`${hub.url}/readyz`)).text()).toBe('{"status":"ok"}');
  });
});

describe("Host and Origin", () => {
  it.each([
    ["hub.example.com", 200],
    ["HUB.example.com", 200],
    ["hub.example.com:443", 200],
    ["hub.lan:8443", 200],
    ["127.0.0.1", 200],
    ["evil.example", 403],
    ["hub.example.com.evil.example", 403],
    ["hub.example.com@evil.example", 403],
    ["xhub.example.com", 403],
  ])("A13 AU-6 the Host %s: %i", async (host, status) => {
    expect((await ask("/readyz", { headers: { host } })).status).toBe(status);
  });

  it.each([
    "/oauth/callback?state=x",
    "/oauth/authorize?client_id=x",
    "/login/callback?state=x",
    "/connect/it",
    "/mcp",
    "/readyz",
    "/nothing",
  ])("A13 a foreign Host is refused at %s, whatever the proxy says", async (path) => {
    const forwarded = { "x-forwarded-host": "hub.example.com", forwarded: "host=hub.example.com" };
    expect((await ask(path, { headers: { host: "evil.example", ...forwarded } })).status).toBe(403);
  });

  it.each([
    [PUBLIC, 200],
    ["https://hub.lan", 403],
    ["http://hub.example.com", 403],
    ["https://evil.example", 403],
    ["null", 403],
  ])("A13 AU-6 the Origin %s: %i, without CORS headers", async (origin, status) => {
    const answer = await ask("/readyz", { headers: { origin } });
    expect([answer.status, answer.headers["access-control-allow-origin"]]).toEqual([status, undefined]);
  });

  it("AU-6 a page of a listed origin may use the endpoints with a token", async () => {
    const origin = { origin: LISTED, "sec-fetch-site": "cross-site" };
    const preflight = await ask("/mcp", {
      method: "OPTIONS",
      headers: {
        ...origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,mcp-protocol-version,mcp-session-id,x-evil",
      },
    });
    expect(preflight).toMatchObject({
      status: 204,
      headers: {
        "access-control-allow-origin": LISTED,
        "access-control-allow-headers": "authorization, content-type, mcp-protocol-version, mcp-session-id",
      },
    });
    expect(preflight.headers["access-control-allow-credentials"]).toBeUndefined();
    const answer = await post("tools/list", { ...bearer(), ...origin });
    expect(answer).toMatchObject({
      status: 200,
      headers: {
        "access-control-allow-origin": LISTED,
        "access-control-expose-headers": expect.stringContaining("Mcp-Session-Id"),
      },
    });
    expect((await post("tools/list", origin)).headers).toMatchObject({
      "access-control-allow-origin": LISTED,
      "access-control-expose-headers": expect.stringContaining("WWW-Authenticate"),
    });
  });
});

describe("a trusted proxy", () => {
  it("A30 T38 names the client: the right-most address that is no proxy", async () => {
    await post("tools/list", { ...bearer(), "x-forwarded-for": "6.6.6.6, 203.0.113.9, 127.0.0.1", origin: LISTED });
    const client = await clientOf(hub);
    const [entry] = await client.tokens.list();
    expect(entry).toMatchObject({ name: "colleague", used_from: "203.0.113.9" });
  });

  it("A28 A30 failures are counted for each client, and a right token always passes", async () => {
    const from = (address: string, authorization: string) =>
      post("tools/list", { authorization, "x-forwarded-for": address });
    const wrong = async (address: string) => (await from(address, "Bearer wrong")).status;
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 11; attempt++) statuses.push(await wrong("203.0.113.1"));
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
    expect(await wrong("203.0.113.2")).toBe(401);
    expect((await from("203.0.113.1", bearer().authorization)).status).toBe(200);
  });

  it("A30 X-Forwarded-Host and -Proto change no address", async () => {
    const headers = { "x-forwarded-host": "evil.example", "x-forwarded-proto": "http", forwarded: "host=evil.example" };
    const answers = await Promise.all([
      ask("/connect/it", { headers }),
      ask("/oauth/callback?state=x", { headers }),
      post("tools/list", headers),
    ]);
    expect(JSON.stringify(answers)).not.toContain("evil.example");
  });
});

describe("the certificate", () => {
  it("AU-6 is replaced without a restart, and one that cannot be used is not taken", async () => {
    const before = await serialOf();
    const next = await makeCertificate(home.dir, { name: "next", days: 7 });
    const wrong = await makeCertificate(home.dir, { name: "wrong" });
    await copyFile(wrong.cert, tls.cert);
    await warned(/The new TLS certificate is not used: The key .* does not belong/);
    expect(await serialOf()).toBe(before);
    await copyFile(next.key, `${tls.key}.new`);
    await rename(`${tls.key}.new`, tls.key);
    await copyFile(next.cert, tls.cert);
    ca = await readFile(next.cert);
    const client = await clientOf(hub);
    await warned(/The TLS certificate .* expires on/);
    expect(await serialOf()).not.toBe(before);
    expect((await post("tools/list", bearer())).status).toBe(200);
    expect((await client.status()).warnings.join("\n")).toMatch(/The TLS certificate .* expires on/);
    const metrics = await fetch(`${hub.url}/metrics`, {
      headers: { authorization: `Bearer ${await tokenOf(home)}` },
    });
    const seconds = Number(/^hub_tls_expires_seconds (\d+)$/m.exec(await metrics.text())?.[1]);
    expect(seconds).toBeGreaterThan(6 * 86_400);
    expect(seconds).toBeLessThanOrEqual(7 * 86_400);
  });
});

/** Reads the events from the beginning, until a warning says this. */
async function warned(text: RegExp): Promise<void> {
  const client = await clientOf(hub);
  const ended = new AbortController();
  try {
    for await (const { event, data } of client.events({ topics: ["warning"], lastEventId: "0", signal: ended.signal }))
      if (event === "warning" && text.test(JSON.stringify(data))) return;
  } finally {
    ended.abort();
  }
}
