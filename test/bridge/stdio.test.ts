// `plugboard stdio` as clients launch it: stdout carries only JSON-RPC, also after errors; the first list is complete; it exits
// with its client and leaves no process. Tested with raw messages and both official SDKs.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterEach, describe, expect, it } from "vitest";
import { BIN, failing, fixture, makeHome, type Home, type Servers } from "../support/hub.ts";
import { processesWithMark, untilNoneWithMark } from "../support/processes.ts";
import { RawClient } from "../support/raw-stdio.ts";

const homes: Home[] = [];
const clients: RawClient[] = [];

async function home(servers: Servers | undefined, groups?: unknown): Promise<Home> {
  const made = await makeHome(servers, groups);
  homes.push(made);
  return made;
}

afterEach(async () => {
  // Only a failed test leaves a client running.
  for (const { process: child, finished } of clients.splice(0)) {
    child.kill("SIGKILL");
    await finished;
  }
  for (const made of homes.splice(0)) {
    await untilNoneWithMark(made.mark);
    await made.remove();
  }
});

/** The lines of stderr. Each must be JSON. */
const logOf = (stderr: string) =>
  stderr
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

function launchRaw(made: Home, args: readonly string[] = []): RawClient {
  const client = new RawClient(made, args);
  clients.push(client);
  return client;
}

async function raw(servers: Servers, ...args: string[]): Promise<RawClient> {
  return launchRaw(await home(servers), args);
}

const ECHO = { it: fixture("echo") };

describe("a raw client", () => {
  it("GR-7 completes the handshake, lists, calls, and exits at the end of stdin", async () => {
    const client = await raw(ECHO);
    expect((await client.initialize()).result).toMatchObject({
      protocolVersion: "2025-11-25",
      serverInfo: { name: "plugboard" },
    });
    expect(await client.tools()).toEqual(expect.arrayContaining(["echo", "add"]));
    expect((await client.call("add", { a: 1, b: 2 })).result.content).toEqual([{ type: "text", text: "3" }]);
    expect(await client.end()).toMatchObject({ code: 0 });
  });

  it("GR-7 the first list waits for servers that are still starting", async () => {
    const client = await raw({ slow: fixture("slow-start", "1500"), it: fixture("echo"), ...BROKEN });
    // The bridge answers at once, so that the client does not take the hub for hung.
    await client.initialize();
    expect(await client.tools()).toEqual(expect.arrayContaining(["slow__echo", "it__echo"]));
    expect(await client.end()).toMatchObject({ code: 0 });
  });

  it("CF-9 GR-8 its own hub follows edits of the config; an invalid config changes nothing", async () => {
    const made = await home(ECHO);
    const client = launchRaw(made);
    await client.initialize();
    expect(await client.tools()).toContain("echo");
    const file = join(made.dir, "config/mcp_server.json");
    const save = (servers: Servers) => writeFile(file, JSON.stringify({ mcpServers: servers }));
    const before = client.messages.all.length;
    const changed = () =>
      client.messages.all.slice(before).some(({ method }) => method === "notifications/tools/list_changed");
    await save({ ...ECHO, more: fixture("echo") });
    await expect.poll(() => changed()).toBe(true);
    await expect.poll(() => client.tools()).toContain("more__echo");
    expect((await client.call("more__echo", { text: "new" })).result.content[0].text).toBe("new");
    let stderr = "";
    client.process.stderr.on("data", (chunk: string) => (stderr += chunk));
    await writeFile(file, "{");
    await expect.poll(() => stderr).toContain("config rejected");
    expect(await client.tools()).toContain("more__echo");
    client.process.stdin.end();
    expect(await client.finished).toMatchObject({ code: 0 });
  });

  it("GR-7 modern requests are answered without a handshake", async () => {
    const client = await raw(ECHO);
    const key = "io.modelcontextprotocol";
    const _meta = { [`${key}/protocolVersion`]: "2026-07-28", [`${key}/clientCapabilities`]: {} };
    expect((await client.request("server/discover", { _meta })).result).toMatchObject({
      resultType: "complete",
      supportedVersions: expect.arrayContaining(["2026-07-28", "2025-11-25"]),
    });
    const call = { name: "echo", arguments: { text: "modern" }, _meta };
    expect((await client.request("tools/call", call)).result).toMatchObject({
      resultType: "complete",
      content: [{ text: "modern" }],
    });
    expect(await client.end()).toMatchObject({ code: 0 });
  });

  it("GR-1 --group serves only that group", async () => {
    const made = await home({ a: fixture("echo"), b: fixture("paged") }, { small: { servers: ["b"] } });
    const client = launchRaw(made, ["--group", "small"]);
    await client.initialize();
    expect(await client.tools()).toEqual(["one", "two", "three"]);
    await client.end();
  });

  it("GR-8 a change of the tools is announced", async () => {
    const client = await raw(ECHO);
    await client.initialize();
    await client.tools();
    await client.call("change", { name: "fresh" });
    const announced = () =>
      client.messages.all.filter(({ method }) => method === "notifications/tools/list_changed").length;
    for (let before = announced(); !(await client.tools()).includes("fresh"); before = announced()) {
      await client.messages.find(() => announced() > before);
    }
    expect(announced()).toBeGreaterThan(0);
    await client.end();
  });

  it("GR-7 progress arrives with the client's own token, before the answer", async () => {
    const client = await raw(ECHO);
    await client.initialize();
    const params = { name: "progress", arguments: { steps: 3 }, _meta: { progressToken: "t" } };
    await client.request("tools/call", params);
    const progress = client.messages.all.filter(({ method }) => method === "notifications/progress");
    expect(progress.map((message) => message.params.progressToken)).toEqual(["t", "t", "t"]);
    await client.end();
  });

  it("GR-7 all requests before the end of stdin are answered", async () => {
    const client = await raw(ECHO);
    const answers = [client.initialize(), client.tools(), client.call("big", { bytes: 1_000_000 })];
    client.process.stdin.end();
    await Promise.all(answers);
    expect(await client.end()).toMatchObject({ code: 0 });
  });
});

