// A group as an MCP server: real catalog, supervisor and calls with small MCP servers over HTTP; clients in memory.

import { describe, expect, it } from "vitest";
import { META } from "../protocol/revisions/era.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { failure, raw, RPC, success } from "../protocol/rpc/jsonrpc.ts";
import { type Tool, text, startServer, startEndpoint, session, ask } from "../../../test/support/endpoint.ts";

describe("initialize and server/discover", () => {
  it("CL-2 legacy: the negotiated revision, capabilities, and every server's instructions", async () => {
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

  it("CL-2 modern: all revisions, and cache members", async () => {
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

  it("a legacy-only method of a modern client fails and names the replacement", async () => {
    const { endpoint } = await startEndpoint({});
    expect(await ask(endpoint, "resources/subscribe", { uri: "x://y" }, { era: "modern" })).toMatchObject({
      value: { code: RPC.methodNotFound, message: expect.stringContaining("subscriptions/listen") },
    });
  });

  it("CL-2 ping replies at once", async () => {
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
  ])("SE-5 %s with %j is invalid params and names the field", async (method, params) => {
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
  ])("GR-3 %s is complete, on one page, in both eras", async (method, expected) => {
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

  it("GR-3 are empty for a group without servers", async () => {
    const { endpoint } = await startEndpoint({});
    expect((await ask(endpoint, "tools/list")).bytes).toBe('{"tools":[]}');
  });

  it("LC-10 wait until the servers are up or failed, for clients that list only once", async () => {
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

  it("CL-5 the reply is the server's, byte for byte; the server gets its own tool name", async () => {
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

  it("GR-5 an error of the server is passed on unchanged", async () => {
    const error = { code: -32099, message: "mine", data: { x: 1 } };
    const { url } = await startServer({ tools: { x: () => failure(error) } });
    const { endpoint } = await startEndpoint({ a: url });
    expect(await ask(endpoint, "tools/call", { name: "x" })).toMatchObject({ ok: false, bytes: JSON.stringify(error) });
  });

  it("GR-5 a tool outside the group is not found, and no server is called", async () => {
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

  it("GR-5 a server that is down gives a tool result with isError, and an error for other methods", async () => {
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

  it("RS-6 MG-5 every call emits an event with its outcome", async () => {
    const { url } = await startServer({
      tools: { good: () => text(""), bad: () => success({ content: [], isError: true }) },
    });
    const { endpoint, events } = await startEndpoint({ a: url });
    const calls: string[] = [];
    events.on("call.finished", ({ server, tool, group, outcome }) =>
      calls.push(`${group} ${server} ${tool} ${outcome}`),
    );
    await ask(endpoint, "tools/call", { name: "good" });
    await ask(endpoint, "tools/call", { name: "bad" });
    await ask(endpoint, "tools/call", { name: "absent" });
    await ask(endpoint, "tools/call", {});
    expect(calls).toEqual([
      "default a good ok",
      "default a bad tool_error",
      "default  absent refused",
      "default   refused",
    ]);
  });

  it("CL-3 a client's cancellation reaches the server", async () => {
    const client = new AbortController();
    let cancelled = () => {};
    const received = new Promise<void>((resolve) => (cancelled = resolve));
    const hang: Tool = ({ signal }) => {
      signal.addEventListener("abort", cancelled, { once: true });
      client.abort();
      return received.then(() => text("too late"));
    };
    const { url } = await startServer({ tools: { hang } });
    const { endpoint } = await startEndpoint({ a: url });
    const { value } = await ask(endpoint, "tools/call", { name: "hang" }, { signal: client.signal });
    expect(value).toMatchObject({ isError: true, _meta: { "io.plugboard/error": { kind: "Cancelled" } } });
    await received;
  });
});

describe("notifications during a call", () => {
  const talk: Tool = (incoming) => {
    const meta = incoming.request.params?.value["_meta"];
    const progressToken = isObject(meta) ? meta["progressToken"] : undefined;
    if (progressToken !== undefined) incoming.notify("notifications/progress", raw({ progressToken, progress: 1 }));
    incoming.notify("notifications/message", raw({ level: "info", data: "x" }));
    incoming.notify("notifications/message", raw({ level: "error", data: "y" }));
    return text("");
  };

  it.each([[7], ["theirs"]])("GR-7 progress has the client's own token %j", async (progressToken) => {
    const { url, asked } = await startServer({ tools: { talk } });
    const { endpoint } = await startEndpoint({ a: url });
    const { received } = await ask(endpoint, "tools/call", { name: "talk", _meta: { progressToken, trace: "t" } });
    expect(received[0]).toEqual({ method: "notifications/progress", params: { progressToken, progress: 1 } });
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
    const { received } = await ask(endpoint, "tools/call", { name: "talk" }, options);
    expect(received.map(({ params }) => isObject(params) && params["level"])).toEqual(expected);
  });

  it("GR-7 a log level is set for the session, and the lowest of all at the servers", async () => {
    const [a, b] = [await startServer(), await startServer({ era: "modern" })];
    const { endpoint } = await startEndpoint({ a: a.url, b: b.url });
    const [one, two] = [session(), session()];
    const origin = { transport: "http", headers: {}, end: () => undefined } as const;
    for (const opened of [one, two]) endpoint.onSession(opened, origin);
    await ask(endpoint, "logging/setLevel", { level: "info" }, { session: one });
    await ask(endpoint, "logging/setLevel", { level: "error" }, { session: two });
    expect([one.logLevel, two.logLevel]).toEqual(["info", "error"]);
    const levels = () => a.asked("logging/setLevel").map(({ request }) => request.params?.value["level"]);
    expect(levels()).toEqual(["info"]);
    endpoint.onSessionEnd(one);
    await expect.poll(() => levels()).toEqual(["info", "error"]);
    expect(b.asked("logging/setLevel")).toEqual([]);
  });
});

describe("prompts, resources, completions", () => {
  it("GR-7 go to their owner under its own name", async () => {
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

  it("GR-6 a URI of two servers is distinguished, and the reply has the exposed URI", async () => {
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

  it("T35 are forwarded to a modern server, with its own tool name", async () => {
    const server = await startServer({ era: "modern", definitions: [definition], tools: { ship: () => text("sent") } });
    const other = await startServer();
    const { endpoint } = await startEndpoint({ a: server.url, b: other.url });
    expect(await ask(endpoint, "tools/call", { ...call, name: "a__ship" })).toMatchObject({ ok: true });
    expect(server.asked("tools/call")[0]?.headers).toMatchObject({ "mcp-name": "ship", "mcp-param-region": "eu" });
  });
});
