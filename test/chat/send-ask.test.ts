// `send_message` to a chat that is not allowed: the user is asked, in both eras, directly and through the hub.

import { readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connectAsked, type AskedOptions, type ClientEra } from "../support/asked-clients.ts";
import {
  connectChat,
  makeChatHome,
  runChat,
  startChat,
  type ChatHome,
  type RunningChat,
} from "../support/chat/client.ts";
import { makeHome, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { listen, portOf } from "../support/sockets.ts";

const sent: Readonly<Record<string, unknown>>[] = [];
let api: { readonly url: string; close(): Promise<void> };
let home: ChatHome;
let server: RunningChat;
let hubHome: Home;
let hub: RunningHub;

beforeAll(async () => {
  api = await botApi();
  const telegram = { kind: "telegram-bot", options: { token: "123:abc", api_root: api.url } };
  home = await makeChatHome({ telegram: { entry: { ...telegram, send: { chats: ["Antti"], others: "ask" } } } });
  server = await startChat(home);
  hubHome = await makeHome({ chat: { url: server.url } });
  hub = await startHub(hubHome);
  const client = await connectChat("modern", { url: server.url });
  while ((await client.call("list_chats")).json.chats.length < 2);
  await client.close();
});
afterAll(async () => {
  await hub.stop();
  await hubHome.remove();
  await server.stop();
  await home.remove();
  await api.close();
});
beforeEach(() => void (sent.length = 0));

const TEXT = "On my way.\n\nChat: Antti (direct, id 7)\nSee you at 8 – Ä 👍";
const SEND = { source: "telegram", chat: "Bob", text: TEXT };
const record = async (): Promise<Record<string, unknown>[]> =>
  (await readFile(join(home.dir, "sent.jsonl"), "utf8").catch(() => ""))
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

type Way = "direct" | "hub";
const cases = (["legacy", "modern"] as const).flatMap((era) =>
  (["direct", "hub"] as const).map((way) => ({ era, way })),
);

async function ask(era: ClientEra, way: Way, options: AskedOptions) {
  const url = way === "direct" ? server.url : `${hub.url}/mcp`;
  return connectAsked(era, { url }, options);
}

describe.each(cases)("a $era client, $way", ({ era, way }) => {
  it("CH-12 sends exactly what the user has accepted, once, and logs it", async () => {
    const client = await ask(era, way, { elicit: () => ({ action: "accept", content: {} }) });
    const { text, isError } = await client.call("send_message", SEND);
    expect({ text, isError }).toEqual({ isError: false, text: expect.stringContaining("Sent to Bob") });
    expect(sent).toMatchObject([{ text: TEXT }]);
    const { params } = client.asked.all[0] as unknown as { params: { message: string } };
    expect(params.message).toMatch(
      /^Send this message in your name\?\nChat: Bob \(direct, id \S+\)\nSource: .*telegram/,
    );
    expect(params.message.endsWith(`\nText:\n${TEXT}`)).toBe(true);
    const lines = (await record()).slice(-2);
    expect(lines).toMatchObject([
      { outcome: "begun", asked: true },
      { outcome: "sent", asked: true },
    ]);
    // The permission was for one message, so the user is asked again; a repeated idempotency key is not sent again.
    await client.call("send_message", { ...SEND, idempotency_key: `${era}-${way}` });
    await client.call("send_message", { ...SEND, idempotency_key: `${era}-${way}` });
    expect(sent).toHaveLength(2);
    // An allowed chat needs no confirmation.
    await client.call("send_message", { ...SEND, chat: "Antti" });
    expect(sent).toHaveLength(3);
    expect(client.asked.all).toHaveLength(2);
    await client.close();
  });

  it.each(["decline", "cancel"])("sends nothing if the user answers %s", async (action) => {
    const client = await ask(era, way, { elicit: () => ({ action }) });
    const { text, isError } = await client.call("send_message", { ...SEND, idempotency_key: `no-${era}-${way}` });
    expect(isError).toBe(true);
    expect(text).toContain("SEND_NOT_ALLOWED: The user was asked and did not allow it");
    expect(sent).toEqual([]);
    expect((await record()).at(-1)).toMatchObject({ outcome: "declined", asked: true, key: `no-${era}-${way}` });
    await client.close();
  });

  it("sends nothing if the client cancels before the user has answered", async () => {
    const gone = new AbortController();
    const client = await ask(era, way, {
      elicit: async (_, signal) => {
        gone.abort();
        // A legacy client is notified that the request is cancelled; a modern client made the request itself.
        if (era === "legacy") await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        return { action: "accept", content: {} };
      },
    });
    await expect(client.call("send_message", SEND, { signal: gone.signal })).rejects.toThrow();
    await client.close();
    expect(sent).toEqual([]);
  });

  it("refuses with a hint if the client cannot ask", async () => {
    const client = await ask(era, way, { capabilities: {} });
    const { text, isError } = await client.call("send_message", SEND);
    expect(isError).toBe(true);
    expect(text).toContain("SEND_NOT_ALLOWED");
    expect(text).toContain("sources.<id>.send.chats");
    expect(sent).toEqual([]);
    await client.close();
  });
});

describe("an answer is valid for its question only, and only once", () => {
  /** One raw request of 2026-07-28. */
  async function post(args: object, more: object = {}): Promise<Record<string, unknown>> {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
    };
    const params = { name: "send_message", arguments: args, ...more, _meta: meta };
    const response = await fetch(server.url, {
      method: "POST",
      headers: {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "send_message",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    });
    const text = await response.text();
    const data = /^data: (\{.*)$/m.exec(text)?.[1] ?? text;
    const { result, error } = JSON.parse(data) as Record<string, Record<string, unknown>>;
    return result ?? { error };
  }
  const inputResponses = { answer: { action: "accept", content: {} } };
  const asks = { resultType: "input_required", inputRequests: { answer: { method: "elicitation/create" } } };

  it("is ignored without the state of a question, and refused with a forged one", async () => {
    expect(await post(SEND, { inputResponses })).toMatchObject(asks);
    expect(await post(SEND, { inputResponses, requestState: "v1.e30.e30" })).toMatchObject({
      error: { code: -32_602 },
    });
    expect(sent).toEqual([]);
  });

  it("is not valid for another text, chat or key; submitted twice it sends once", async () => {
    const first = await post(SEND);
    expect(first).toMatchObject(asks);
    const { requestState } = first;
    for (const change of [{ text: "other" }, { idempotency_key: "other" }])
      expect(await post({ ...SEND, ...change }, { inputResponses, requestState })).toMatchObject(asks);
    expect(sent).toEqual([]);
    const both = await Promise.all([1, 2].map(() => post(SEND, { inputResponses, requestState })));
    const again = await post(SEND, { inputResponses, requestState });
    expect(
      [...both, again].map(({ structuredContent }) => (structuredContent as { repeated: boolean }).repeated),
    ).toEqual(expect.arrayContaining([false, true, true]));
    expect(sent).toHaveLength(1);
  });

  it("cannot be given by an argument of the tool; too many questions are refused", async () => {
    for (const more of [{ confirm: true }, { ask: false }, { consent: "yes" }])
      expect(await post({ ...SEND, ...more })).toMatchObject({
        isError: true,
        structuredContent: { error: { code: "INVALID_PARAMETER" } },
      });
    let last: Record<string, unknown> = {};
    for (let count = 0; count < 35; count++) last = await post({ ...SEND, text: `question ${count}` });
    expect(last).toMatchObject({
      isError: true,
      structuredContent: { error: { code: "RATE_LIMITED", retry_after_s: expect.any(Number) } },
    });
    expect(sent).toEqual([]);
  });
});

it("a send rule that allows nothing is refused with a hint", async () => {
  const wrong = await makeChatHome({});
  for (const send of [{}, { chats: [] }, { chats: [], others: "refuse" }, { others: "always" }]) {
    const config = { sources: { x: { kind: "import", send } } };
    await writeFile(join(wrong.dir, "chat.json"), JSON.stringify(config));
    const { code, stderr } = await runChat(wrong, "sources");
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/send.*(?:others: "ask"|"ask")/s),
    });
  }
  await wrong.remove();
});