const BROKEN = { broken: failing(), missing: { command: "/no/such/program" } };

describe("stdout carries only JSON-RPC", () => {
  it.each([
    ["servers that do not start", { ...ECHO, ...BROKEN }],
    ["a server that writes to stdout before the handshake, and all the time", { ...ECHO, noisy: fixture("noisy") }],
    ["a server without credentials", { ...ECHO, it2: { ...fixture("echo"), env: { X: "${NOT_SET}" } } }],
    ["a server that only SIGKILL ends", { ...ECHO, stubborn: fixture("stubborn") }],
  ])("with %s", async (_, servers) => {
    const client = await raw(servers);
    await client.initialize();
    expect(await client.tools()).toEqual(expect.arrayContaining(["it__echo"]));
    expect((await client.call("it__echo", { text: "x" })).result.content[0].text).toBe("x");
    expect(await client.end()).toMatchObject({ code: 0 });
  });

  it("with a server that crashes in the middle of a call", async () => {
    const client = await raw(ECHO);
    await client.initialize();
    expect((await client.call("crash")).result).toMatchObject({ isError: true });
    expect(await client.tools()).toEqual([]);
    const { code, stderr } = await client.end();
    expect(code).toBe(0);
    expect(logOf(stderr)).toMatchObject([{ level: 50, server: "it", error: "The server exited with code 7" }]);
  });

  it("RS-6 messages of the hub are JSON on stderr, by default only problems", async () => {
    const groups = { default: { servers: ["it", "gone", "no"] } };
    const client = launchRaw(await home({ ...ECHO, gone: failing() }, groups));
    await client.initialize();
    await client.call("it__echo", { text: "x" });
    const { stderr } = await client.end();
    expect(logOf(stderr)).toMatchObject([
      { level: 40, msg: expect.stringContaining('"no"') },
      { level: 50, server: "gone", msg: "server failed" },
    ]);
  });

  it.each([
    ["an option", ["--log-level", "info"], { PLUGBOARD_LOG_LEVEL: "error" }],
    ["a variable", [], { PLUGBOARD_LOG_LEVEL: "info" }],
  ])("RS-6 %s sets the level", async (_, args, env) => {
    const made = await home(ECHO);
    const client = launchRaw({ ...made, env: { ...made.env, ...env } }, args);
    await client.initialize();
    await client.call("echo", { text: "argument" });
    const { stderr } = await client.end();
    const lines = logOf(stderr);
    expect(lines).toContainEqual(expect.objectContaining({ level: 30, server: "it", msg: "server running" }));
    expect(lines).toContainEqual(expect.objectContaining({ tool: "echo", group: "default", ok: true }));
    expect(stderr).not.toContain("argument");
  });

  it("RS-6 an unknown level is an error that lists the levels", async () => {
    const client = launchRaw(await home(ECHO), ["--log-level", "loud"]);
    const { code, stdout, stderr } = await client.end();
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^error: Unknown log level "loud"[^]*debug, info, warn, error, silent/);
  });

  it("without a config: the demo", async () => {
    const client = launchRaw(await home(undefined));
    await client.initialize();
    expect(await client.tools()).toContain("config_example");
    expect(await client.end()).toMatchObject({ code: 0 });
  });

  it("with a config that is not JSON: nothing on stdout, the reason on stderr", async () => {
    const made = await home(undefined);
    await writeFile(join(made.dir, "config/mcp_server.json"), '{"mcpServers": ');
    const client = launchRaw(made);
    const { code, stdout, stderr } = await client.end();
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^error: \S*mcp_server\.json is not valid JSON/);
  });

  it("F06 with invalid input: each message is refused, and the next request works", async () => {
    const client = await raw(ECHO);
    const junk = [
      "hello",
      "{",
      "[]",
      "42",
      "null",
      '"text"',
      "{}",
      '{"jsonrpc":"1.0","id":"old","method":"ping"}',
      "[".repeat(500),
    ];
    client.write(Buffer.from([0xff, 0xfe, 0x00, 0x0a]));
    client.write("\r\n\n  \n");
    for (const line of junk) client.write(`${line}\n`);
    client.write('{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}\n{"jsonrpc":"2.0","id":null,"method":"ping"}\n');
    expect((await client.initialize()).result).toBeDefined();
    expect((await client.call("echo", { text: "still here" })).result.content[0].text).toBe("still here");
    expect(client.messages.all.filter(({ error }) => error !== undefined).length).toBeGreaterThanOrEqual(junk.length);
    expect(await client.end()).toMatchObject({ code: 0 });
  });

  it("SE-5 with a line without an end on stdin: an error, and it exits", async () => {
    const client = await raw(ECHO);
    await client.initialize();
    client.write(Buffer.alloc(5 << 20, "x"));
    expect(await client.messages.find(({ error }) => error !== undefined)).toMatchObject({ id: null });
    await client.end();
  });

  it("with unknown methods, before and after the handshake", async () => {
    const client = await raw(ECHO);
    expect((await client.request("no/such/method")).error).toMatchObject({ code: -32601 });
    await client.initialize();
    expect((await client.request("no/such/method")).error).toMatchObject({ code: -32601 });
    expect((await client.call("no_such_tool")).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/^Tool not found \(.*"no_such_tool"\)/),
    });
    await client.end();
  });
});

