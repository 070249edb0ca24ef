// End-to-end traces: a client with its own trace, the built hub, real servers that report the `_meta` they receive, and a
// collector that records every span.

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { tokenOf } from "../support/client.ts";
import { startCollector, type Collector } from "../support/collector.ts";
import { failing, fixture, launch, makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { startRemote, type Remote } from "../support/remote.ts";
import { answerOf, connect, http, modern, post } from "../support/rpc.ts";
import { Messages, onLines } from "../support/streams.ts";
import { listen, portOf } from "../support/sockets.ts";

const newTrace = () => randomBytes(16).toString("hex");
const PARENT = "00f067aa0ba902b7";
const traceparent = (traceId: string, flags = "01") => `00-${traceId}-${PARENT}-${flags}`;

let collector: Collector;
let remote: Remote;
beforeAll(async () => {
  collector = await startCollector();
  remote = await startRemote("modern-http");
});
afterAll(async () => {
  await Promise.all([collector.close(), remote.stop()]);
});

/** Exports without delay, as JSON. */
const tracing = () => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  OTEL_BSP_SCHEDULE_DELAY: "10",
});

const homes: Home[] = [];
async function home(env: Readonly<Record<string, string>>): Promise<Home> {
  const servers = {
    it: fixture("echo"),
    far: remote.entry,
    broken: failing(),
  };
  const made = await makeHome(servers, { default: { servers: ["it", "far", "broken"] }, it: { servers: ["it"] } });
  homes.push(made);
  return { ...made, env: { ...made.env, ...env } };
}

const hubs: RunningHub[] = [];
async function hub(env: Readonly<Record<string, string>>): Promise<RunningHub> {
  const running = await startHub(await home(env));
  hubs.push(running);
  return running;
}

async function endAll(): Promise<void> {
  await Promise.all(hubs.splice(0).map((running) => running.stop()));
  await Promise.all(homes.splice(0).map((made) => made.remove()));
}

/** The `_meta` of a call, as reported by the tool of the fixture. */
const metaOf = (answer: { result: { content: { text: string }[] } }) =>
  JSON.parse(answer.result.content[0]?.text ?? "");

