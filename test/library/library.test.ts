// The library: errors and details. docs-run.test.ts runs its examples.

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { createHub, HubError, McpClient, type CreateHubOptions, type EmbeddedHub } from "../../hub/src/index.ts";
import { embed } from "../../hub/src/library/create-hub.ts";
import { fixture } from "../support/hub.ts";
import { openInProcess } from "../support/in-process.ts";
import { listen } from "../support/sockets.ts";

describe("an embedded hub", () => {
  let hub: EmbeddedHub;

  beforeAll(async () => {
    hub = await createHub({
      config: { mcpServers: { echo: fixture("echo") }, groups: { work: { servers: ["echo"], tools: ["echo"] } } },
    });
    await hub.servers.startAll();
  });

  afterAll(() => hub.close());

  it("MG-2 MC-NT2 a call to an unknown server is NOT_FOUND", async () => {
    await expect(hub.callTool("nobody", "echo")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("MG-2 MC-NT3 a server without a name is not created", async () => {
    await expect(hub.create({ command: "node" })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: "Name is required",
    });
    expect(hub.list().map(({ name }) => name)).toEqual(["echo"]);
  });

  it("MG-2 has the twelve operations of the embedding interface", () => {
    const operations =
      "list get status start stop availableTools findToolProvider callTool create update delete shutdownAll";
    for (const name of operations.split(" ")) expect([name, typeof Reflect.get(hub, name)]).toEqual([name, "function"]);
  });

  it("MG-2 MC-NT4 an entry without a required variable is neither created nor saved, in memory and in files", async () => {
    const folder = await mkdtemp(join(tmpdir(), "plugboard-library-"));
    const path = join(folder, "mcp_server.json");
    const written = '{ "mcpServers": { "it": { "command": "x" } } } // mine';
    await writeFile(path, written);
    const inFiles = await createHub({ configDir: folder });
    const entry = { ...fixture("echo"), env: { API_KEY: { required: true } } };
    const refused = { code: "VALIDATION_ERROR", message: "Missing required credentials", field: "env.API_KEY" };
    for (const each of [hub, inFiles]) {
      const before = each.list();
      await expect(each.create({ name: "new", ...entry })).rejects.toMatchObject(refused);
      await expect(each.update(before[0]?.id ?? "", entry)).rejects.toMatchObject(refused);
      expect(each.list()).toEqual(before);
    }
    expect(await readFile(path, "utf8")).toBe(written);
    await inFiles.close();
    await rm(folder, { recursive: true });
  });

  it("MG-2 creates, updates, stops, starts and deletes", async () => {
    const created = await hub.create({ name: "second", ...fixture("echo") });
    await hub.start(created.id);
    expect(hub.availableTools().map(({ name }) => name)).toContain("second__echo");
    await hub.stop("second");
    expect(hub.status("second")).toEqual({ state: "stopped" });
    expect((await hub.update("second", { ...fixture("echo"), enabled: false })).enabled).toBe(false);
    await expect(hub.start("second")).rejects.toMatchObject({ code: "CONFLICT" });
    await hub.delete("second");
    expect(hub.get("second")).toBeUndefined();
    expect(() => hub.status("second")).toThrow(HubError);
  });

  it("MG-2 has the operations on servers under hub.servers too, and they are the same", () => {
    expect(Object.keys(hub.servers)).toEqual("list get status start stop startAll create update delete".split(" "));
    for (const [name, operation] of Object.entries(hub.servers)) expect(Reflect.get(hub, name)).toBe(operation);
  });

  it("MG-2 opens no file of the user unless asked", async () => {
    const folder = await mkdtemp(join(tmpdir(), "plugboard-library-"));
    await mkdir(join(folder, "config"));
    await writeFile(join(folder, "config/mcp_server.json"), JSON.stringify({ mcpServers: { mine: fixture("echo") } }));
    vi.stubEnv("PLUGBOARD_HOME", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const names = async (options: CreateHubOptions) => {
      await using opened = await createHub(options);
      return opened.servers.list().map(({ name }) => name);
    };
    expect(await names({})).toEqual([]);
    expect(await names({ config: { mcpServers: {} } })).toEqual([]);
    expect(await readdir(folder)).toEqual(["config"]);
    expect(await names({ home: join(folder, "other") })).toEqual([]);
    expect(await names({ home: folder })).toEqual(["mine"]);
    expect(await names({ userConfig: true })).toEqual(["mine"]);
    await rm(folder, { recursive: true });
  });

  it("MG-2 a server can be a command line or an address, and await using closes the hub", async () => {
    const { command, args } = fixture("echo");
    const line = [command, ...args].map((word) => `'${word}'`).join(" ");
    const closed = await (async () => {
      await using short = await createHub({ config: { mcpServers: { line, url: new URL("http://127.0.0.1:9/mcp") } } });
      await short.servers.start("line");
      expect((await short.callTool("line", "echo", { text: "hi" })).content).toBe("hi");
      expect(short.servers.get("url")?.transport).toMatchObject({ url: "http://127.0.0.1:9/mcp" });
      return short;
    })();
    expect(closed.servers.status("line")).toEqual({ state: "stopped" });
    await expect(createHub({ config: { mcpServers: { bad: "'unclosed" } } })).rejects.toThrow("is not closed");
  });

  it("GR-1 function calling offers only the tools of the group", () => {
    expect(
      hub
        .functionCalling("work")
        .anthropic()
        .map(({ name }) => name),
    ).toEqual(["echo"]);
  });

  it("GR-1 records a call by function calling under its group", async () => {
    const servers = { echo: fixture("echo") };
    const inProcess = await openInProcess(servers, { groups: { work: { servers: ["echo"], tools: ["echo"] } } });
    await inProcess.hub.start();
    const recorded: string[] = [];
    inProcess.hub.events.on("call.finished", ({ group }) => recorded.push(group));
    const embedded = embed(inProcess.hub);
    const use = { type: "tool_use" as const, id: "1", name: "echo", input: { text: "hi" } };
    expect(await embedded.functionCalling("work").runAnthropic(use)).toMatchObject({ is_error: false });
    expect(await embedded.functionCalling().runAnthropic(use)).toMatchObject({ is_error: false });
    await embedded.callTool("echo", "echo", { text: "hi" });
    expect(recorded).toEqual(["work", "default", "default"]);
    expect(await inProcess.end()).toEqual([]);
  });

  it("CL-5 an error that a tool reports is in the result and is not thrown", async () => {
    expect(await hub.callTool("echo", "fail")).toMatchObject({ isError: true });
    expect(
      await hub.functionCalling().runOpenai({ id: "1", function: { name: "echo", arguments: "not json" } }),
    ).toMatchObject({
      role: "tool",
      content: "The arguments are not a JSON object",
    });
  });
});

describe("a client of one server", () => {
  it("CL-8 connects to an address, with headers", async () => {
    const seen: unknown[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers["x-key"]);
      void answerOddly(request, response);
    });
    const url = `http://127.0.0.1:${await listen(server)}/mcp`;
    for (const address of [url, new URL(url)]) {
      await using client = await McpClient.connect("odd", address, { headers: { "x-key": "${k}" } });
      expect(client.tools.map(({ name }) => name)).toEqual(["refuse", "nothing"]);
      await expect(client.callTool("refuse")).rejects.toMatchObject({ message: ERROR.message });
    }
    expect(new Set(seen)).toEqual(new Set(["${k}"]));
    server.closeAllConnections();
    server.close();
    await expect(McpClient.connect("gone", url)).rejects.toMatchObject({ code: "NETWORK_ERROR" });
  });

  it("CL-8 reports why a server does not start", async () => {
    await expect(McpClient.connect("x", "no-such-program-here")).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: "Package not found",
    });
  });

  it("CL-8 a signal cancels the start", async () => {
    const abort = new AbortController();
    const { command, args } = fixture("hung");
    const connecting = McpClient.connect("x", command, args, { signal: abort.signal });
    setImmediate(() => abort.abort());
    await expect(connecting).rejects.toMatchObject({ kind: "Cancelled" });
  });

  it("CL-8 joins text blocks", async () => {
    const { command, args } = fixture("echo");
    const client = await McpClient.connect("x", command, args);
    expect(await client.callTool("echo", { text: "hi" })).toMatchObject({ content: "hi", isError: false });
    expect(await client.callTool("fail")).toMatchObject({ content: "it failed", isError: true });
    await client.shutdown();
  });

  describe("CL-8 with a server that declares nothing and ignores unknown methods", () => {
    const { command, args } = fixture("minimal");
    let client: McpClient;

    beforeAll(async () => {
      client = await McpClient.connect("A human's name", command, [...args, "${NO_SUCH_VARIABLE}"]);
    });
    afterAll(() => client.shutdown());

    it("sends initialize of 2025-11-25 with empty capabilities, and lists its tools", async () => {
      const { content } = await client.callTool("received");
      expect(JSON.parse(content)).toMatchObject([
        {
          id: expect.any(Number),
          method: "initialize",
          params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "plugboard" } },
        },
        { method: "notifications/initialized" },
        { method: "tools/list" },
        { method: "tools/call", params: { name: "received", arguments: {} } },
      ]);
      expect(JSON.parse(content)[0].params.capabilities).toEqual({});
      expect(JSON.parse(content)[1]).not.toHaveProperty("id");
      expect(client.tools).toMatchObject([{ name: "received", description: "" }]);
      expect(client.name).toBe("A human's name");
    });

    it("sends tools/call for a name that is not listed", async () => {
      await expect(client.callTool("unheard_of")).rejects.toMatchObject({ message: "Unknown tool: unheard_of" });
    });

    it("throws an error of the server with its message, code and data", async () => {
      const thrown = await client.callTool("refuse").catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(HubError);
      expect(thrown).toMatchObject({
        message: "no such luck",
        rpcError: { code: -32042, message: "no such luck", data: { reason: "odd" } },
        kind: "ToolFailed",
        code: "NETWORK_ERROR",
      });
    });

    it("treats an answer without a result as empty", async () => {
      for (const tool of ["nothing", "null_error"]) {
        expect(await client.callTool(tool)).toEqual({ content: "", isError: false, raw: {} });
      }
    });

    it("answers requests without a handler with method not found", async () => {
      const answers = JSON.parse((await client.callTool("ask")).content);
      expect(answers).toMatchObject([
        { error: { code: -32601 } },
        { error: { code: -32601 } },
        { error: { code: -32601 } },
      ]);
    });
  });

  it("CL-8 declares capabilities by its handlers and answers with them, also with several open calls", async () => {
    const { command, args } = fixture("minimal");
    const client = await McpClient.connect("x", command, args, {
      clientInfo: { name: "my-agent", version: "7" },
      elicitation: ({ message }) => ({ action: "accept", content: { name: `Ann, for ${String(message)}` } }),
      roots: async () => ({ roots: [{ uri: "file:///work" }] }),
    });
    const [hello] = JSON.parse((await client.callTool("received")).content);
    expect(hello.params).toMatchObject({
      capabilities: { elicitation: { form: {} }, roots: {} },
      clientInfo: { name: "my-agent", version: "7" },
    });
    expect(hello.params.capabilities).not.toHaveProperty("sampling");
    const expected = [
      { result: { action: "accept", content: { name: "Ann, for Who?" } } },
      { error: { code: -32601 } },
      { result: { roots: [{ uri: "file:///work" }] } },
    ];
    expect(JSON.parse((await client.callTool("ask")).content)).toMatchObject(expected);
    const waiting = client.callTool("hang", {}, { signal: AbortSignal.timeout(60_000) }).catch(() => undefined);
    expect(JSON.parse((await client.callTool("ask")).content)).toMatchObject(expected);
    await client.shutdown();
    await waiting;
  });

  it.each(["auto", "modern"] as const)(
    "CL-8 connects to a server that supports only 2026-07-28, era %s",
    async (era) => {
      const { command, args } = fixture("modern");
      const elicitation = () => ({ action: "accept", content: { name: "Ann" } });
      const client = await McpClient.connect("x", command, args, { era, elicitation });
      expect(await client.callTool("ask_name")).toMatchObject({ content: "Ann (state-1)" });
      await expect(client.callTool("unheard_of")).rejects.toMatchObject({ rpcError: { code: -32602 } });
      await client.shutdown();

      const mute = await McpClient.connect("x", command, args, { era });
      await expect(mute.callTool("ask_name")).rejects.toMatchObject({ kind: "ClientRefused" });
      await mute.shutdown();
    },
  );

  it("CL-8 reports the answer of a server that refuses the handshake", async () => {
    const { command, args } = fixture("modern");
    await expect(McpClient.connect("x", command, args, { era: "legacy" })).rejects.toMatchObject({
      kind: "InitializationFailed",
      rpcError: { code: -32601 },
    });
  });
});