describe("the end", () => {
  it("stdin closed at once: exit 0, no process left", async () => {
    const client = await raw(ECHO);
    expect(await client.end()).toMatchObject({ code: 0, stdout: "" });
  });

  it("stdin closed while servers hang at the start: exit 0, no process left", async () => {
    const client = await raw({ hung: fixture("hung"), slow: fixture("slow-start", "30000") });
    await client.initialize();
    await expect.poll(() => processesWithMark(client.home.mark)).toHaveLength(2);
    expect(await client.end()).toMatchObject({ code: 0 });
  });

  it("stdin closed during a call: exits without waiting for it", async () => {
    const client = await raw(ECHO);
    await client.initialize();
    void client.call("hang").catch(() => undefined);
    await client.tools();
    expect(await client.end()).toMatchObject({ code: 0 });
  });

  it.each(["SIGTERM", "SIGINT"] as const)("%s: exits, no process left", async (signal) => {
    const client = await raw({ ...ECHO, hung: fixture("hung") });
    await client.initialize();
    client.process.kill(signal);
    expect(await client.finished).toMatchObject({ code: 130 });
    expect(client.strays).toEqual([]);
    expect(processesWithMark(client.home.mark)).toEqual([]);
  });

  it("F46 a client that disappears: exits, no process left", async () => {
    const client = await raw(ECHO);
    await client.initialize();
    await client.tools();
    client.process.stdout.destroy();
    client.process.stdin.destroy();
    expect(await client.finished).toMatchObject({ code: 0 });
    await untilNoneWithMark(client.home.mark);
  });

  it("LC-5 SIGKILL: no process is left", async () => {
    const client = await raw({ ...ECHO, stubborn: fixture("stubborn") });
    await client.initialize();
    await client.tools();
    client.process.kill("SIGKILL");
    await client.finished;
    await expect.poll(() => processesWithMark(client.home.mark)).toEqual([]);
  });
});

describe("the official SDKs", () => {
  const info = { name: "test", version: "1" };
  const SERVERS = { it: fixture("echo"), newer: fixture("modern"), ...BROKEN };

  /** The common interface of both SDK generations. */
  interface AnyClient {
    listTools(): Promise<{ tools: { name: string }[] }>;
    callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<object>;
    getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<object>;
    readResource(params: { uri: string }): Promise<object>;
    close(): Promise<void>;
  }

  const server = (made: Home) => ({
    command: process.execPath,
    args: [BIN, "stdio"],
    env: made.env,
    stderr: "ignore" as const,
  });

  const CLIENTS: [name: string, connect: (made: Home) => Promise<AnyClient>][] = [
    [
      "v1",
      async (made) => {
        const client = new ClientV1(info);
        await client.connect(new StdioV1(server(made)));
        return client;
      },
    ],
    [
      "v2, legacy",
      async (made) => {
        const client = new ClientV2(info);
        await client.connect(new StdioV2(server(made)));
        return client;
      },
    ],
    [
      "v2, modern",
      async (made) => {
        const client = new ClientV2(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
        await client.connect(new StdioV2(server(made)));
        return client;
      },
    ],
  ];

  it.each(CLIENTS)("GR-7 %s: lists, calls, prompts and resources of servers of both eras", async (_, connect) => {
    const made = await home(SERVERS);
    const client = await connect(made);
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["it__echo", "newer__echo"]));
    for (const name of ["it__echo", "newer__echo"]) {
      expect(await client.callTool({ name, arguments: { text: name } })).toMatchObject({
        content: [{ type: "text", text: name }],
      });
    }
    expect(await client.callTool({ name: "it__fail" })).toMatchObject({ isError: true });
    await expect(client.callTool({ name: "it__rpc_error" })).rejects.toMatchObject({ code: -32042 });
    expect(await client.getPrompt({ name: "it__greet", arguments: { who: "Ada" } })).toMatchObject({
      messages: [{ content: { text: "Greet Ada" } }],
    });
    await client.close();
    expect(processesWithMark(made.mark)).toEqual([]);
  });
});
