// Tools, resources and prompts in the management API.

import { describe, expect, it } from "vitest";
import { expectScenario, send, usePlantedHub, type Scenario } from "./planted-hub.ts";

const managed = usePlantedHub();
const get = async (path: string) => (await managed().ask(path)).json;

describe("listing and calling", () => {
  it("MG-1 list_mcp_tools: lists the tools of a server, and those of a group under their exposed names", async () => {
    const own = await get("/servers/echo/tools");
    expect(own.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(["echo", "add"]));
    const group = await get("/groups/desk/tools");
    expect(group.map(({ name, server, tool }: Record<string, string>) => [name, server, tool])).toEqual([
      ["echo", "echo", "echo"],
      ["add", "echo", "add"],
    ]);
    expect(group[0].input_schema).toEqual({ type: "object", properties: { text: { type: "string" } } });
  });

  const ANSWERED: readonly Scenario[] = [
    {
      title: "RS-7 call_mcp_tool",
      request: "POST /servers/echo/tools/add/call",
      body: { arguments: { a: 2, b: 3 } },
      status: 200,
      contains: { success: true, content: [{ type: "text", text: "5" }] },
    },
    {
      title: "a call without arguments",
      request: "POST /servers/echo/tools/pid/call",
      body: {},
      status: 200,
      contains: { success: true },
    },
    {
      title: "a call through a group",
      request: "POST /groups/desk/tools/echo/call",
      body: { arguments: { text: "hi" } },
      status: 200,
      contains: { content: [{ text: "hi" }] },
    },
    {
      title: "GR-6 a call by server:tool",
      request: "POST /groups/default/tools/second%3Aecho/call",
      body: { arguments: { text: "hi" } },
      status: 200,
      contains: { success: true },
    },
    {
      title: "RS-7 a tool that reports an error",
      request: "POST /servers/echo/tools/fail/call",
      body: {},
      status: 200,
      contains: {
        success: false,
        outcome: "tool_error",
        content: [{ type: "text", text: "it failed" }],
        error: "it failed",
        code: "NETWORK_ERROR",
      },
    },
    {
      title: "GR-5 a JSON-RPC error of the server, unchanged",
      request: "POST /servers/echo/tools/rpc_error/call",
      body: {},
      status: 200,
      contains: {
        success: false,
        outcome: "failed",
        content: [],
        error: "no such luck",
        code: "NETWORK_ERROR",
        rpc_error: { code: -32042, message: "no such luck", data: { reason: "odd", n: 1 } },
      },
    },
  ];

  it.each(ANSWERED)("$title: $status with outcome and duration", async ({ contains, ...scenario }) => {
    await expectScenario(managed(), {
      ...scenario,
      contains: { ...(contains as object), duration_ms: expect.any(Number) },
    });
  });

  it("GR-5 CL-5 the result of a server is passed on byte by byte", async () => {
    const { body } = await send(managed(), "POST /servers/echo/tools/unknown_fields/call", { body: {} });
    expect(body).toContain('"depth":1.0,"id":12345678901234567890');
    expect(body).toContain('"structured_content":{"n":0.10}');
  });
});