/** The part of the Bot API that the tests need: two chats, and a record of sent messages. */
async function botApi() {
  const people = [
    { id: 7, first_name: "Antti" },
    { id: 8, first_name: "Bob" },
  ];
  const updates = people.map((who, index) => ({
    update_id: index + 1,
    message: {
      message_id: index + 1,
      date: 1_736_758_860,
      text: "hi",
      chat: { ...who, type: "private" },
      from: { ...who, is_bot: false },
    },
  }));
  const bot = createServer((request, response) => {
    void (async () => {
      const body = await bodyOf(request);
      const answer = (result: unknown) => response.end(JSON.stringify({ ok: true, result }));
      if (request.url?.endsWith("/getUpdates") === true) {
        const waiting = updates.filter((update) => update.update_id >= Number(body["offset"] ?? 0));
        if (waiting.length === 0) await new Promise<void>((resolve) => response.once("close", resolve));
        answer(waiting);
      } else if (request.url?.endsWith("/sendMessage") === true) {
        sent.push(body);
        const [, bob] = people;
        answer({
          message_id: 100 + sent.length,
          date: 1_736_758_900,
          text: body["text"],
          chat: { ...bob, type: "private" },
        });
      } else answer({ id: 1, is_bot: true, first_name: "Bot", username: "bot" });
    })();
  });
  await listen(bot);
  return {
    url: `http://127.0.0.1:${portOf(bot)}`,
    close: async () => {
      bot.closeAllConnections();
      await new Promise((resolve) => bot.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString("utf8"));
}