describe("a hub whose environment names a collector", () => {
  let running: RunningHub;
  beforeAll(async () => {
    running = await hub({
      ...tracing(),
      OTEL_SERVICE_NAME: "my-hub",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test%20bench,service.name=other",
      OTEL_EXPORTER_OTLP_HEADERS: "x-api-key=k%3D1,x-tenant=me",
    });
  });
  afterAll(endAll);

  const api = async (path: string, body: object, headers: Readonly<Record<string, string>> = {}) => {
    const token = await tokenOf(running.home);
    return http(`${running.url}/api/v1${path}`, {
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  };

  it("MG-3 adds a SERVER and a CLIENT span between the client's span and the server", async () => {
    const traceId = newTrace();
    const client = await connect(`${running.url}/mcp/it`);
    const answer = await client.request("tools/call", {
      name: "meta",
      arguments: {},
      _meta: { traceparent: traceparent(traceId), tracestate: "vendor=1", baggage: "user=7", "com.example/x": [1] },
    });
    const [server, upstream] = await collector.trace(traceId);
    expect(server).toMatchObject({ kind: "SERVER", name: "tools/call meta", parentSpanId: PARENT, flags: 0x301 });
    expect(upstream).toMatchObject({ kind: "CLIENT", name: "tools/call meta", parentSpanId: server?.spanId });
    expect(upstream).toMatchObject({ flags: 0x101, traceState: "vendor=1", status: { code: 0 } });
    expect(metaOf(answer)).toEqual({
      traceparent: `00-${traceId}-${upstream?.spanId}-01`,
      tracestate: "vendor=1",
      baggage: "user=7",
      "com.example/x": [1],
    });
    expect(server?.durationNs).toBeGreaterThanOrEqual(upstream?.durationNs ?? 0n);
    expect(server?.attributes).toEqual({
      "mcp.method.name": "tools/call",
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "meta",
      "jsonrpc.request.id": "1",
      "mcp.protocol.version": "2025-11-25",
      "mcp.session.id": client.headers["mcp-session-id"],
      "network.transport": "tcp",
      "plugboard.server": "it",
      "plugboard.group": "it",
    });
    expect(upstream?.attributes).toEqual({
      "mcp.method.name": "tools/call",
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "meta",
      "jsonrpc.request.id": expect.stringMatching(/^\d+$/),
      "mcp.protocol.version": "2025-11-25",
      "network.transport": "pipe",
      "plugboard.server": "it",
      "plugboard.group": "it",
    });
  });

  it("MG-3 sends its service name and the configured headers", async () => {
    const traceId = newTrace();
    const client = await connect(`${running.url}/mcp/it`);
    await client.request("tools/call", { name: "pid", _meta: { traceparent: traceparent(traceId) } });
    const [span] = await collector.trace(traceId);
    expect(span?.resource).toMatchObject({
      "service.name": "my-hub",
      "service.version": expect.stringMatching(/^\d+\.\d+\.\d+/),
      "service.instance.id": expect.stringMatching(/^[\w-]{36}$/),
      "deployment.environment.name": "test bench",
    });
    const post1 = collector.received.find(({ body }) => body.includes(traceId));
    expect(post1?.path).toBe("/v1/traces");
    expect(post1?.headers).toMatchObject({ "x-api-key": "k=1", "x-tenant": "me" });
  });

  const REQUESTS: [what: string, method: string, params: object, name: string, attributes: object][] = [
    [
      "prompts",
      "prompts/get",
      { name: "greet", arguments: { who: "you" } },
      "prompts/get greet",
      { "gen_ai.prompt.name": "greet" },
    ],
    [
      "resources",
      "resources/read",
      { uri: "test://static" },
      "resources/read",
      { "mcp.resource.uri": "test://static" },
    ],
    [
      "completions",
      "completion/complete",
      { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "who", value: "w" } },
      "completion/complete greet",
      { "gen_ai.prompt.name": "greet" },
    ],
    [
      "results that are errors",
      "tools/call",
      { name: "fail", arguments: {} },
      "tools/call fail",
      { "error.type": "tool_error", "gen_ai.tool.name": "fail" },
    ],
    [
      "a server's own errors",
      "tools/call",
      { name: "rpc_error", arguments: {} },
      "tools/call rpc_error",
      { "error.type": "-32042", "rpc.response.status_code": "-32042" },
    ],
  ];
  it.each(REQUESTS)("MG-3 has both spans of %s", async (_what, method, params, name, attributes) => {
    const traceId = newTrace();
    const client = await connect(`${running.url}/mcp/it`);
    await client.request(method, { ...params, _meta: { traceparent: traceparent(traceId) } });
    const failed = "error.type" in attributes;
    for (const span of await collector.trace(traceId)) {
      expect(span).toMatchObject({ name, attributes: { ...attributes, "mcp.method.name": method } });
      expect(span.status).toEqual({ code: failed ? 2 : 0 });
      if (method !== "tools/call") expect(span.attributes).not.toHaveProperty(["gen_ai.operation.name"]);
    }
  });

  it("MG-3 each span has the tool name of its side, and the address of a remote server", async () => {
    const traceId = newTrace();
    const tools = answerOf((await modern(`${running.url}/mcp`, "tools/list")).body).result.tools;
    const exposed = tools.map(({ name }: { name: string }) => name).find((name: string) => /far.*meta/.test(name));
    const params = { name: exposed, arguments: {}, _meta: { traceparent: traceparent(traceId) } };
    const answer = await modern(`${running.url}/mcp`, "tools/call", params);
    const [server, upstream] = await collector.trace(traceId);
    expect(exposed).not.toBe("meta");
    expect(server?.name).toBe(`tools/call ${exposed}`);
    expect(server?.attributes).toMatchObject({ "mcp.protocol.version": "2026-07-28", "network.transport": "tcp" });
    expect(server?.attributes).not.toHaveProperty(["mcp.session.id"]);
    expect(upstream?.name).toBe("tools/call meta");
    expect(upstream?.attributes).toMatchObject({
      "mcp.protocol.version": "2026-07-28",
      "network.transport": "tcp",
      "server.address": "127.0.0.1",
      "server.port": remote.port,
      "plugboard.server": "far",
    });
    expect(metaOf(answerOf(answer.body)).traceparent).toBe(`00-${traceId}-${upstream?.spanId}-01`);
  });

  it("MG-3 takes the trace of a REST call from its headers, and names the hub's own failure", async () => {
    const traceId = newTrace();
    const headers = { traceparent: traceparent(traceId), tracestate: "v=2", baggage: "b=1" };
    const { status } = await api("/servers/broken/tools/any/call", { arguments: {} }, headers);
    expect(status).toBe(503);
    const [server, upstream] = await collector.trace(traceId);
    const attributes = { "error.type": "ServerNotRunning", "plugboard.server": "broken", "plugboard.group": "@api" };
    expect(server).toMatchObject({
      parentSpanId: PARENT,
      attributes,
      status: { code: 2, message: "Server unavailable" },
    });
    expect(upstream).toMatchObject({ parentSpanId: server?.spanId, attributes, status: { code: 2 } });
    // The request was never sent to the server.
    expect(upstream?.attributes).not.toHaveProperty(["jsonrpc.request.id"]);
  });

  it("MG-3 REST: the server gets the trace of the headers", async () => {
    const traceId = newTrace();
    const headers = { traceparent: traceparent(traceId), tracestate: "v=2", baggage: "b=1" };
    const { body } = await api("/servers/it/tools/meta/call", { arguments: {} }, headers);
    const [, upstream] = await collector.trace(traceId);
    const meta = JSON.parse(JSON.parse(body).content[0].text);
    expect(meta).toEqual({ traceparent: `00-${traceId}-${upstream?.spanId}-01`, tracestate: "v=2", baggage: "b=1" });
  });

  it("MG-3 over MCP the headers count only if the message has no trace", async () => {
    const [inHeader, inMessage] = [newTrace(), newTrace()];
    const client = await connect(`${running.url}/mcp/it`);
    const headers = { ...client.headers, traceparent: traceparent(inHeader) };
    const call = (id: number, _meta?: object) =>
      post(
        `${running.url}/mcp/it`,
        { jsonrpc: "2.0", id, method: "tools/call", params: { name: "meta", arguments: {}, ...(_meta && { _meta }) } },
        headers,
      );
    await call(11);
    expect((await collector.trace(inHeader))[0]).toMatchObject({ parentSpanId: PARENT });
    await call(12, { traceparent: traceparent(inMessage) });
    expect((await collector.trace(inMessage))[0]).toMatchObject({ parentSpanId: PARENT });
    expect(await collector.trace(inHeader)).toHaveLength(2);
  });

  it("MG-3 begins a trace if the client sends none, or an invalid one", async () => {
    const client = await connect(`${running.url}/mcp/it`);
    const broken = { traceparent: `00-${"0".repeat(32)}-${PARENT}-01`, tracestate: "lost=1", baggage: "kept=1" };
    for (const _meta of [undefined, broken]) {
      const params = { name: "meta", arguments: {}, ...(_meta && { _meta }) };
      const meta = metaOf(await client.request("tools/call", params));
      const [, traceId = "", spanId] = /^00-(\w{32})-(\w{16})-01$/.exec(meta.traceparent) ?? [];
      const [server, upstream] = await collector.trace(traceId);
      expect(server).not.toHaveProperty("parentSpanId");
      expect(upstream?.spanId).toBe(spanId);
      expect(meta).toEqual({ traceparent: meta.traceparent, ...(_meta && { baggage: "kept=1" }) });
    }
  });

  it("MG-3 records no span of an unsampled trace, and passes the decision on", async () => {
    const [unsampled, later] = [newTrace(), newTrace()];
    const client = await connect(`${running.url}/mcp/it`);
    const params = { name: "meta", arguments: {} };
    const answer = await client.request("tools/call", {
      ...params,
      _meta: { traceparent: traceparent(unsampled, "00") },
    });
    expect(metaOf(answer).traceparent).toMatch(new RegExp(`^00-${unsampled}-(?!${PARENT})\\w{16}-00$`));
    await client.request("tools/call", { ...params, _meta: { traceparent: traceparent(later) } });
    await collector.trace(later);
    expect(collector.received.some(({ body }) => body.includes(unsampled))).toBe(false);
  });

  it("MG-3 spans contain no arguments and no results", async () => {
    const traceId = newTrace();
    const marker = `marker-${randomBytes(8).toString("hex")}`;
    const client = await connect(`${running.url}/mcp/it`);
    const params = { name: "echo", arguments: { text: marker }, _meta: { traceparent: traceparent(traceId) } };
    expect(JSON.stringify(await client.request("tools/call", params))).toContain(marker);
    await collector.trace(traceId);
    expect(collector.received.some(({ body }) => body.includes(marker))).toBe(false);
  });

  it("MG-3 a server that exits during a call fails both spans, and neither contains its output", async () => {
    const traceId = newTrace();
    const client = await connect(`${running.url}/mcp/it`);
    await client.request("tools/call", { name: "crash", _meta: { traceparent: traceparent(traceId) } });
    for (const span of await collector.trace(traceId)) {
      expect(span).toMatchObject({ status: { code: 2 }, attributes: { "error.type": "ServerNotRunning" } });
    }
    expect(collector.received.some(({ body }) => body.includes("about to crash"))).toBe(false);
  });
});

describe("the end of a hub that traces", () => {
  afterEach(endAll);

  it("MG-3 sends the remaining spans when it stops", async () => {
    const traceId = newTrace();
    const running = await hub({ ...tracing(), OTEL_BSP_SCHEDULE_DELAY: "3600000" });
    const client = await connect(`${running.url}/mcp/it`);
    await client.request("tools/call", { name: "pid", _meta: { traceparent: traceparent(traceId) } });
    expect(collector.received.some(({ body }) => body.includes(traceId))).toBe(false);
    expect(await running.stop()).toBe(0);
    expect(await collector.trace(traceId)).toHaveLength(2);
  });

  it("MG-3 sends JSON, even if http/protobuf is set", async () => {
    const before = collector.received.length;
    const protobuf = { OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf", OTEL_EXPORTER_OTLP_COMPRESSION: "gzip" };
    const running = await hub({ ...tracing(), ...protobuf });
    const client = await connect(`${running.url}/mcp/it`);
    await client.request("tools/call", { name: "pid" });
    await collector.more(before);
    const { headers, body } = collector.received[before] ?? { headers: {}, body: Buffer.of() };
    expect(headers).toMatchObject({ "content-type": "application/json", "content-encoding": "gzip" });
    expect(body.includes("tools/call pid")).toBe(true);
  });

  it("MG-3 records a client over stdio with the transport pipe", async () => {
    const traceId = newTrace();
    const { process: child, finished } = launch(await home(tracing()), ["stdio", "--group", "it"]);
    const messages = new Messages();
    onLines(child.stdout, (line) => messages.push(JSON.parse(line)));
    const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    send({
      id: "one",
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
    });
    await messages.find(({ id }) => id === "one");
    send({ id: "two", method: "tools/call", params: { name: "pid", _meta: { traceparent: traceparent(traceId) } } });
    await messages.find(({ id }) => id === "two");
    child.stdin.end();
    expect((await finished).code).toBe(0);
    const [server] = await collector.trace(traceId);
    expect(server?.attributes).toMatchObject({
      "network.transport": "pipe",
      "jsonrpc.request.id": "two",
      "mcp.protocol.version": "2025-06-18",
    });
    expect(server?.attributes).not.toHaveProperty(["mcp.session.id"]);
  });
});

describe("a hub that does not trace", () => {
  afterEach(endAll);

  it.each([
    ["names no collector", () => ({})],
    ["switches it off", () => ({ ...tracing(), OTEL_SDK_DISABLED: "true" })],
    ["wants no exporter", () => ({ ...tracing(), OTEL_TRACES_EXPORTER: "none" })],
  ])("MG-3 whose environment %s forwards `_meta` unchanged and opens no connection", async (_what, env) => {
    const before = collector.received.length;
    const running = await hub(env());
    const client = await connect(`${running.url}/mcp/it`);
    const _meta = { traceparent: traceparent(newTrace()), tracestate: "v=1", baggage: "b=1", other: { x: 1 } };
    expect(metaOf(await client.request("tools/call", { name: "meta", arguments: {}, _meta }))).toEqual(_meta);
    expect(metaOf(await client.request("tools/call", { name: "meta", arguments: {} }))).toBeNull();
    expect(await running.stop()).toBe(0);
    expect(collector.received).toHaveLength(before);
  });

  it("MG-3 warns about a protocol that it does not support", async () => {
    const running = await hub({ ...tracing(), OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" });
    expect(running.stderr()).toMatch(/warning: .*http\/protobuf or http\/json, not grpc: no traces are sent/);
  });
});

describe("a broken collector", () => {
  const holes: { close(): void }[] = [];
  afterEach(async () => {
    await endAll();
    for (const hole of holes.splice(0)) hole.close();
  });

  /** A server that accepts connections and never answers. */
  async function blackHole() {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on("error", () => undefined));
      socket.resume();
    });
    await listen(server);
    holes.push({
      close: () => {
        for (const socket of sockets) socket.destroy();
        server.close();
      },
    });
    const connected = async () => {
      if (sockets.size === 0) await once(server, "connection");
    };
    return { url: `http://127.0.0.1:${portOf(server)}`, connected };
  }

  const warnings = async (running: RunningHub) =>
    (await readFile(join(running.home.dir, "state/log.jsonl"), "utf8"))
      .split("\n")
      .filter((line) => line.includes("Cannot send traces to the collector"));

  it("MG-3 refuses connections: calls work, one warning is logged, and the hub stops", async () => {
    const { url } = await blackHole();
    holes.splice(0).forEach((hole) => hole.close()); // from here on connections are refused
    const running = await hub({ ...tracing(), OTEL_EXPORTER_OTLP_ENDPOINT: url });
    const client = await connect(`${running.url}/mcp/it`);
    for (let n = 0; n < 50; n++) {
      expect(await client.request("tools/call", { name: "add", arguments: { a: n, b: 1 } })).toMatchObject({
        result: { content: [{ text: String(n + 1) }] },
      });
    }
    expect(await running.stop()).toBe(0);
    expect(await warnings(running)).toEqual([expect.stringContaining(`${url}: ECONNREFUSED`)]);
  });

  it("MG-3 hangs: calls work meanwhile, and the hub stops in time", async () => {
    const { url, connected } = await blackHole();
    const running = await hub({ ...tracing(), OTEL_EXPORTER_OTLP_ENDPOINT: url });
    const client = await connect(`${running.url}/mcp/it`);
    await client.request("tools/call", { name: "pid" });
    await connected();
    expect(await client.request("tools/call", { name: "add", arguments: { a: 1, b: 1 } })).toHaveProperty("result");
    expect(await running.stop()).toBe(0);
    expect(await warnings(running)).toHaveLength(1);
  });
});
