// The library, where it fails and beside its examples, which docs.test.ts runs.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHub, HubError, McpClient, type EmbeddedHub } from "../../hub/src/index.ts";
import { fixture } from "../support/hub.ts";

describe("an embedded hub", () => {
  let hub: EmbeddedHub;

  beforeAll(async () => {
    hub = await createHub({
      config: { mcpServers: { echo: fixture("echo") }, groups: { work: { servers: ["echo"], tools: ["echo"] } } },
    });
    await hub.startAll();
  });

  afterAll(() => hub.shutdownAll());

  it("MG-2 MC-NT2 an unknown server is NOT_FOUND, and nothing is executed", async () => {
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

  it("MG-2 MC-NT4 a server without a variable that it needs is neither created nor changed to, in files either", async () => {
    const folder = await mkdtemp(join(tmpdir(), "plugboard-library-"));
    const path = join(folder, "mcp_server.json");
    const text = '{ "mcpServers": { "it": { "command": "x" } } } // mine';
    await writeFile(path, text);
    const inFiles = await createHub({ configDir: folder });
    const entry = { ...fixture("echo"), env: { API_KEY: { required: true } } };
    const refused = { code: "VALIDATION_ERROR", message: "Missing required credentials", field: "env.API_KEY" };
    for (const each of [hub, inFiles]) {
      const before = each.list();
      await expect(each.create({ name: "new", ...entry })).rejects.toMatchObject(refused);
      await expect(each.update(before[0]?.id ?? "", entry)).rejects.toMatchObject(refused);
      expect(each.list()).toEqual(before);
    }
    expect(await readFile(path, "utf8")).toBe(text);
    await inFiles.shutdownAll();
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

  it("GR-1 function calling offers the group's tools and no others", () => {
    expect(
      hub
        .functionCalling("work")
        .anthropic()
        .map(({ name }) => name),
    ).toEqual(["echo"]);
  });

  it("CL-5 a tool's error is an error of the result, not of the call", async () => {
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
  it("CL-8 says why a server does not come up", async () => {
    await expect(McpClient.connect("x", "no-such-program-here")).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: "Package not found",
    });
  });

  it("CL-8 is cancelled by a signal", async () => {
    const abort = new AbortController();
    const { command, args } = fixture("hung");
    const connecting = McpClient.connect("x", command, args, { signal: abort.signal });
    setImmediate(() => abort.abort());
    await expect(connecting).rejects.toMatchObject({ kind: "Cancelled" });
  });

  it("CL-8 joins text blocks and knows an unknown tool", async () => {
    const { command, args } = fixture("echo");
    const client = await McpClient.connect("x", command, args);
    await expect(client.callTool("nope")).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect((await client.callTool("echo", { text: "hi", message: "hi" })).isError).toBe(false);
    await client.shutdown();
  });
});
