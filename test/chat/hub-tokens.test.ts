// Access tokens of the hub at the chat server's HTTP endpoint: what each of them sees. The tokens are made with the hub's own command.

import { once } from "node:events";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HttpEndpoint } from "../../chat/src/mcp/http.ts";
import { chat, message, person } from "../support/chat/events.ts";
import { openChatApp, type OpenedApp } from "../support/chat/app.ts";
import { makeHome, plugboard, type Home } from "../support/hub.ts";
import { answerOf, modern, post } from "../support/rpc.ts";

const AT = Date.parse("2025-01-13T09:00:00Z");
const ACCESS = {
  "service:family": { telegram: { chats: ["Family"] } },
  "service:writer": { telegram: { chats: ["Family"], send: true } },
  "service:reader": { telegram: { send: true } },
  "token:named": { signal: {} },
  "service:everything": "all",
};

/** A kind that can send. The sources are never started. */
const BOT = {
  kind: "telegram-bot",
  options: { token: "123:abc", api_root: "http://127.0.0.1:9" },
  send: { chats: ["Family", "Work", "Doctor"] },
};

let home: Home;
let opened: OpenedApp;
let endpoint: HttpEndpoint;
const tokens: Record<string, Record<string, string>> = {};

beforeAll(async () => {
  home = await makeHome({});
  opened = await openChatApp(["telegram", "signal"], { config: { access: ACCESS }, entry: BOT });
  opened.apply("telegram", [
    chat({ id: "1", name: "Family", type: "group" }),
    chat({ id: "2", name: "Work", type: "group" }),
    person({ id: "ann", name: "Ann" }),
    message({ id: "10", chat: "1", sender: "ann", at: AT, content: "the plan for Sunday" }),
    message({ id: "20", chat: "2", sender: "ann", at: AT + 1, content: "the plan for the merger" }),
  ]);
  opened.apply("signal", [
    chat({ id: "s1", name: "Doctor", type: "direct" }),
    message({ id: "30", chat: "s1", sender: "doc", at: AT + 2, content: "the plan for treatment" }),
  ]);
  const identity = join(home.dir, "data/identity.db");
  endpoint = await HttpEndpoint.open(opened.app, { host: "127.0.0.1", port: 0, token: "static-token", identity });
  for (const name of ["family", "writer", "reader", "named", "everything", "stranger"]) {
    const options = name === "reader" ? ["--read-only"] : [];
    const { stdout } = await plugboard(home, ["token", "add", name, ...options, "--json"]);
    tokens[name] = { authorization: `Bearer ${JSON.parse(stdout).token}` };
  }
});

afterAll(async () => {
  await endpoint?.close();
  await opened?.close();
  await home?.remove();
});

async function call(name: string, tool: string, args: object = {}) {
  const { status, body } = await modern(endpoint.url, "tools/call", { name: tool, arguments: args }, tokens[name]);
  expect(status).toBe(200);
  return answerOf(body).result.structuredContent;
}

const chatsOf = async (name: string) =>
  (await call(name, "list_chats")).chats.map((each: { name: string }) => each.name).toSorted();
const found = async (name: string) =>
  (await call(name, "search_messages", { query: "plan" })).messages.map(({ id }: { id: string }) => id).toSorted();

