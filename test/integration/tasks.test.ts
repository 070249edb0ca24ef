// Tasks through the built hub, where both sides are of one era: the everything server's of 2025-11-25, and the extension's.
// Whose a task is, and that two servers' tasks are never mistaken for each other.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixture, makeHome, published, startHub, type Home, type RunningHub, type Servers } from "../support/hub.ts";
import { startRemote } from "../support/remote.ts";
import { answerOf, connect, modern, post } from "../support/rpc.ts";
import { openStream } from "../support/streams.ts";

const TASKS = "io.modelcontextprotocol/tasks";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
const RELATED = "io.modelcontextprotocol/related-task";
const ABLE = { [CAPABILITIES]: { extensions: { [TASKS]: {} } } };

const endings: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

async function start(servers: Servers, groups?: unknown): Promise<string> {
  const home: Home = await makeHome(servers, groups);
  const hub: RunningHub = await startHub(home);
  endings.push(async () => {
    await hub.stop();
    await home.remove();
  });
  return `${hub.url}/mcp`;
}

describe("2025-11-25", () => {
  let url: string;

  beforeAll(async () => {
    url = await start({ everything: published("server-everything"), echo: fixture("echo") });
  });

  const call = { name: "everything__simulate-research-query", arguments: { topic: "tides" }, task: { ttl: 60_000 } };

  it("GR-7 a call becomes a task, tells how it is doing, and gives its result, all under the hub's own id", async () => {
    const client = await connect(url);
    expect(client.hello.result.capabilities.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
    const stream = await openStream(url, { headers: client.headers });
    const { messages } = stream;
    const { task } = (await client.request("tools/call", call)).result;
    expect(task).toMatchObject({ taskId: expect.stringMatching(/^[0-9a-f-]{36}$/), status: "working" });
    const status = await messages.find(({ method }) => method === "notifications/tasks/status");
    expect(status.params.taskId).toBe(task.taskId);
    const other = await connect(url);
    expect((await other.request("tasks/list")).result.tasks.map(({ taskId }: typeof task) => taskId)).toEqual([
      task.taskId,
    ]);
    // Blocks until it is done.
    const { result } = await client.request("tasks/result", { taskId: task.taskId });
    expect(result.content[0].text).toContain("tides");
    expect(result._meta[RELATED]).toEqual({ taskId: task.taskId });
    expect((await other.request("tasks/get", { taskId: task.taskId })).result).toMatchObject({
      taskId: task.taskId,
      status: "completed",
    });
    stream.close();
  });

  it("GR-7 nobody else reaches it: not by its id, not by the list, not with another era's words", async () => {
    const client = await connect(url);
    const { task } = (await client.request("tools/call", call)).result;
    const stranger = { ...client.headers, authorization: "Bearer somebody-else" };
    const ask = async (method: string, params: unknown) =>
      answerOf((await post(url, { jsonrpc: "2.0", id: "x", method, params }, stranger)).body);
    for (const method of ["tasks/get", "tasks/cancel", "tasks/result"]) {
      expect((await ask(method, { taskId: task.taskId })).error).toMatchObject({
        code: -32602,
        message: "Task not found",
      });
    }
    expect((await ask("tasks/list", {})).result).toEqual({ tasks: [] });
    const refused = answerOf(
      (await modern(url, "tasks/get", { taskId: task.taskId, _meta: ABLE }, name(task.taskId))).body,
    );
    expect(refused.error).toMatchObject({ code: -32601 });
    expect((await client.request("tasks/cancel", { taskId: task.taskId })).result).toMatchObject({
      taskId: task.taskId,
      status: "cancelled",
    });
    expect((await client.request("tasks/get", { taskId: "1" })).error).toMatchObject({ code: -32602 });
  });
});

const name = (taskId: string) => ({ "mcp-name": taskId });

describe.each([
  ["stdio", async (...args: string[]) => fixture("tasks", ...args)],
  [
    "HTTP",
    async (...args: string[]) => {
      const remote = await startRemote("tasks", ["--http", ...args]);
      endings.push(remote.stop);
      return remote.entry;
    },
  ],
])("the extension over %s", (_, entry) => {
  let url: string;
  const ask = async (method: string, params: Record<string, unknown>, headers: Record<string, string> = {}) => {
    const taskId = params["taskId"];
    const named = typeof taskId === "string" ? name(taskId) : {};
    const answer = await modern(url, method, { ...params, _meta: ABLE }, { ...named, ...headers });
    return { status: answer.status, ...answerOf(answer.body) };
  };
  const call = async (tool: string, args: Record<string, unknown> = {}) =>
    (await ask("tools/call", { name: tool, arguments: args })).result;

  beforeAll(async () => {
    url = await start(
      { a: await entry("--name=a"), b: await entry("--name=b", "--skills"), old: published("server-everything") },
      { both: { servers: ["a", "b"] } },
    );
  });

  it("GR-7 is announced, with what else the servers of this era bring along", async () => {
    const { result } = await ask("server/discover", {});
    expect(result.capabilities.extensions).toEqual({
      [TASKS]: {},
      "io.modelcontextprotocol/skills": { directoryRead: true, by: ["b"] },
    });
    // The legacy server has tasks of another kind, which no modern client could use.
    const { hello } = await connect(`${url}/both`);
    expect(hello.result.capabilities).not.toHaveProperty("extensions");
    expect(hello.result.capabilities).not.toHaveProperty("tasks");
  });

  it("GR-6 GR-7 two servers' tasks of one id are two tasks; each is asked for where it was made", async () => {
    const [first, second] = [await call("a__slow"), await call("b__slow")];
    expect(first).toMatchObject({ resultType: "task", status: "working", ttlMs: 60_000 });
    expect(new Set([first.taskId, second.taskId, "1"]).size).toBe(3);
    await call("b__finish", { task: 1 });
    expect((await ask("tasks/get", { taskId: first.taskId })).result).toMatchObject({ status: "working" });
    const done = await ask("tasks/get", { taskId: second.taskId });
    expect(done.result).toMatchObject({
      taskId: second.taskId,
      status: "completed",
      big: 9_007_199_254_740_991,
      result: { content: [{ text: "b is done" }], _meta: { "x/y": 1 } },
    });
    expect((await ask("tasks/cancel", { taskId: first.taskId })).result).toMatchObject({ resultType: "complete" });
    expect((await ask("tasks/get", { taskId: first.taskId })).result).toMatchObject({ status: "cancelled" });
  });

  it("GR-7 what a task wants to know reaches it", async () => {
    const { taskId } = await call("a__slow", { ask: true });
    expect((await ask("tasks/get", { taskId })).result.inputRequests).toHaveProperty("name");
    const inputResponses = { name: { action: "accept", content: { name: "Antti" } } };
    await ask("tasks/update", { taskId, inputResponses });
    expect((await ask("tasks/get", { taskId })).result.result.content).toEqual([{ type: "text", text: "Antti" }]);
  });

  it("GR-7 a task is for whoever made it, and for clients that know what a task is", async () => {
    const { taskId } = await call("a__slow");
    const other = await ask("tasks/get", { taskId }, { authorization: "Bearer somebody-else" });
    expect(other.error).toMatchObject({ code: -32602, message: "Task not found" });
    const unable = await modern(url, "tasks/get", { taskId }, name(taskId));
    expect(unable.status).toBe(400);
    expect(answerOf(unable.body).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
    });
    expect((await ask("tasks/list", {})).error).toMatchObject({ code: -32601 });
    expect((await ask("tasks/get", { taskId: "1" })).error).toMatchObject({ code: -32602 });
  });

  it("GR-7 its changes come on a subscription, under the client's ids, and only its own", async () => {
    const [mine, other] = [await call("a__slow"), await call("b__slow")];
    const listening = {
      notifications: { taskIds: [mine.taskId, other.taskId, "1", "unknown"] },
      _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", ...ABLE },
    };
    const stream = await openStream(url, {
      method: "POST",
      headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" },
      body: { jsonrpc: "2.0", id: "L", method: "subscriptions/listen", params: listening },
    });
    const { messages } = stream;
    const stamp = { "io.modelcontextprotocol/subscriptionId": "L" };
    const acknowledged = await messages.find(({ method }) => method === "notifications/subscriptions/acknowledged");
    expect(acknowledged.params._meta).toEqual(stamp);
    expect(new Set(acknowledged.params.notifications.taskIds)).toEqual(new Set([mine.taskId, other.taskId]));
    for (const { taskId } of [mine, other]) {
      await ask("tasks/cancel", { taskId });
      const { params } = await messages.find((message) => message.params?.taskId === taskId);
      expect(params).toMatchObject({ taskId, status: "cancelled", _meta: stamp });
    }
    expect(messages.all).toHaveLength(3);
    stream.close();
  });

  it("GR-7 methods of an extension go to the one server that has it, and are unknown where none can be told", async () => {
    expect((await ask("skills/list", {})).result).toMatchObject({
      skills: [{ uri: "skill://b", frontmatter: { name: "b" } }],
      ttlMs: 5,
      cacheScope: "public",
    });
    expect((await ask("skills/get", { uri: "skill://b" })).result).toMatchObject({
      skill: { uri: "skill://b", by: "b" },
    });
    expect(await ask("boards/list", {})).toMatchObject({ status: 404, error: { code: -32601 } });
    // The server's own words: it announces it and does not have it.
    expect((await ask("resources/directory/read", { uri: "skill://b" })).error).toMatchObject({ code: -32601 });
    const { request } = await connect(url);
    expect((await request("skills/list")).error).toMatchObject({ code: -32601 });
  });
});
