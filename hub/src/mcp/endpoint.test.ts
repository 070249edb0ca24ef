// A group as an MCP server: real catalog, supervisor and calls before real little MCP servers over HTTP; clients in memory.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Calls } from "../calls/call.ts";
import { Latency } from "../calls/latency.ts";
import { Redactor } from "../calls/redact.ts";
import { MemoryCallLog } from "../store/memory-call-log.ts";
import { Catalog } from "../catalog/catalog.ts";
import type { GroupConfig, HubConfig, ServerConfig } from "../config/types.ts";
import { HubEvents } from "../events.ts";
import { EraMemory } from "../servers/era-memory.ts";
import { Guard } from "../servers/guard.ts";
import { Supervisor } from "../servers/supervisor.ts";
import { adaptResult, META, type Era } from "../wire/era.ts";
import { StreamableHttpServer } from "../wire/http-server.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { failure, raw, rawParams, RPC, success, type Id, type Reply } from "../wire/jsonrpc.ts";
import type { Exchange, Session } from "../wire/server.ts";
import { Endpoint } from "./endpoint.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

type Tool = (exchange: Exchange) => Reply | Promise<Reply>;

interface ServerOptions {
  readonly era?: Era;
  readonly tools?: Readonly<Record<string, Tool>>;
  readonly definitions?: readonly JsonObject[];
  readonly resources?: readonly string[];
  readonly instructions?: string;
}

const text = (value: string) => success({ content: [{ type: "text", text: value }] });

/** An MCP server of one era with the given tools, one prompt, one template. Keeps every request that it got. */
async function startServer({
  era = "legacy",
  tools = {},
  definitions,
  resources = [],
  instructions,
}: ServerOptions = {}) {
  const seen: Exchange[] = [];
  const capabilities = { tools: {}, prompts: {}, resources: {}, completions: {}, logging: {} };
  const named = Object.keys(tools).map((name) => ({ name, inputSchema: { type: "object" } }));
  const hello = instructions === undefined ? { capabilities } : { capabilities, instructions };
  const answers: Record<string, Tool> = {
    "tools/list": () => success({ tools: definitions ?? named }),
    "prompts/list": () => success({ prompts: [{ name: "greet" }] }),
    "resources/list": () => success({ resources: resources.map((uri) => ({ uri, name: uri })) }),
    "resources/templates/list": () => success({ resourceTemplates: [{ uriTemplate: "item:{id}", name: "item" }] }),
    "tools/call": (exchange) => {
      const tool = tools[String(exchange.request.params?.value["name"])];
      return tool === undefined ? failure({ code: RPC.invalidParams, message: "no such tool" }) : tool(exchange);
    },
    "prompts/get": () => success({ messages: [] }),
    "resources/read": ({ request }) => success({ contents: [{ uri: request.params?.value["uri"], text: "x" }] }),
    "completion/complete": () => success({ completion: { values: ["a"] } }),
    ...(era === "modern"
      ? { "server/discover": () => success({ ...hello, supportedVersions: ["2026-07-28"] }) }
      : {
          initialize: (exchange) =>
            success({ ...hello, protocolVersion: exchange.session?.version, serverInfo: { name: "x" } }),
          "logging/setLevel": () => success({}),
        }),
  };
  const endpoint = new StreamableHttpServer({
    handle: async (exchange) => {
      seen.push(exchange);
      const { method } = exchange.request;
      const reply = (await answers[method]?.(exchange)) ?? failure({ code: RPC.methodNotFound, message: method });
      return reply.ok ? { ok: true, result: adaptResult(reply.result, method, era) } : reply;
    },
    onNotification: () => undefined,
    onSession: () => undefined,
    onSessionEnd: () => undefined,
  });
  const http = createServer((request, response) => endpoint.handle(request, response)).listen(0, "127.0.0.1");
  await once(http, "listening");
  const close = async () => {
    endpoint.close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  };
  cleanups.push(close);
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has an address of this form
  const { port } = http.address() as AddressInfo;
  const asked = (method: string) => seen.filter(({ request }) => request.method === method);
  return { url: `http://127.0.0.1:${port}/mcp`, asked, close };
}