describe("requests that are refused", () => {
  const REFUSED: readonly Scenario[] = [
    {
      title: "MC-NT2 an unknown server",
      request: "POST /servers/nobody/tools/echo/call",
      body: {},
      status: 404,
      contains: { kind: "ServerNotFound" },
    },
    {
      title: "an unknown tool",
      request: "POST /servers/echo/tools/nothing/call",
      body: {},
      status: 404,
      contains: { kind: "ToolNotFound" },
    },
    {
      title: "an unknown group",
      request: "POST /groups/nobody/tools/echo/call",
      body: {},
      status: 404,
      contains: { kind: "GroupNotFound" },
    },
    {
      title: "GR-5 T06 a tool outside the group",
      request: "POST /groups/desk/tools/env/call",
      body: { arguments: { name: "API_KEY" } },
      status: 404,
      contains: { kind: "ToolNotFound" },
    },
    {
      title: "MG-5 a disabled server",
      request: "POST /servers/broken/tools/x/call",
      body: {},
      status: 409,
      contains: { kind: "ServerDisabled" },
    },
    {
      title: "CL-3 a tool that does not answer in time",
      request: "POST /servers/echo/tools/hang/call",
      body: { timeout_ms: 50 },
      status: 504,
      contains: { kind: "Timeout" },
    },
    {
      title: "arguments that are not an object",
      request: "POST /servers/echo/tools/echo/call",
      body: { arguments: [1] },
      status: 400,
      contains: { kind: "InvalidArgument" },
    },
    {
      title: "an unknown member of the body",
      request: "POST /servers/echo/tools/echo/call",
      body: { args: {} },
      status: 400,
      contains: { kind: "InvalidArgument" },
    },
    {
      title: "an unknown resource",
      request: "POST /groups/default/resources/read",
      body: { uri: "other://x" },
      status: 404,
      contains: { kind: "ToolNotFound" },
    },
    {
      title: "a resource without uri",
      request: "POST /groups/desk/resources/read",
      body: {},
      status: 400,
      contains: { kind: "InvalidArgument" },
    },
    {
      title: "an unknown prompt",
      request: "POST /groups/desk/prompts/nothing/get",
      body: {},
      status: 404,
      contains: { kind: "ToolNotFound" },
    },
    {
      title: "an argument of a prompt that is not text",
      request: "POST /groups/desk/prompts/greet/get",
      body: { arguments: { who: 7 } },
      status: 400,
      contains: { field: "arguments.who" },
    },
  ];

  it.each(REFUSED)("$title: $status", async (scenario) => {
    expect((await expectScenario(managed(), scenario)).json.kind).toEqual(expect.any(String));
  });
});

describe("resources and prompts", () => {
  const READ: readonly Scenario[] = [
    {
      title: "a resource",
      request: "POST /groups/desk/resources/read",
      body: { uri: "test://items/7" },
      status: 200,
      contains: { contents: [{ uri: "test://items/7", text: "of test://items/7" }] },
    },
    {
      title: "a prompt",
      request: "POST /groups/desk/prompts/greet/get",
      body: { arguments: { who: "Ada" } },
      status: 200,
      contains: { messages: [{ role: "user", content: { text: "Greet Ada" } }] },
    },
  ];

  it.each(READ)("$title is answered as the server gives it", async (scenario) => {
    expect((await expectScenario(managed(), scenario)).json).not.toHaveProperty("success");
  });
});

it("F46 a client that disconnects cancels its call", async () => {
  const abort = new AbortController();
  const calls = async () => (await received()).filter((message) => message === "tools/call").length;
  const cancelled = async () =>
    (await received()).filter((message) => typeof message === "object" && CANCELLED in message).length;
  const cancelledBefore = await cancelled();
  const before = await calls();
  const finished = new Promise<unknown>((resolve) => {
    managed().hub.events.on("call.finished", (record) => {
      if (record.tool === "hang") resolve(record);
    });
  });
  const call = managed().client.callTool({ server: "echo", tool: "hang" }, { signal: abort.signal });
  // Each poll is a call too. The server has received the hanging call when it reports one more call than there were polls.
  for (let looks = 1; (await calls()) - before === looks; looks++);
  abort.abort();
  await expect(call).rejects.toMatchObject({ kind: "Cancelled" });
  expect(await finished).toMatchObject({ outcome: "cancelled", error: { kind: "Cancelled" } });
  while ((await cancelled()) === cancelledBefore);
});

const CANCELLED = "notifications/cancelled";

/** All messages that the server has received so far. */
async function received(): Promise<(string | object)[]> {
  const { content } = await managed().client.callTool({ server: "echo", tool: "heard" });
  const [block] = content as { text: string }[];
  return JSON.parse(block?.text ?? "[]");
}
