// The official SDKs as independent clients of the hub: v1 and v2, legacy and modern, HTTP, with several real servers.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeHome, published, startHub, type Home, type RunningHub } from "../support/hub.ts";

/** What both generations of the SDK have in common. */
interface AnyClient {
  listTools(): Promise<{ tools: { name: string; description?: string | undefined }[] }>;
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<object>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  readResource(params: { uri: string }): Promise<object>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<{ messages: unknown[] }>;
  close(): Promise<void>;
}

const info = { name: "test", version: "1" };

async function v1(url: URL): Promise<AnyClient> {
  const client = new ClientV1(info);
  await client.connect(new HttpV1(url));
  return client;
}

async function v2(url: URL, mode: "legacy" | "modern"): Promise<AnyClient> {
  const client = new ClientV2(info, mode === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {});
  await client.connect(new HttpV2(url));
  return client;
}

const CLIENTS: [name: string, connect: (url: URL) => Promise<AnyClient>][] = [
  ["SDK v1", v1],
  ["SDK v2, legacy", (url) => v2(url, "legacy")],
  ["SDK v2, modern", (url) => v2(url, "modern")],
];

describe("three published servers behind one endpoint", () => {
  let home: Home;
  let hub: RunningHub;
  let files: string;

  beforeAll(async () => {
    files = await mkdtemp(join(tmpdir(), "plugboard-files-"));
    await writeFile(join(files, "note.txt"), "found it");
    home = await makeHome(
      {
        everything: published("server-everything"),
        memory: { ...published("server-memory"), env: { MEMORY_FILE_PATH: join(files, "memory.json") } },
        files: published("server-filesystem", files),
      },
      { work: { servers: ["files", "memory", "unknown"], tools: ["read_*", "memory:search_nodes"] } },
    );
    hub = await startHub(home);
  });

  afterAll(async () => {
    await hub?.stop();
    await home?.remove();
    await rm(files, { recursive: true, force: true });
  });

  describe.each(CLIENTS)("%s", (_, connect) => {
    let client: AnyClient;

    beforeAll(async () => {
      client = await connect(new URL(`${hub.url}/mcp`));
    });

    afterAll(() => client?.close());

    it("GR-4 GR-6 lists every server's tools under unique names", async () => {
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      expect(names).toEqual(
        expect.arrayContaining(["everything__echo", "memory__read_graph", "files__read_text_file"]),
      );
      expect(new Set(names).size).toBe(names.length);
      expect(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).toBe(true);
    });

    it("MC-T4 GR-5 calls a tool by its exposed name and by server:tool", async () => {
      for (const name of ["everything__echo", "everything:echo"]) {
        const result = await client.callTool({ name, arguments: { message: "hi" } });
        expect(result).toMatchObject({ content: [{ type: "text", text: "Echo: hi" }] });
      }
      const path = join(files, "note.txt");
      const read = await client.callTool({ name: "files__read_text_file", arguments: { path } });
      expect(read).toMatchObject({ content: [{ type: "text", text: "found it" }] });
    });

    it("GR-5 a tool's own error is passed on unchanged", async () => {
      const result = await client.callTool({ name: "files__read_text_file", arguments: { path: "/etc/passwd" } });
      expect(result).toMatchObject({
        isError: true,
        content: [{ type: "text", text: expect.stringContaining("Access denied") }],
      });
    });

    it("GR-5 the error for an unknown tool names it", async () => {
      await expect(client.callTool({ name: "nope" })).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining("Tool not found"),
      });
    });

    it("GR-7 resources and prompts work", async () => {
      const { resources } = await client.listResources();
      const uri = resources.find((resource) => resource.uri.startsWith("demo://resource/static/"))?.uri ?? "";
      expect(await client.readResource({ uri })).toMatchObject({ contents: [{ uri }] });
      const { prompts } = await client.listPrompts();
      expect(prompts.map(({ name }) => name)).toContain("everything__args-prompt");
      const prompt = await client.getPrompt({ name: "everything__args-prompt", arguments: { city: "Turku" } });
      expect(JSON.stringify(prompt.messages)).toContain("Turku");
    });

    it("GR-1 GR-2 a group exposes what it names and nothing else", async () => {
      const work = await connect(new URL(`${hub.url}/mcp/work`));
      const { tools } = await work.listTools();
      const names = tools.map(({ name }) => name);
      expect(names).toContain("files__read_text_file");
      expect(names).toContain("memory__search_nodes");
      expect(names).toContain("memory__read_graph");
      expect(names.filter((name) => name.includes("write") || name.startsWith("everything"))).toEqual([]);
      await expect(work.callTool({ name: "files__write_file", arguments: {} })).rejects.toMatchObject({ code: -32602 });
      await expect(work.callTool({ name: "everything:echo", arguments: {} })).rejects.toMatchObject({ code: -32602 });
      await work.close();
    });

    it("GR-3 an unknown group is not found", async () => {
      await expect(connect(new URL(`${hub.url}/mcp/nowhere`))).rejects.toThrow();
    });
  });

  it("GR-2 a group's unknown server causes a warning", () => {
    expect(hub.stderr()).toMatch(/warning: .*work.*unknown/);
  });
});
