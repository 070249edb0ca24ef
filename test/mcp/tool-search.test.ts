// A group with too many tools for a model's context: clients get tools that search, describe and call them. Clients of both eras
// on the official SDKs, through the built hub.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectAsked, type AskedClient, type ClientEra } from "../support/asked-clients.ts";
import { clientOf } from "../support/client.ts";
import { fixture, makeHome, published, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { answerOf, connect, modern } from "../support/rpc.ts";

const META_TOOLS = ["search_tools", "describe_tools", "call_tool", "call_read_only_tool"];
const LEGACY: ClientEra = "legacy";
const CELLS = ([LEGACY, "modern"] as const).flatMap((client) =>
  (["asks_legacy", "asks_modern"] as const).map((server) => [client, server] as const),
);

let folder: string;
let home: Home;
let hub: RunningHub;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "plugboard-search-"));
  const lists = join(folder, "lists.json");
  await writeFile(lists, JSON.stringify({ tools: manyTools() }));
  home = await makeHome(
    {
      asks_legacy: fixture("asks-legacy"),
      asks_modern: fixture("asks-modern"),
      everything: published("server-everything"),
      rich: fixture("echo"),
      many: fixture("lists", lists),
    },
    {
      few: { servers: ["rich"] },
      searched: { servers: ["rich"], exposure: "search", always: ["rich:echo"] },
      listed: { servers: ["rich", "many"], exposure: "all" },
    },
  );
  hub = await startHub(home);
});

afterAll(async () => {
  await hub?.stop();
  await home?.remove();
  await rm(folder, { recursive: true, force: true });
});

/** Of some 60 tokens each. */
function manyTools() {
  return Array.from({ length: 500 }, (_, at) => ({
    name: `record_${at}`,
    description: `Writes the measurements of station ${at} into the archive of the observatory. ${"Further words. ".repeat(8)}`,
    inputSchema: { type: "object", properties: { value: { type: "number" } }, required: ["value"] },
    annotations: { readOnlyHint: at === 7 },
  }));
}

async function listOf(path: string): Promise<string[]> {
  const client = await connect(`${hub.url}${path}`);
  const { result } = await client.request("tools/list");
  return result.tools.map(({ name }: { name: string }) => name);
}

describe.each(CELLS)("RG-3 a %s client of %s", (era, server) => {
  let client: AskedClient;

  beforeAll(async () => {
    client = await connectAsked(era, { url: `${hub.url}/mcp` });
  });

  afterAll(() => client?.close());

  it("searches, reads the schema and calls, with a question to its user", async () => {
    const hits = await client.call("search_tools", { query: "form", server });
    expect(hits.text).toContain(`${server}__form(`);
    const described = await client.call("describe_tools", { names: [`${server}__form`, `${server}__frm`] });
    const [definition, unknown] = described.text.split("\n\n");
    expect(JSON.parse(definition ?? "")).toMatchObject({ name: `${server}__form` });
    expect(unknown).toBe(`There is no tool "${server}__frm". Did you mean ${server}__form?`);

    const call = { name: `${server}__form`, arguments: { marker: "m" } };
    const { isError, text } = await client.call("call_tool", call);
    expect({ isError, answer: JSON.parse(text) }).toEqual({
      isError: false,
      answer: { action: "accept", content: { said: "you asked: m" } },
    });
    expect(client.asked.all.splice(0)).toMatchObject([{ method: "elicitation/create" }]);
  });

  it("hears the progress of a call", async () => {
    const heard: unknown[] = [];
    const run = { name: "everything__trigger-long-running-operation", arguments: { duration: 0.1, steps: 2 } };
    await client.call("call_tool", run, { onprogress: (progress) => heard.push(progress) });
    expect(heard).toContainEqual(expect.objectContaining({ progress: 2, total: 2 }));
  });

  it("may call a tool by its own name", async () => {
    expect(await client.call("rich__echo", { text: "direct" })).toEqual({ isError: false, text: "direct" });
  });
});

