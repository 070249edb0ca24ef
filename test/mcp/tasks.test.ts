// Tasks through the built hub, with both sides in one era: those of 2025-11-25 (the everything server), and the extension. Owners of
// tasks, and equal ids of two servers.

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

  it("GR-7 a call becomes a task with status and result, under the hub's own id", async () => {
    const client = await connect(url);
    expect(client.hello.result.capabilities.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
    const stream = await openStream(url, { headers: client.headers });
    const { messages } = stream;
    const { task } = (await client.request("tools/call", call)).result;
    expect(task).toMatchObject({ taskId: expect.stringMatching(/^[\w-]{40,}$/), status: "working" });
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

  it("GR-7 A32 another user or era cannot use it, by id or by list", async () => {
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

describe("2025-11-25, messages of a server about a task", () => {
  let url: string;

  beforeAll(async () => {
    url = await start({ it: fixture("tasks-legacy") });
  });

  const job = (progressToken: string) => ({ name: "job", task: { ttl: 60_000 }, _meta: { progressToken } });
  const about = (taskId: string) => ({ [RELATED]: { taskId } });
  const able = (authorization?: string) => connect(url, "2025-11-25", undefined, { elicitation: {} }, authorization);
  const tell = (task: number, what: string, level?: string) => ({ name: "tell", arguments: { task, what, level } });

  /** Sends a request, answers the one server request that comes with it, and returns both. */
  async function answering({ headers }: Awaited<ReturnType<typeof able>>, method: string, params: unknown) {
    const stream = await openStream(url, {
      method: "POST",
      headers,
      body: { jsonrpc: "2.0", id: "asked", method, params },
    });
    const question = await stream.messages.find((message) => message.method === "elicitation/create");
    const result = { action: "accept", content: {}, _meta: question.params._meta };
    await post(url, { jsonrpc: "2.0", id: question.id, result }, headers);
    const reply = await stream.messages.find((message) => message.id === "asked");
    stream.close();
    return { question, result: reply.result };
  }

  it("GR-7 a server request has the client's task id, and the reply the server's", async () => {
    const client = await able();
    const { task } = (await client.request("tools/call", job("t"))).result;
    const { question, result } = await answering(client, "tasks/result", { taskId: task.taskId });
    expect(question.params._meta).toEqual(about(task.taskId));
    expect(JSON.parse(result.content[0].text).result._meta).toEqual(about("1"));
    expect(result._meta).toEqual(about(task.taskId));
  });

  it("GR-7 a server request reaches no other client, even if that has the only open request", async () => {
    const [owner, other] = [await able(), await able("Bearer somebody-else")];
    const { task } = (await owner.request("tools/call", job("t"))).result;
    const { result } = await other.request("tools/call", tell(2, "ask"));
    expect(JSON.parse(result.content[0].text).error).toMatchObject({ code: -32600 });
    const modernly = answerOf(
      (
        await modern(url, "tools/call", {
          ...tell(2, "ask"),
          _meta: { [CAPABILITIES]: { elicitation: {} } },
        })
      ).body,
    );
    expect(JSON.parse(modernly.result.content[0].text).error).toMatchObject({ code: -32600 });
    // Any request of the task's client will do.
    const { question } = await answering(owner, "tools/call", tell(2, "ask"));
    expect(question.params._meta).toEqual(about(task.taskId));
  });

  it("GR-7 progress and logs after the reply reach only the client that made the task", async () => {
    const [owner, other] = [await able(), await able("Bearer somebody-else")];
    const { task } = (await owner.request("tools/call", job("mine"))).result;
    const own = await openStream(url, { headers: owner.headers });
    const { messages } = own;
    const others = await openStream(url, { headers: other.headers });
    await owner.request("logging/setLevel", { level: "warning" });
    await other.request("tools/call", tell(3, "progress"));
    expect((await messages.find(({ method }) => method === "notifications/progress")).params).toEqual({
      progressToken: "mine",
      progress: 1,
      _meta: about(task.taskId),
    });
    // During a request of its own: on the stream of that request. The session's level applies here too.
    await owner.request("tools/call", tell(3, "log", "info"));
    const stream = await openStream(url, {
      method: "POST",
      headers: owner.headers,
      body: { jsonrpc: "2.0", id: "log", method: "tools/call", params: tell(3, "log", "error") },
    });
    const log = await stream.messages.find(({ method }) => method === "notifications/message");
    expect(log.params).toMatchObject({ level: "error", _meta: about(task.taskId) });
    await other.request("tools/call", tell(3, "log", "error"));
    await other.request("tools/call", tell(3, "progress"));
    await messages.find((message) => message !== messages.all[0] && message.method === "notifications/progress");
    expect(messages.all.map(({ method }) => method)).toEqual(["notifications/progress", "notifications/progress"]);
    expect(others.messages.all).toEqual([]);
    for (const each of [own, others, stream]) each.close();
  });
});

describe("2025-11-25, a tool that requires tasks, for a client without tasks", () => {
  const ABLE_TO_ANSWER = { [CAPABILITIES]: { elicitation: {} } };
  const ANSWER = { action: "accept", content: {} };
  let url: string;

  beforeAll(async () => {
    url = await start({ it: fixture("tasks-legacy"), everything: published("server-everything") });
  });

  it("GR-7 a legacy client gets requests, progress and the reply as from any other tool", async () => {
    const { headers } = await connect(url, "2025-06-18", undefined, { elicitation: {} });
    const params = { name: "it__must", _meta: { progressToken: "p" } };
    const stream = await openStream(url, {
      method: "POST",
      headers,
      body: { jsonrpc: "2.0", id: "must", method: "tools/call", params },
    });
    const { messages } = stream;
    const question = await messages.find(({ method }) => method === "elicitation/create");
    // Nothing about the task; only the server's name.
    expect(question.params._meta).toEqual({ "io.plugboard/server": "it" });
    await post(url, { jsonrpc: "2.0", id: question.id, result: ANSWER }, headers);
    const { result } = await messages.find(({ id, method }) => id === "must" && method === undefined);
    expect(Object.keys(result)).toEqual(["content"]);
    // The server has the task.
    expect(JSON.parse(result.content[0].text).result).toMatchObject({
      ...ANSWER,
      _meta: { [RELATED]: { taskId: "1" } },
    });
    expect((await messages.find(({ method }) => method === "notifications/progress")).params).toEqual({
      progressToken: "p",
      progress: 1,
    });
    stream.close();
  });

  it("GR-7 so does a modern client, which sends the input with its next request", async () => {
    const call = { name: "everything__simulate-research-query", arguments: { topic: "python", ambiguous: true } };
    const ask = async (more: object = {}) =>
      answerOf((await modern(url, "tools/call", { ...call, ...more, _meta: ABLE_TO_ANSWER })).body).result;
    const { resultType, inputRequests, requestState } = await ask();
    expect([resultType, Object.keys(inputRequests).length]).toEqual(["input_required", 1]);
    const [key = ""] = Object.keys(inputRequests);
    const inputResponses = { [key]: { action: "accept", content: { interpretation: "snake" } } };
    const done = await ask({ requestState, inputResponses });
    expect(done.content[0].text).toContain("python (snake)");
  });

  it("GR-7 CL-3 a client that disconnects cancels the task", async () => {
    const _meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", ...ABLE_TO_ANSWER, progressToken: 1 };
    const params = { name: "it__must", arguments: { endless: true }, _meta };
    const stream = await openStream(url, {
      method: "POST",
      headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "it__must" },
      body: { jsonrpc: "2.0", id: 1, method: "tools/call", params },
    });
    // Sent as soon as a client waits for its result.
    await stream.messages.find(({ method }) => method === "notifications/progress");
    const ended = modern(url, "tools/call", { name: "it__tell", arguments: { task: 2, what: "end" } });
    stream.close();
    expect(answerOf((await ended).body).result.content[0].text).toBe("cancelled");
  });
});

it("GR-7 LC-5 a task survives a restart of the hub if its server does, with the same id and user", async () => {
  const remote = await startRemote("tasks", ["--http"]);
  endings.push(remote.stop);
  const home = await makeHome({ it: remote.entry });
  endings.push(() => home.remove());
  const first = await startHub(home);
  const ask = async (hub: RunningHub, method: string, params: Record<string, unknown>, headers = {}) => {
    const taskId = params["taskId"];
    const named = typeof taskId === "string" ? name(taskId) : {};
    return answerOf(
      (await modern(`${hub.url}/mcp`, method, { ...params, _meta: ABLE }, { ...named, ...headers })).body,
    );
  };
  const { taskId } = (await ask(first, "tools/call", { name: "slow", arguments: {} })).result;
  await first.stop();
  const second = await startHub(home);
  endings.push(() => second.stop());
  expect((await ask(second, "tasks/get", { taskId })).result).toMatchObject({ taskId, status: "working" });
  const stranger = { authorization: "Bearer somebody-else" };
  expect((await ask(second, "tasks/get", { taskId }, stranger)).error).toMatchObject({ message: "Task not found" });
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

  it("GR-7 is announced, with the other extensions of servers of this era", async () => {
    const { result } = await ask("server/discover", {});
    expect(result.capabilities.extensions).toEqual({
      [TASKS]: {},
      "io.modelcontextprotocol/skills": { directoryRead: true, by: ["b"] },
    });
    // The legacy server's tasks cannot be used by modern clients.
    const { hello } = await connect(`${url}/both`);
    expect(hello.result.capabilities).not.toHaveProperty("extensions");
    expect(hello.result.capabilities).not.toHaveProperty("tasks");
  });

  it("GR-6 GR-7 equal ids of two servers are two tasks; requests reach the right server", async () => {
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

  it("GR-7 input reaches the task", async () => {
    const { taskId } = await call("a__slow", { ask: true });
    expect((await ask("tasks/get", { taskId })).result.inputRequests).toHaveProperty("name");
    const inputResponses = { name: { action: "accept", content: { name: "Antti" } } };
    await ask("tasks/update", { taskId, inputResponses });
    expect((await ask("tasks/get", { taskId })).result.result.content).toEqual([{ type: "text", text: "Antti" }]);
  });

  it("GR-7 A32 a task is only for its user, and for clients that support tasks", async () => {
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

  it("GR-7 status changes come on a subscription, with the client's ids, for its own tasks only", async () => {
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

  it("GR-7 methods of an extension reach the only server that has it, and are unknown without one", async () => {
    expect((await ask("skills/list", {})).result).toMatchObject({
      skills: [{ uri: "skill://b", frontmatter: { name: "b" } }],
      ttlMs: 5,
      cacheScope: "public",
    });
    expect((await ask("skills/get", { uri: "skill://b" })).result).toMatchObject({
      skill: { uri: "skill://b", by: "b" },
    });
    expect(await ask("boards/list", {})).toMatchObject({ status: 404, error: { code: -32601 } });
    // The server's own error: it announces the method and does not have it.
    expect((await ask("resources/directory/read", { uri: "skill://b" })).error).toMatchObject({ code: -32601 });
    const { request } = await connect(url);
    expect((await request("skills/list")).error).toMatchObject({ code: -32601 });
  });
});

describe("an extension of several servers", () => {
  let url: string;
  const skills = async (method: string, params: Record<string, unknown> = {}) =>
    answerOf((await modern(`${url}/both`, method, params)).body);

  beforeAll(async () => {
    const servers = {
      a: fixture("tasks", "--name=a", "--skills"),
      bb: fixture("tasks", "--name=bb", "--skills", "--pages"),
      plain: fixture("tasks", "--name=plain"),
      down: { ...fixture("tasks", "--name=down", "--skills"), enabled: false },
    };
    url = await start(servers, { both: { servers: ["plain", "a", "bb", "down"] } });
  });

  it("GR-7 lists are merged: all pages of each, with the shortest lifetime", async () => {
    const { result } = await skills("skills/list");
    expect(result).toMatchObject({ resultType: "complete", ttlMs: 5, cacheScope: "private" });
    expect(result.skills.map(({ uri }: { uri: string }) => uri)).toEqual(["skill://a", "skill://bb", "skill://bb/2"]);
    expect(result).not.toHaveProperty("nextCursor");
    expect((await skills("skills/list", { cursor: "/2" })).error).toMatchObject({ code: -32602 });
  });

  it("GR-7 reads return the first success, or else the first error", async () => {
    expect((await skills("skills/get", { uri: "skill://bb/2" })).result.skill).toEqual({
      uri: "skill://bb/2",
      by: "bb",
    });
    expect((await skills("skills/get", { uri: "skill://none" })).error).toEqual({
      code: -32602,
      message: "a has no such skill",
    });
  });

  it("GR-7 any other method is refused with the reason", async () => {
    expect((await skills("skills/forget", { uri: "skill://a" })).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("Several servers"),
      data: { detail: "a, bb" },
    });
  });
});