function config(name: string, url: string): ServerConfig {
  const transport = { type: "http", url, headers: {} } as const;
  const base = { id: name, name, enabled: true, source: { type: "manual" }, transport, env: {} } as const;
  return { ...base, timeouts: {}, groups: [] };
}

/** An endpoint of the group `default` (or the given one) over running servers. */
async function startEndpoint(
  urls: Readonly<Record<string, string>>,
  groups: readonly GroupConfig[] = [],
  settled?: Promise<void>,
) {
  const secrets = {
    get: async () => undefined,
    set: async () => undefined,
    delete: async () => false,
    list: async () => [],
  };
  const eras = await EraMemory.open();
  const guard = new Guard({ instance: "test" });
  const world = { variables: {}, secrets, guard, eras, instance: "test", redactor: new Redactor() };
  const supervisor = new Supervisor(world, { onStatus: () => undefined, onOffer: () => undefined });
  const events = new HubEvents();
  const servers = Object.entries(urls).map(([name, url]) => config(name, url));
  for (const server of servers) supervisor.add(server);
  cleanups.push(() => supervisor.shutdownAll());
  await supervisor.startAll();
  const hub: HubConfig = { servers, groups };
  const group = () => Catalog.build(hub, supervisor.listings()).group(groups[0]?.name);
  const calls = new Calls({
    supervisor,
    events,
    log: new MemoryCallLog({ redactor: new Redactor() }),
    latency: new Latency(),
  });
  const endpoint = new Endpoint({ group, calls, supervisor, ...(settled === undefined ? {} : { settled }) });
  cleanups.push(() => endpoint.close());
  return { endpoint, supervisor, events };
}

function session(version = "2025-11-25"): Session {
  const notify = () => undefined;
  const base = { id: "1", version, clientInfo: undefined, capabilities: {}, logLevel: undefined };
  return { ...base, notify, ask: () => Promise.reject(new Error("nobody there")) };
}

interface AskOptions {
  readonly id?: Id;
  readonly era?: Era;
  readonly session?: Session;
  readonly logLevel?: string;
  readonly headers?: Exchange["headers"];
  readonly signal?: AbortSignal;
}

/** One request of a client in memory, and what it heard before the answer. */
async function ask(endpoint: Endpoint, method: string, params?: JsonObject | string, options: AskOptions = {}) {
  const heard: { method: string; params: unknown }[] = [];
  const given =
    typeof params === "string" ? rawParams(JSON.parse(params), Buffer.from(params)) : params && rawParams(params);
  const reply = await endpoint.handle({
    request: { kind: "request", id: options.id ?? 1, method, params: given },
    era: options.era ?? "legacy",
    transport: "http",
    session: options.session,
    capabilities: options.session?.capabilities ?? {},
    logLevel: options.logLevel,
    headers: options.headers ?? {},
    signal: options.signal ?? new AbortController().signal,
    notify: (name, payload) => heard.push({ method: name, params: payload?.value }),
  });
  const payload = reply.ok ? reply.result : reply.error;
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- what a test expects is checked where it expects it
  const value = JSON.parse(payload.bytes.toString()) as Record<string, any>; // eslint-disable-line typescript/no-explicit-any -- likewise
  return { ok: reply.ok, bytes: payload.bytes.toString(), value, heard };
}

describe("introductions", () => {
  it("CL-2 in the legacy era: the agreed revision, what there is, and every server's instructions", async () => {
    const [a, b] = [await startServer({ instructions: "Use A." }), await startServer({ instructions: "Use B." })];
    const group = { name: "work", description: "For work.", servers: ["a", "b"], tools: [] };
    const { endpoint } = await startEndpoint({ a: a.url, b: b.url }, [group]);
    const { value } = await ask(endpoint, "initialize", {}, { session: session("2025-03-26") });
    expect(value).toMatchObject({
      protocolVersion: "2025-03-26",
      serverInfo: { name: "plugboard", title: "Plugboard: work" },
      instructions: "For work.\n\n# a\nUse A.\n\n# b\nUse B.",
      capabilities: { tools: { listChanged: true }, prompts: { listChanged: true }, resources: { listChanged: true } },
    });
    expect(value).not.toHaveProperty("resultType");
  });

  it("CL-2 in the modern era: all revisions, and how long that holds", async () => {
    const { url } = await startServer({ instructions: "Use it." });
    const { endpoint } = await startEndpoint({ a: url });
    const { value } = await ask(endpoint, "server/discover", {}, { era: "modern" });
    expect(value).toMatchObject({
      resultType: "complete",
      supportedVersions: expect.arrayContaining(["2026-07-28", "2025-11-25"]),
      ttlMs: 0,
      cacheScope: "private",
      instructions: "Use it.",
      _meta: { [META.serverInfo]: { name: "plugboard" } },
    });
  });
});