describe("AU-5 a token of the hub at the chat server", () => {
  it.each([
    ["family", ["Family"], ["10"]],
    ["writer", ["Family"], ["10"]],
    ["reader", ["Family", "Work"], ["10", "20"]],
    ["named", ["Doctor"], ["30"]],
    ["everything", ["Doctor", "Family", "Work"], ["10", "20", "30"]],
  ])("T47 %s sees and searches its own chats only", async (name, chats, messages) => {
    expect(await chatsOf(name)).toEqual(chats);
    expect(await found(name)).toEqual(messages);
    const { sources } = await call(name, "list_sources");
    expect(
      sources
        .map(({ message_count: count }: { message_count: number }) => count)
        .reduce((a: number, b: number) => a + b),
    ).toBe(messages.length);
  });

  it("T47 what a token may not see is answered like what does not exist", async () => {
    const errorOf = async (args: object) => JSON.stringify((await call("family", "get_messages", args)).error);
    const same = (text: string, ...names: string[]) => names.reduce((all, name) => all.replaceAll(name, "…"), text);
    const [hidden, missing] = [
      await errorOf({ source: "telegram", chat: "Work" }),
      await errorOf({ source: "telegram", chat: "Wxyz" }),
    ];
    expect(JSON.parse(hidden).code).toBe("CHAT_NOT_FOUND");
    expect(same(hidden, "Work")).toBe(same(missing, "Wxyz"));
    const [forbidden, unknown] = [
      await errorOf({ source: "signal", chat: "Doctor" }),
      await errorOf({ source: "sxgnxl", chat: "Doctor" }),
    ];
    expect(JSON.parse(forbidden).code).toBe("SOURCE_NOT_FOUND");
    expect(same(forbidden, "signal")).toBe(same(unknown, "sxgnxl"));
    const byId = await call("family", "get_message_context", { source: "telegram", chat: "Family", message_id: "20" });
    expect(byId.error.code).toBe("MESSAGE_NOT_FOUND");
  });

  it("T47 resources and completions have the same limits", async () => {
    const { body } = await modern(endpoint.url, "resources/list", {}, tokens["family"]);
    expect(body).toContain("telegram");
    expect(body).not.toMatch(/signal|Work|Doctor/);
    const read = await modern(endpoint.url, "resources/read", { uri: "messages://telegram/Work" }, tokens["family"]);
    expect(read.body).not.toContain("merger");
  });

  it.each([
    ["writer", true],
    ["family", false],
    ["reader", false],
    ["everything", true],
  ])("T47 %s may send: %s", async (name, maySend) => {
    const { body } = await modern(endpoint.url, "tools/list", {}, tokens[name]);
    const names = answerOf(body).result.tools.map((tool: { name: string }) => tool.name);
    expect(names.includes("send_message")).toBe(maySend);
    if (maySend) return;
    const params = { name: "send_message", arguments: { source: "telegram", chat: "Family", text: "hi" } };
    const refused = answerOf((await modern(endpoint.url, "tools/call", params, tokens[name])).body);
    expect(refused.error.message).toContain("Unknown tool");
  });

  it("T47 a writer cannot send to a chat that it does not see", async () => {
    const args = { source: "telegram", chat: "Work", text: "hi" };
    expect((await call("writer", "send_message", args)).error.code).toBe("CHAT_NOT_FOUND");
  });

  it("T47 a session belongs to its token, and a revoked token ends it", async () => {
    const { authorization } = tokens["family"] ?? {};
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const hello = await post(
      endpoint.url,
      { jsonrpc: "2.0", id: 0, method: "initialize", params },
      { authorization: authorization ?? "" },
    );
    const session = {
      authorization: authorization ?? "",
      "mcp-session-id": String(hello.headers["mcp-session-id"]),
      "mcp-protocol-version": "2025-11-25",
    };
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    expect((await post(endpoint.url, list, session)).status).toBe(200);
    expect((await post(endpoint.url, list, { ...session, ...tokens["everything"] })).status).toBe(404);
    const stream = request(endpoint.url, { headers: { ...session, accept: "text/event-stream" }, agent: false });
    stream.end();
    const [response] = await once(stream, "response");
    expect(response.statusCode).toBe(200);
    response.resume();
    const ended = once(response, "close");
    await plugboard(home, ["token", "rm", "family"]);
    await ended;
    expect((await post(endpoint.url, list, session)).status).toBe(401);
  });

  it.each([
    ["no token", {}, 401],
    ["another bearer", { authorization: "Bearer something" }, 401],
    ["a token that never existed", { authorization: `Bearer pbt_${"A".repeat(49)}` }, 401],
    ["the server's own token", { authorization: "Bearer static-token" }, 200],
  ])("T47 %s", async (_, headers: Record<string, string>, status) => {
    expect((await modern(endpoint.url, "tools/list", {}, headers)).status).toBe(status);
  });

  it("T47 a token that chat.json does not name sees nothing, and is told how to change that", async () => {
    const { status, body } = await modern(endpoint.url, "tools/list", {}, tokens["stranger"]);
    expect(status).toBe(403);
    expect(body).toContain("service:stranger");
  });
});