it("CL-8 over HTTP the library also throws the error of the server, and treats a missing result as empty", async () => {
  const server = createServer((request, response) => void answerOddly(request, response));
  const port = await listen(server);
  const hub = await createHub({ config: { mcpServers: { odd: { url: `http://127.0.0.1:${port}/mcp` } } } });
  await hub.startAll();
  await expect(hub.callTool("odd", "refuse")).rejects.toMatchObject({ message: ERROR.message, rpcError: ERROR });
  expect(await hub.callTool("odd", "nothing")).toMatchObject({ content: "", isError: false });
  await hub.shutdownAll();
  server.closeAllConnections();
  server.close();
});

const ERROR = { code: -32042, message: "no such luck", data: [1] };

/** A server of 2025 that answers its tool `refuse` with an error, and `nothing` without a result. */
async function answerOddly(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await text(request);
  const { id, method, params = {} } = body === "" ? {} : JSON.parse(body);
  if (request.method !== "POST" || method === "server/discover") return void response.writeHead(405).end();
  if (id === undefined) return void response.writeHead(202).end();
  const result =
    method === "initialize"
      ? {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "odd", version: "1" },
        }
      : { tools: [{ name: "refuse" }, { name: "nothing" }] };
  const answer = method !== "tools/call" ? { result } : params.name === "nothing" ? {} : { error: ERROR };
  response
    .writeHead(200, { "content-type": "application/json" })
    .end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
}