describe("methods", () => {
  it.each([
    ["legacy", "nothing/here"],
    ["legacy", "server/discover"],
    ["legacy", "subscriptions/listen"],
    ["legacy", "__proto__"],
    ["legacy", "constructor"],
    ["legacy", ""],
    ["modern", "initialize"],
    ["modern", "ping"],
    ["modern", "logging/setLevel"],
    ["modern", "resources/subscribe"],
    ["modern", "toString"],
  ] as const)("SE-5 the %s era has no %j", async (era, method) => {
    const { endpoint } = await startEndpoint({});
    expect(await ask(endpoint, method, {}, { era })).toMatchObject({ ok: false, value: { code: RPC.methodNotFound } });
  });

  it("E7 a modern client that asks for what earlier revisions had is told what there is instead", async () => {
    const { endpoint } = await startEndpoint({});
    expect(await ask(endpoint, "resources/subscribe", { uri: "x://y" }, { era: "modern" })).toMatchObject({
      value: { code: RPC.methodNotFound, message: expect.stringContaining("subscriptions/listen") },
    });
  });

  it("CL-2 ping is answered at once", async () => {
    const { endpoint } = await startEndpoint({});
    expect(await ask(endpoint, "ping")).toMatchObject({ ok: true, bytes: "{}" });
  });

  it.each([
    ["tools/call", {}],
    ["tools/call", { name: 7 }],
    ["prompts/get", { name: null }],
    ["resources/read", { uri: ["x"] }],
    ["completion/complete", {}],
    ["completion/complete", { ref: { type: "ref/prompt" } }],
    ["completion/complete", { ref: { type: "ref/other", name: "x" } }],
    ["logging/setLevel", { level: "loud" }],
    ["tools/list", { cursor: "not-ours" }],
    ["resources/list", { cursor: 7 }],
  ])("SE-5 %s with %j is the client's mistake, and says which", async (method, params) => {
    const { url, asked } = await startServer({ tools: { a: () => text("x") } });
    const { endpoint } = await startEndpoint({ a: url });
    const { ok, value } = await ask(endpoint, method, params);
    expect(ok).toBe(false);
    expect(value).toMatchObject({
      code: RPC.invalidParams,
      data: { code: "VALIDATION_ERROR", field: expect.any(String) },
    });
    expect([asked("tools/call"), asked("prompts/get"), asked("resources/read")]).toEqual([[], [], []]);
  });
});

describe("lists", () => {
  it.each([
    ["tools/list", { tools: [{ name: "x", inputSchema: { type: "object" } }] }],
    ["prompts/list", { prompts: [{ name: "greet" }] }],
    ["resources/list", { resources: [{ uri: "a:1", name: "a:1" }] }],
    ["resources/templates/list", { resourceTemplates: [{ uriTemplate: "item:{id}", name: "item" }] }],
  ])("GR-3 %s is whole, on one page, in both eras", async (method, expected) => {
    const { url } = await startServer({ tools: { x: () => text("") }, resources: ["a:1"] });
    const { endpoint } = await startEndpoint({ a: url });
    expect((await ask(endpoint, method)).value).toEqual(expected);
    expect((await ask(endpoint, method, {}, { era: "modern" })).value).toEqual({
      ...expected,
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private",
    });
  });

  it("GR-3 of a group without servers they are empty", async () => {
    const { endpoint } = await startEndpoint({});
    expect((await ask(endpoint, "tools/list")).bytes).toBe('{"tools":[]}');
  });

  it("LC-10 wait until the servers are up or failed, where the client takes the first list for the whole truth", async () => {
    let settle = () => {};
    const settled = new Promise<void>((resolve) => (settle = resolve));
    const { endpoint } = await startEndpoint({}, [], settled);
    const order: string[] = [];
    const listed = ask(endpoint, "tools/list").then(() => order.push("list"));
    await ask(endpoint, "initialize", {}, { session: session() });
    await ask(endpoint, "ping");
    order.push("hello");
    settle();
    await listed;
    expect(order).toEqual(["hello", "list"]);
  });
});

