// Calls to managed servers through the hub: invalid output of servers, order, timeouts, cancellation, crashes, and results that
// pass unchanged. Processes and sockets are real.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { LOCAL } from "../../hub/src/servers/instances/caller.ts";
import { rawParams } from "../../hub/src/protocol/rpc/jsonrpc.ts";
import { fixture, type Servers } from "../support/hub.ts";
import { callText, callTool, openInProcess, textOf, untilState, type InProcess } from "../support/in-process.ts";
import { nextLine, processesWithMark } from "../support/processes.ts";
import { startRemote, type Remote } from "../support/remote.ts";
import { connect, modern, post } from "../support/rpc.ts";
import { openStream } from "../support/streams.ts";

const opened: InProcess[] = [];
const remotes: Remote[] = [];

/** A running hub with one server, and the address of its endpoint. */
async function open(entry: Servers[string], more: Servers = {}) {
  const inProcess = await openInProcess({ it: entry, ...more });
  opened.push(inProcess);
  const url = `${await inProcess.hub.listen({ host: "127.0.0.1", port: 0 })}/mcp`;
  await inProcess.hub.start();
  // Clients may see a catalog that is a few milliseconds old; reading it here makes it current for them too.
  expect(inProcess.hub.catalog.groupNames).toEqual(["default"]);
  return { ...inProcess, url, server: inProcess.hub.supervisor.get("it") };
}

async function remote(...args: Parameters<typeof startRemote>): Promise<Remote> {
  const started = await startRemote(...args);
  remotes.push(started);
  return started;
}

afterEach(async () => {
  for (const { end } of opened.splice(0)) expect(await end()).toEqual([]);
  for (const { stop } of remotes.splice(0)) await stop();
});

describe("a server's output", () => {
  it("CL-1 F06 F09 F10 F11 junk, wrong ids and repeated answers are ignored", async () => {
    const { hub, server } = await open(fixture("noisy"));
    expect(server.status).toMatchObject({ state: "running", tools: expect.arrayContaining(["echo"]) });
    const texts = Array.from({ length: 20 }, (_, n) => `text ${n}`);
    expect(await Promise.all(texts.map((text) => callText(hub, "it", "echo", { text })))).toEqual(texts);
  });

  it("CL-4 all pages are read, and invalid entries are left out", async () => {
    const { server } = await open(fixture("paged"));
    expect(server.status).toMatchObject({ tools: ["one", "two", "three"] });
  });

  it("CL-4 a repeated cursor ends the list", async () => {
    const { server } = await open(fixture("paged", "repeat"));
    expect(server.status).toMatchObject({ state: "running" });
    expect(server.status).toHaveProperty("tools", ["one", "two", "three"]);
  });

  it("CL-4 a page that fails is an error of the server, not a partial list", async () => {
    const { server } = await open(fixture("paged", "broken"));
    expect(server.status).toMatchObject({
      state: "error",
      error: { code: "NETWORK_ERROR", kind: "ProtocolError", detail: "Bad cursor" },
    });
  });

  it("SE-5 F08 T24 a line without an end is cut off, its call fails, and the hub keeps running", async () => {
    const bomb = { ...fixture("line-bomb"), resilience: { restart: false } };
    const { hub, home } = await open(bomb, { other: fixture("echo") });
    await expect(callTool(hub, "it", "bomb")).rejects.toMatchObject({ kind: "ProtocolError" });
    expect(await untilState(hub, "it", "error")).toMatchObject({ error: { code: "NETWORK_ERROR" } });
    expect(await callText(hub, "other", "echo", { text: "still here" })).toBe("still here");
    await hub.supervisor.get("other").stop();
    // Its process is killed after the call has failed.
    await expect.poll(() => processesWithMark(home.mark)).toEqual([]);
  });

  it("CL-6 an answer of several megabytes is complete and does not block other calls", async () => {
    const { hub } = await open(fixture("echo"));
    const [big, small] = await Promise.all([
      callText(hub, "it", "big", { bytes: 8 << 20 }),
      callText(hub, "it", "echo", { text: "small" }),
    ]);
    expect(big.length).toBe(8 << 20);
    expect(small).toBe("small");
  });

  it("GR-7 F13 requests of the server are answered, even if their ids equal those of open calls", async () => {
    const { hub } = await open(fixture("asks"));
    const answers = JSON.parse(await callText(hub, "it", "ask"));
    expect(answers).toEqual([
      { id: 1, result: {} },
      { id: "two", error: { code: -32601, message: expect.stringContaining("client's model") } },
      { id: 3, error: { code: -32601, message: expect.stringContaining("(roots)") } },
    ]);
  });
});