describe("RG-3 the list of a group", () => {
  it.each([
    ["large: tools that search", "/mcp", META_TOOLS],
    ["large, but all are wanted", "/groups/listed/mcp", 500],
    ["large, but the client wants all", "/mcp?tools=all", 500],
    ["small", "/groups/few/mcp", "echo"],
    ["small, but the client wants to search", "/groups/few/mcp?tools=search", META_TOOLS],
    ["searched, with a tool that is always listed", "/groups/searched/mcp", [...META_TOOLS, "echo"]],
  ])("%s", async (_, path, expected) => {
    const names = await listOf(path);
    if (typeof expected === "number") expect(names.length).toBeGreaterThanOrEqual(expected);
    else if (typeof expected === "string") expect(names).toContain(expected);
    else expect(names).toEqual(expected);
  });

  it("is the same for modern clients", async () => {
    const { result } = answerOf((await modern(`${hub.url}/mcp`, "tools/list")).body);
    expect(result.tools.map(({ name }: { name: string }) => name)).toEqual(META_TOOLS);
    const called = await modern(`${hub.url}/mcp`, "tools/call", {
      name: "call_tool",
      arguments: { name: "rich__echo", arguments: { text: "modern" } },
    });
    expect(answerOf(called.body).result.content).toEqual([{ type: "text", text: "modern" }]);
  });

  it("is announced when its size passes the limit, and not when it falls a little below", async () => {
    const api = await clientOf(hub);
    expect(await api.groups.get("default")).toMatchObject({ is_searched: true, tool_count: expect.any(Number) });
    expect(await api.groups.get("few")).toMatchObject({ is_searched: false, exposure: null, always: [] });
    const { tokens } = await api.groups.get("default");
    expect(tokens).toBeGreaterThan(20_000);
  });
});

describe("RG-3 calls", () => {
  let client: AskedClient;
  const call = (name: string, args?: object, tool = "call_tool") =>
    client.call(tool, { name, ...(args === undefined ? {} : { arguments: args }) });

  beforeAll(async () => {
    client = await connectAsked("legacy", { url: `${hub.url}/mcp` });
  });

  afterAll(() => client?.close());

  it.each([
    ["a wrong argument", "many__record_1", { value: "x" }, /^value: .*number.*describe_tools/],
    ["a missing argument", "many__record_1", {}, /"value"/],
    ["no arguments", "many__record_1", undefined, /"value"/],
    ["a name that does not exist", "many__recrd_1", {}, /no tool "many__recrd_1".*Did you mean/],
    ["itself", "call_tool", {}, /Call call_tool itself/],
  ])("refuses %s before the server sees it", async (_, name, args, message) => {
    expect(await call(name, args)).toEqual({ isError: true, text: expect.stringMatching(message) });
  });

  it("records a refused call with the real tool", async () => {
    await call("many__record_2", { value: "not a number" });
    const api = await clientOf(hub);
    await expect
      .poll(async () => (await api.calls.list({ tool: "record_2" })).items)
      .toMatchObject([{ server_name: "many", tool_name: "record_2", outcome: "refused" }]);
  });

  it("calls only tools that declare to read with call_read_only_tool", async () => {
    expect(await call("many__record_7", { value: 1 }, "call_read_only_tool")).toEqual({
      isError: false,
      text: "record_7",
    });
    expect(await call("many__record_8", { value: 1 }, "call_read_only_tool")).toEqual({
      isError: true,
      text: expect.stringContaining("does not declare that it only reads"),
    });
  });

  it("starts a task through call_tool", async () => {
    const legacy = await connect(`${hub.url}/mcp`);
    const inner = { name: "everything__simulate-research-query", arguments: { topic: "tides" } };
    const params = { name: "call_tool", arguments: inner, task: { ttl: 60_000 } };
    const { task } = (await legacy.request("tools/call", params)).result;
    const { result } = await legacy.request("tasks/result", { taskId: task.taskId });
    expect(result.content[0].text).toContain("tides");
  });

  it.each([
    ["search_tools", {}, /`query`/],
    ["search_tools", { query: "x", limit: 0 }, /`limit`/],
    ["search_tools", { query: "x", server: "nope" }, /`server` must be one of/],
    ["describe_tools", { names: [] }, /`names`/],
    ["call_tool", {}, /`name`/],
    ["call_tool", { name: "rich__echo", arguments: [] }, /`arguments`/],
  ])("%s explains what is wrong with %j", async (tool, args, message) => {
    expect(await client.call(tool, args)).toEqual({ isError: true, text: expect.stringMatching(message) });
  });

  it("RG-3 says which words no tool mentions", async () => {
    expect((await client.call("search_tools", { query: "send gmail" })).text).toContain("No tool mentions: gmail");
  });
});