describe("calls", () => {
  const exact = '{"content":[],"n":1.0,"big":12345678901234567890,"s":"\\u00e9"}';
  const verbatim: Tool = () => ({ ok: true, result: { bytes: Buffer.from(exact), value: JSON.parse(exact) } });

  it("CL-5 the answer is the server's, byte for byte; the server knows its tool by its own name", async () => {
    const [a, b] = [
      await startServer({ tools: { x: verbatim } }),
      await startServer({ tools: { x: () => text("b") } }),
    ];
    const { endpoint } = await startEndpoint({ a: a.url, b: b.url });
    expect((await ask(endpoint, "tools/call", '{"name":"a__x","arguments":{"n":1.0}}')).bytes).toBe(exact);
    const [call] = a.asked("tools/call");
    expect(call?.request.params?.value["name"]).toBe("x");
    expect(call?.request.params?.bytes.toString()).toContain('"arguments":{"n":1.0}');
    expect(b.asked("tools/call")).toEqual([]);
  });

  it.each(["legacy", "modern"] as const)("GR-7 clients of both eras call a %s server", async (era) => {
    const { url } = await startServer({ era, tools: { x: () => text("hi") } });
    const { endpoint } = await startEndpoint({ a: url });
    const content = [{ type: "text", text: "hi" }];
    expect((await ask(endpoint, "tools/call", { name: "x" })).value).toEqual({ content });
    expect((await ask(endpoint, "tools/call", { name: "x" }, { era: "modern" })).value).toEqual({
      content,
      resultType: "complete",
    });
  });

  it("GR-5 an error of the server comes back as it is", async () => {
    const error = { code: -32099, message: "mine", data: { x: 1 } };
    const { url } = await startServer({ tools: { x: () => failure(error) } });
    const { endpoint } = await startEndpoint({ a: url });
    expect(await ask(endpoint, "tools/call", { name: "x" })).toMatchObject({ ok: false, bytes: JSON.stringify(error) });
  });

  it("GR-5 what is not in the group is not found, and nothing is asked", async () => {
    const { url, asked } = await startServer({ tools: { x: () => text(""), y: () => text("") } });
    const { endpoint } = await startEndpoint({ a: url }, [{ name: "g", servers: ["a"], tools: ["x"] }]);
    for (const name of ["y", "a:y", "nothing", "", "__proto__"]) {
      expect(await ask(endpoint, "tools/call", { name })).toMatchObject({
        ok: false,
        value: {
          code: RPC.invalidParams,
          message: expect.stringMatching(/^Tool not found \(/),
          data: { code: "NOT_FOUND" },
        },
      });
    }
    expect(asked("tools/call")).toEqual([]);
  });

  it("GR-5 a server that is down is a result that a model can read, and an error elsewhere", async () => {
    const { url, close } = await startServer({ tools: { x: () => text("") } });
    const { endpoint, supervisor } = await startEndpoint({ a: url });
    await close();
    await supervisor.get("a").stop();
    expect(await ask(endpoint, "tools/call", { name: "x" })).toMatchObject({
      ok: true,
      value: { isError: true, content: [{ text: expect.stringContaining("SERVICE_UNAVAILABLE: Server unavailable") }] },
    });
    expect(await ask(endpoint, "prompts/get", { name: "greet" })).toMatchObject({ ok: false, value: { code: -31503 } });
  });

  it("RS-6 MG-5 every call is told, with its outcome", async () => {
    const { url } = await startServer({
      tools: { good: () => text(""), bad: () => success({ content: [], isError: true }) },
    });
    const { endpoint, events } = await startEndpoint({ a: url });
    const told: string[] = [];
    events.on("call.finished", ({ server, tool, group, outcome }) =>
      told.push(`${group} ${server} ${tool} ${outcome}`),
    );
    await ask(endpoint, "tools/call", { name: "good" });
    await ask(endpoint, "tools/call", { name: "bad" });
    await ask(endpoint, "tools/call", { name: "absent" });
    await ask(endpoint, "tools/call", {});
    expect(told).toEqual([
      "default a good ok",
      "default a bad tool_error",
      "default  absent refused",
      "default   refused",
    ]);
  });

  it("CL-3 a client that cancels cancels at the server", async () => {
    const client = new AbortController();
    let cancelled = () => {};
    const heard = new Promise<void>((resolve) => (cancelled = resolve));
    const hang: Tool = ({ signal }) => {
      signal.addEventListener("abort", cancelled, { once: true });
      client.abort();
      return heard.then(() => text("too late"));
    };
    const { url } = await startServer({ tools: { hang } });
    const { endpoint } = await startEndpoint({ a: url });
    const { value } = await ask(endpoint, "tools/call", { name: "hang" }, { signal: client.signal });
    expect(value).toMatchObject({ isError: true, _meta: { "io.plugboard/error": { kind: "Cancelled" } } });
    await heard;
  });
});

describe("what a server says during a call", () => {
  const talk: Tool = (exchange) => {
    const meta = exchange.request.params?.value["_meta"];
    const progressToken = isObject(meta) ? meta["progressToken"] : undefined;
    if (progressToken !== undefined) exchange.notify("notifications/progress", raw({ progressToken, progress: 1 }));
    exchange.notify("notifications/message", raw({ level: "info", data: "x" }));
    exchange.notify("notifications/message", raw({ level: "error", data: "y" }));
    return text("");
  };

  it.each([[7], ["theirs"]])("GR-7 progress comes back under the client's own token %j", async (progressToken) => {
    const { url, asked } = await startServer({ tools: { talk } });
    const { endpoint } = await startEndpoint({ a: url });
    const { heard } = await ask(endpoint, "tools/call", { name: "talk", _meta: { progressToken, trace: "t" } });
    expect(heard[0]).toEqual({ method: "notifications/progress", params: { progressToken, progress: 1 } });
    const [call] = asked("tools/call");
    expect(call?.request.params?.value["_meta"]).toEqual({ trace: "t", progressToken: expect.any(Number) });
  });

  it.each([
    ["a legacy session that named no level gets what comes", { session: session() }, ["info", "error"]],
    ["a legacy session gets its level and above", { session: { ...session(), logLevel: "error" } }, ["error"]],
    ["a modern request gets its level and above", { era: "modern", logLevel: "warning" }, ["error"]],
    ["a modern request gets all that it asked for", { era: "modern", logLevel: "debug" }, ["info", "error"]],
    ["a modern request that names no level gets no logs", { era: "modern" }, []],
  ] as const)("GR-7 %s", async (_, options, expected) => {
    const { url } = await startServer({ tools: { talk } });
    const { endpoint } = await startEndpoint({ a: url });
    const { heard } = await ask(endpoint, "tools/call", { name: "talk" }, options);
    expect(heard.map(({ params }) => isObject(params) && params["level"])).toEqual(expected);
  });

  it("GR-7 a level is set for the session, and the lowest that anyone wants at the servers", async () => {
    const [a, b] = [await startServer(), await startServer({ era: "modern" })];
    const { endpoint } = await startEndpoint({ a: a.url, b: b.url });
    const [one, two] = [session(), session()];
    endpoint.onSession(one);
    endpoint.onSession(two);
    await ask(endpoint, "logging/setLevel", { level: "info" }, { session: one });
    await ask(endpoint, "logging/setLevel", { level: "error" }, { session: two });
    expect([one.logLevel, two.logLevel]).toEqual(["info", "error"]);
    const levels = () => a.asked("logging/setLevel").map(({ request }) => request.params?.value["level"]);
    expect(levels()).toEqual(["info"]);
    endpoint.onSessionEnd(one);
    await vi.waitFor(() => expect(levels()).toEqual(["info", "error"]));
    expect(b.asked("logging/setLevel")).toEqual([]);
  });
});

describe("prompts, resources, completions", () => {
  it("GR-7 go to their owner under the name that it knows", async () => {
    const [a, b] = [await startServer({ resources: ["a:1"] }), await startServer({ resources: ["b:1"] })];
    const { endpoint } = await startEndpoint({ a: a.url, b: b.url });
    await ask(endpoint, "prompts/get", { name: "b__greet" });
    await ask(endpoint, "resources/read", { uri: "a:1" });
    await ask(endpoint, "completion/complete", {
      ref: { type: "ref/prompt", name: "a__greet" },
      argument: { name: "x", value: "y" },
    });
    expect(b.asked("prompts/get")[0]?.request.params?.value).toEqual({ name: "greet" });
    expect(a.asked("resources/read")[0]?.request.params?.value).toEqual({ uri: "a:1" });
    expect(a.asked("completion/complete")[0]?.request.params?.value).toEqual({
      ref: { type: "ref/prompt", name: "greet" },
      argument: { name: "x", value: "y" },
    });
    expect([a.asked("prompts/get"), b.asked("resources/read"), b.asked("completion/complete")]).toEqual([[], [], []]);
  });

  it("GR-6 a URI of two servers is told apart, and the answer names what the client can ask for", async () => {
    const [a, b] = [await startServer({ resources: ["x:1"] }), await startServer({ resources: ["x:1"] })];
    const { endpoint } = await startEndpoint({ a: a.url, b: b.url });
    const { value } = await ask(endpoint, "resources/list");
    const uris: string[] = value["resources"].map((resource: JsonObject) => resource["uri"]);
    expect(new Set(uris).size).toBe(2);
    for (const uri of uris) {
      expect((await ask(endpoint, "resources/read", { uri })).value).toEqual({ contents: [{ uri, text: "x" }] });
    }
    expect([a, b].map(({ asked }) => asked("resources/read")[0]?.request.params?.value["uri"])).toEqual(["x:1", "x:1"]);
  });

  it.each([
    ["legacy", -32002],
    ["modern", RPC.invalidParams],
  ] as const)("GR-5 an unknown resource in the %s era: %i", async (era, code) => {
    const [a, b] = [await startServer({ resources: ["a:1"] }), await startServer()];
    const { endpoint } = await startEndpoint({ a: a.url, b: b.url });
    expect(await ask(endpoint, "resources/read", { uri: "zzz:1" }, { era })).toMatchObject({
      ok: false,
      value: { code },
    });
  });
});

describe("T35 arguments that are repeated in headers", () => {
  const definition = {
    name: "ship",
    inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } },
  };
  const call = { name: "ship", arguments: { region: "eu" } };
  const headers = { "mcp-method": "tools/call", "mcp-name": "ship" };

  it.each([
    ["fit", { era: "modern", headers: { ...headers, "mcp-param-region": "eu" } }, true],
    ["contradict", { era: "modern", headers: { ...headers, "mcp-param-region": "us" } }, false],
    ["are missing", { era: "modern", headers }, false],
    ["do not exist on stdio", { era: "modern" }, true],
    ["do not exist in the legacy era", { era: "legacy", headers: {} }, true],
  ] as const)("T35 they %s", async (_, options, passes) => {
    const { url, asked } = await startServer({ definitions: [definition], tools: { ship: () => text("sent") } });
    const { endpoint } = await startEndpoint({ a: url });
    const { ok, value } = await ask(endpoint, "tools/call", call, options);
    expect(ok).toBe(passes);
    if (!passes) expect(value["code"]).toBe(RPC.headerMismatch);
    expect(asked("tools/call")).toHaveLength(passes ? 1 : 0);
  });

  it("T35 are sent on to a modern server, by the name that it knows", async () => {
    const server = await startServer({ era: "modern", definitions: [definition], tools: { ship: () => text("sent") } });
    const other = await startServer();
    const { endpoint } = await startEndpoint({ a: server.url, b: other.url });
    expect(await ask(endpoint, "tools/call", { ...call, name: "a__ship" })).toMatchObject({ ok: true });
    expect(server.asked("tools/call")[0]?.headers).toMatchObject({ "mcp-name": "ship", "mcp-param-region": "eu" });
  });
});
