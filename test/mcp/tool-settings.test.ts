// A group that renames tools and fixes or hides their arguments, for clients of both eras on the official SDKs, through the built
// hub, with a server that knows nothing of it.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectAsked, type AskedClient } from "../support/asked-clients.ts";
import { clientOf } from "../support/client.ts";
import { fixture, makeHome, published, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { answerOf, connect, modern } from "../support/rpc.ts";

const ERAS = ["legacy", "modern"] as const;
const OPERATION = "everything:trigger-long-running-operation";
const TOOLS = {
  "everything:get-sum": { as: "add_ten", description: "Adds ten", arguments: { b: { const: 10 } } },
  [OPERATION]: { as: "wait", arguments: { steps: { const: 2 }, duration: { const: 0.1 } } },
  "everything:simulate-research-query": { as: "research", arguments: { ambiguous: { hidden: true } } },
  "asks:form": { as: "ask", arguments: { marker: { const: "fixed" } } },
  "*": {},
};

let home: Home;
let hub: RunningHub;

beforeAll(async () => {
  home = await makeHome(
    { everything: published("server-everything"), asks: fixture("asks-modern") },
    {
      changed: { servers: ["everything", "asks"], tools: TOOLS },
      searched: { servers: ["everything", "asks"], tools: TOOLS, exposure: "search" },
    },
  );
  hub = await startHub(home);
});

afterAll(async () => {
  await hub?.stop();
  await home?.remove();
});

interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly properties: object; readonly required?: string[] };
}

async function listed(): Promise<ListedTool[]> {
  return answerOf((await modern(`${hub.url}/groups/changed/mcp`, "tools/list")).body).result.tools;
}

describe.each(ERAS)("RG-4 a %s client", (era) => {
  let client: AskedClient;
  let searching: AskedClient;

  beforeAll(async () => {
    client = await connectAsked(era, { url: `${hub.url}/groups/changed/mcp` });
    searching = await connectAsked(era, { url: `${hub.url}/groups/searched/mcp` });
  });

  afterAll(async () => {
    await client?.close();
    await searching?.close();
  });

  it("calls a tool by the name of the group, with the fixed argument", async () => {
    expect(await client.call("add_ten", { a: 5 })).toEqual({ isError: false, text: "The sum of 5 and 10 is 15." });
    expect(await client.call("everything:get-sum", { a: 6 })).toMatchObject({ text: "The sum of 6 and 10 is 16." });
  });

  it("is told that an argument is fixed", async () => {
    expect(await client.call("add_ten", { a: 5, b: 6 })).toEqual({
      isError: true,
      text: 'VALIDATION_ERROR: The argument "b" is fixed by the group. Call the tool without it',
    });
  });

  it("hears progress and is asked", async () => {
    const heard: unknown[] = [];
    await client.call("wait", {}, { onprogress: (progress) => heard.push(progress) });
    expect(heard).toContainEqual(expect.objectContaining({ progress: 2, total: 2 }));
    expect(JSON.parse((await client.call("ask")).text)).toMatchObject({ content: { said: "you asked: fixed" } });
  });

  it("finds the tool in a searched group by its new description, and calls it", async () => {
    const hits = await searching.call("search_tools", { query: "adds ten" });
    expect(hits.text).toContain("add_ten(a: number)");
    const call = (args: object) => searching.call("call_tool", { name: "add_ten", arguments: args });
    expect(await call({ a: 1 })).toEqual({ isError: false, text: "The sum of 1 and 10 is 11." });
    expect(await call({ a: 1, b: 1 })).toMatchObject({ isError: true, text: expect.stringContaining('"b" is fixed') });
  });
});

describe("RG-4 a group", () => {
  it("lists the tools as it exposes them", async () => {
    const tools = await listed();
    const sum = tools.find(({ name }) => name === "add_ten");
    expect(sum).toMatchObject({ description: "Adds ten", inputSchema: { required: ["a"] } });
    expect(Object.keys(sum?.inputSchema.properties ?? {})).toEqual(["a"]);
    expect(tools.map(({ name }) => name)).not.toContain("everything__get-sum");
    expect(tools.map(({ name }) => name)).toContain("everything__echo");
  });

  it("runs a task by the new name", async () => {
    const client = await connect(`${hub.url}/groups/changed/mcp`);
    const params = { name: "research", arguments: { topic: "tides" }, task: { ttl: 60_000 } };
    const { task } = (await client.request("tools/call", params)).result;
    const { result } = await client.request("tasks/result", { taskId: task.taskId });
    expect(result.content[0].text).toContain("tides");
  });

  it("has both names and the sent arguments in the call log, also of refused calls", async () => {
    const client = await connect(`${hub.url}/groups/changed/mcp`);
    await client.request("tools/call", { name: "add_ten", arguments: { a: 70 } });
    await client.request("tools/call", { name: "add_ten", arguments: { a: 71, b: 1 } });
    await client.request("tools/call", { name: "everything__echo", arguments: { message: "m" } });
    const api = await clientOf(hub);
    const call = { server_name: "everything", tool_name: "get-sum", exposed_name: "add_ten" };
    await expect
      .poll(async () => (await api.calls.list({ group: "changed", limit: 3 })).items)
      .toMatchObject([
        { tool_name: "echo", exposed_name: null },
        { ...call, params: { a: 71, b: 1 }, outcome: "refused" },
        { ...call, params: { a: 70, b: 10 }, outcome: "ok" },
      ]);
  });

  it("applies its settings to calls through the REST API", async () => {
    const api = await clientOf(hub);
    const called = await api.callGroupTool("changed", "add_ten", { a: 8 });
    expect(called).toMatchObject({ content: [{ text: "The sum of 8 and 10 is 18." }] });
    await expect(api.callGroupTool("changed", "add_ten", { a: 8, b: 8 })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      field: "b",
    });
  });

  it("keeps its settings when a client of the API writes back what it read", async () => {
    const api = await clientOf(hub);
    const { tools, servers } = await api.groups.get("changed");
    expect(tools).toEqual(TOOLS);
    expect(await api.groups.set("changed", { servers, tools })).toMatchObject({ tools: TOOLS });
  });

  it.each([
    [
      { "everything:get-sum": { arguments: { a: { hidden: true } } } },
      /"a" is required, so it can only be hidden/,
      "arguments.a",
    ],
    [
      { "everything:get-sum": { arguments: { c: { const: 1 } } } },
      /it has no argument "c" \(its arguments: a, b\)/,
      "arguments.c",
    ],
    [{ "everything:*": { as: "x" } }, /may match several/, "as"],
  ])("does not save %j", async (tools, message, field) => {
    const api = await clientOf(hub);
    await expect(api.groups.set("new", { servers: ["everything"], tools })).rejects.toMatchObject({
      message: expect.stringMatching(message),
      field: `tools.${Object.keys(tools)[0]}.${field}`,
    });
    expect((await api.groups.list()).map(({ name }) => name)).not.toContain("new");
  });
});