describe("results", () => {
  /** The bytes of `result` in an answer. */
  const resultOf = (answer: string) =>
    /^\{"jsonrpc":"2.0","id":\d+,"result":(.*)\}$/s.exec(answer.trim())?.[1] ?? answer;

  /** The bytes that the fixture writes. */
  async function direct(name: string, params: unknown): Promise<string> {
    const { command, args } = fixture(name);
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    const line = nextLine(child.stdout);
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`);
    const answer = await line;
    child.stdin.end();
    return resultOf(answer);
  }

  it("CL-5 the bytes of a result are unchanged: unknown fields, unknown content, number formats", async () => {
    const { url } = await open(fixture("echo"));
    const { headers } = await connect(url);
    const call = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "unknown_fields" } };
    const through = resultOf((await post(url, call, headers)).body);
    expect(through).toBe(await direct("echo", { name: "unknown_fields" }));
    expect(through).toContain('"depth":1.0,"id":12345678901234567890');
  });

  it("CL-5 the bytes of a modern server's result reach a modern client unchanged", async () => {
    const { url } = await open(fixture("modern"));
    const key = "io.modelcontextprotocol";
    const _meta = { [`${key}/protocolVersion`]: "2026-07-28", [`${key}/clientCapabilities`]: {} };
    const expected = await direct("modern", { name: "unknown_fields", _meta });
    expect(resultOf((await modern(url, "tools/call", { name: "unknown_fields", arguments: {} })).body)).toBe(expected);
    expect(expected).toContain("12345678901234567890");
  });

  it.each([
    [
      "CL-5 a tool's own failure",
      "fail",
      { result: { content: [{ type: "text", text: "it failed" }], isError: true } },
    ],
    ["GR-5 an error", "rpc_error", { error: { code: -32042, message: "no such luck", data: { reason: "odd", n: 1 } } }],
  ])("%s passes unchanged", async (_, name, expected) => {
    const { url } = await open(fixture("echo"));
    const session = await connect(url);
    expect(await session.request("tools/call", { name })).toMatchObject(expected);
  });

  it("GR-7 a modern server may ask for input, and gets it with the caller's next request", async () => {
    const { url } = await open(fixture("modern"));
    const asked = JSON.parse((await modern(url, "tools/call", { name: "ask_name", arguments: {} })).body);
    expect(asked.result).toMatchObject({ resultType: "input_required", requestState: "state-1" });
    const inputResponses = { name: { action: "accept", content: { name: "Ada" } } };
    const again = { name: "ask_name", arguments: {}, inputResponses, requestState: "state-1" };
    const { result } = JSON.parse((await modern(url, "tools/call", again)).body);
    expect(result.content).toEqual([{ type: "text", text: "Ada (state-1)" }]);
  });
});

describe("headers", () => {
  it("GR-7 an argument that a tool declares as a header is sent as one", async () => {
    const { hub } = await open((await remote("modern-http")).entry);
    const tool = hub.catalog.group().resolveTool("regional");
    const params = { name: "regional", arguments: { region: "eu-north" } };
    expect(await callText(hub, "it", "regional", params.arguments, { tool: tool.definition })).toBe("eu-north");
    expect(() => hub.catalog.group().resolveTool("impossible")).toThrow("Tool not found");
  });
});

describe("order", () => {
  it("CL-6 answers may come in any order", async () => {
    const { hub } = await open(fixture("out-of-order"));
    const [first, second] = await Promise.all([
      callText(hub, "it", "echo", { text: "first" }),
      callText(hub, "it", "echo", { text: "second" }),
    ]);
    expect([first, second]).toEqual(["first", "second"]);
  });

  it("CL-6 a hundred calls run at once over one connection", async () => {
    // The fixture answers only when all calls have arrived.
    const { hub, home } = await open(fixture("out-of-order", "100"));
    const texts = Array.from({ length: 100 }, (_, n) => `text ${n}`);
    expect(await Promise.all(texts.map((text) => callText(hub, "it", "echo", { text })))).toEqual(texts);
    expect(processesWithMark(home.mark)).toHaveLength(1);
  });
});

describe("time", () => {
  const heardBy = async (hub: InProcess["hub"]): Promise<unknown[]> => JSON.parse(await callText(hub, "it", "heard"));

  it("CL-3 F03 F05 a call that times out is cancelled at the server, and its late answer is dropped", async () => {
    const { hub } = await open({ ...fixture("late"), timeouts: { requestMs: 1000 } });
    await expect(callTool(hub, "it", "hang")).rejects.toMatchObject({ code: "NETWORK_ERROR", kind: "Timeout" });
    // The server writes the late answer before it reads this call, so that the hub could take it for the answer to this call.
    expect(await callText(hub, "it", "echo", { text: "on time" })).toBe("on time");
    const cancelled = { requestId: expect.any(Number), reason: expect.any(String) };
    expect(await heardBy(hub)).toContainEqual({ "notifications/cancelled": cancelled });
  });

  it.each(["legacy-http", "modern-http"])(
    "CL-3 F03 a call over HTTP (%s) times out and is cancelled at the server",
    async (name) => {
      const { entry } = await remote(name);
      const { hub } = await open({ ...entry, timeouts: { requestMs: 1000 } });
      await expect(callTool(hub, "it", "hang")).rejects.toMatchObject({ code: "NETWORK_ERROR", kind: "Timeout" });
      expect(await callText(hub, "it", "echo", { text: "on time" })).toBe("on time");
      // Modern clients cancel by closing the stream.
      expect(JSON.stringify(await heardBy(hub)).includes("notifications/cancelled")).toBe(name === "legacy-http");
    },
  );

  it("CL-3 the time limit may be set per call", async () => {
    const { hub } = await open(fixture("echo"));
    await expect(callTool(hub, "it", "hang", {}, { timeoutMs: 100 })).rejects.toMatchObject({ kind: "Timeout" });
  });

  it("CL-3 progress restarts the timeout", async () => {
    const { hub } = await open({ ...fixture("echo"), timeouts: { requestMs: 1000 } });
    const params = { name: "progress", arguments: { steps: 6, ms: 300 }, _meta: { progressToken: "mine" } };
    const seen: unknown[] = [];
    const reply = await hub.calls.callTool({
      method: "tools/call",
      params: rawParams(params),
      group: "default",
      server: "it",
      name: "progress",
      caller: LOCAL,
      onNotification: (method, { value }) => seen.push([method, value]),
    });
    expect(textOf(reply)).toBe("6 steps");
    expect(seen).toHaveLength(6);
    expect(seen[0]).toEqual([
      "notifications/progress",
      { progressToken: "mine", progress: 1, total: 6, message: "step 1" },
    ]);
  });

  it("GR-7 CL-3 a caller's cancellation reaches the server", async () => {
    const { hub } = await open(fixture("echo"));
    const abort = new AbortController();
    const call = callTool(hub, "it", "hang", {}, { signal: abort.signal });
    // The server has received the first call once this one is answered.
    await callText(hub, "it", "echo", { text: "x" });
    abort.abort();
    await expect(call).rejects.toMatchObject({ kind: "Cancelled" });
    expect(JSON.stringify(await heardBy(hub))).toContain("notifications/cancelled");
  });

  it("GR-7 a cancellation by an HTTP client ends the call at the server", async () => {
    const { url, hub } = await open(fixture("echo"));
    const { headers } = await connect(url);
    const call = post(url, { jsonrpc: "2.0", id: "c1", method: "tools/call", params: { name: "hang" } }, headers);
    // The call is open once the server has received it.
    while ((await heardBy(hub)).filter((method) => method === "tools/call").length < 2);
    const params = { requestId: "c1", reason: "enough" };
    expect((await post(url, { jsonrpc: "2.0", method: "notifications/cancelled", params }, headers)).status).toBe(202);
    await call;
    expect(JSON.stringify(await heardBy(hub))).toContain("notifications/cancelled");
  });
});

describe("crashes", () => {
  it("F01 LC-6 a server that exits during a call fails it with the reason, and its tools leave the lists", async () => {
    const mortal = { ...fixture("echo"), resilience: { restart: false } };
    const { hub, url } = await open(mortal, { other: fixture("echo") });
    const session = await connect(url);
    const stream = await openStream(url, { headers: session.headers });
    const names = async () =>
      (await session.request("tools/list")).result.tools.map(({ name }: { name: string }) => name);
    expect(await names()).toEqual(expect.arrayContaining(["it__echo", "other__echo"]));
    const [crash, pending] = await Promise.all([
      session.request("tools/call", { name: "it__crash" }),
      session.request("tools/call", { name: "it__hang" }),
    ]);
    for (const { result } of [crash, pending]) {
      expect(result.isError).toBe(true);
      expect(result._meta["io.plugboard/error"]).toMatchObject({
        code: "SERVICE_UNAVAILABLE",
        message: "The server exited with code 7. The outcome is unknown: the call may have run",
        detail: "about to crash",
      });
    }
    expect(await untilState(hub, "it", "error")).toMatchObject({ error: { code: "SERVICE_UNAVAILABLE" } });
    await stream.messages.find(({ method }) => method === "notifications/tools/list_changed");
    expect((await names()).every((name: string) => name.startsWith("other__"))).toBe(true);
    expect(await session.request("tools/call", { name: "other__echo", arguments: { text: "fine" } })).toMatchObject({
      result: { content: [{ text: "fine" }] },
    });
    stream.close();
  });

  it("GR-5 a call to a server that is down fails with «Server unavailable»", async () => {
    const { hub, url } = await open({ ...fixture("echo"), resilience: { restart: false } });
    const session = await connect(url);
    await callTool(hub, "it", "crash").catch(() => undefined);
    await untilState(hub, "it", "error");
    const { result } = await session.request("tools/call", { name: "echo", arguments: { text: "x" } });
    expect(result._meta["io.plugboard/error"]).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: "Server unavailable",
      detail: expect.stringMatching(/^Server "it": The server exited/),
    });
  });

  it("LC-3 F14 the error of a crash has the failure line and the last lines of stderr", async () => {
    const { hub } = await open(fixture("echo"));
    await expect(callTool(hub, "it", "crash", { lines: 40 })).rejects.toMatchObject({
      detail: `about to crash${"\none more line".repeat(11)}`,
    });
  });

  it.each([10, 4 << 20])("CL-1 output right before the exit is read (%d bytes)", async (bytes) => {
    const { hub } = await open(fixture("echo"));
    expect((await callText(hub, "it", "last_words", { bytes })).length).toBe(bytes);
    expect(await untilState(hub, "it", "error")).toMatchObject({ error: { message: "The server exited with code 0" } });
  });

  it("LC-1 MC-T9 a server that closes its stdout but keeps running is ended", async () => {
    const { hub, home } = await open({ ...fixture("echo"), resilience: { restart: false } });
    await expect(callTool(hub, "it", "go_silent")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect(await untilState(hub, "it", "error")).toMatchObject({ error: { message: "The server closed its output" } });
    await hub.supervisor.get("it").stop();
    expect(processesWithMark(home.mark)).toEqual([]);
  });

  it("LC-6 a lost remote server is disconnected, and runs again when it is reachable", async () => {
    const first = await remote("legacy-http");
    const { hub, server, statuses } = await open(first.entry);
    expect(server.status.state).toBe("running");
    await first.stop();
    expect(await untilState(hub, "it", "disconnected")).toMatchObject({ error: { code: "NETWORK_ERROR" } });
    expect(hub.catalog.group().tools).toEqual([]);
    await remote("legacy-http", [], first.port);
    await untilState(hub, "it", "running");
    expect(await callText(hub, "it", "echo", { text: "again" })).toBe("again");
    expect(statuses("it").map(({ state }) => state)).not.toContain("error");
  });
});

describe("changes", () => {
  const LIST_CHANGED = "notifications/tools/list_changed";
  const change = (hub: InProcess["hub"], name: string, times = 1) => callText(hub, "it", "change", { name, times });

  it.each(["echo", "modern", "dual"])("GR-8 a change of %s notifies clients of both eras once", async (name) => {
    const { hub, url } = await open(fixture(name));
    const session = await connect(url);
    const legacyStream = await openStream(url, { headers: session.headers });
    const modernStream = await subscribe(url);
    const told = [legacyStream, modernStream].map(
      ({ messages }) =>
        () =>
          messages.all.filter(({ method }) => method === LIST_CHANGED).length,
    );
    await change(hub, "first", 5);
    for (const { messages } of [legacyStream, modernStream])
      await messages.find(({ method }) => method === LIST_CHANGED);
    expect(JSON.stringify((await session.request("tools/list")).result.tools)).toContain('"first"');
    // Notifications without a change. If the hub passed them on, the count at the end would be too high.
    await change(hub, "", 3);
    await change(hub, "second");
    for (const count of told) await expect.poll(count).toBeGreaterThanOrEqual(2);
    expect(told.map((count) => count())).toEqual([2, 2]);
    const [last] = modernStream.messages.all.filter(({ method }) => method === LIST_CHANGED);
    expect(last.params._meta).toEqual({ "io.modelcontextprotocol/subscriptionId": "L1" });
    expect(await callText(hub, "it", "second")).toBe("new: second");
    legacyStream.close();
    modernStream.close();
  });

  it.each([
    ["legacy-http", []],
    ["legacy-http", ["--sse"]],
    ["modern-http", []],
  ])("GR-8 a change of %s %j is detected", async (name, args) => {
    const { entry } = await remote(name, args);
    const { hub, server } = await open(entry);
    await change(hub, "fresh");
    await untilTool(hub, "fresh");
    expect(server.listing?.tools.map((tool) => tool["name"])).toContain("fresh");
  });

  it("GR-8 a change that is announced during the start is not missed", async () => {
    const { hub, server } = await open(fixture("talks-first"));
    await untilTool(hub, "early");
    expect(server.listing?.tools.map((tool) => tool["name"])).toContain("early");
  });

  it("GR-8 a change that is announced right before the exit does not hide changes after the restart", async () => {
    const { hub, server } = await open(fixture("echo"));
    await Promise.allSettled([change(hub, "lost"), callTool(hub, "it", "crash")]);
    await untilState(hub, "it", "error");
    await server.start();
    await change(hub, "kept");
    await untilTool(hub, "kept");
    expect(server.status).toHaveProperty("tools", expect.not.arrayContaining(["lost"]));
  });

  /** Waits until the server has a tool of this name. */
  async function untilTool(hub: InProcess["hub"], name: string): Promise<void> {
    const { status } = hub.supervisor.get("it");
    if (status.state === "running" && status.tools.includes(name)) return;
    await once(hub.events, "server.status");
    await untilTool(hub, name);
  }

  function subscribe(url: string) {
    const key = "io.modelcontextprotocol";
    const _meta = { [`${key}/protocolVersion`]: "2026-07-28", [`${key}/clientCapabilities`]: {} };
    return openStream(url, {
      method: "POST",
      headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" },
      body: {
        jsonrpc: "2.0",
        id: "L1",
        method: "subscriptions/listen",
        params: { notifications: { toolsListChanged: true }, _meta },
      },
    });
  }
});

describe("logs", () => {
  it.each(["echo", "modern", "legacy-http", "modern-http"])(
    "GR-7 a log message of %s reaches its caller",
    async (name) => {
      const { url } = await open(name.endsWith("http") ? (await remote(name)).entry : fixture(name));
      const meta = { "io.modelcontextprotocol/logLevel": "debug" };
      const { body } = await modern(url, "tools/call", { name: "log", arguments: {}, _meta: meta });
      expect(body).toContain('"logger":"fixture"');
      expect(body).toContain('"logged"');
    },
  );
});
