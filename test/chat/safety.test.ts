// Hidden chats, redacted originals and messages that are too old never leave the server, and nothing is sent unless the user
// has allowed the chat.

import { readFile, stat } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  chat,
  connectChat,
  makeChatHome,
  message,
  person,
  startChat,
  type ChatClient,
} from "../support/chat/client.ts";
import { scaled } from "../support/scale.ts";
import { listen, portOf } from "../support/sockets.ts";

const PHONE = "+358401234567";
const MAIL = "secret.person@example.org";
const HIDDEN = "Therapist Zyx";

const LATELY = Date.now() - 10 * 86_400_000;
const LONG_AGO = LATELY - 3 * 365 * 86_400_000;

/** Chats whose names, ids, people and texts contain values that must not leave the server. */
const EVENTS = [
  person("alice", "Alice"),
  person(PHONE, PHONE, { phone: PHONE }),
  person("zyx", HIDDEN),
  chat("open", "Open", "group", 3),
  chat(PHONE, PHONE),
  chat("hidden-id-77", HIDDEN),
  chat("Work", "Work", "group", 3),
  message("open", "o1", "alice", LATELY, `call ${PHONE} or write to ${MAIL} about the meeting`),
  message("open", "o2", PHONE, LATELY + 60000, "my number again", {
    attachments: [{ kind: "file", name: `${PHONE}.vcf`, available: false }],
    replyTo: "o1",
  }),
  message(PHONE, `${PHONE}:17`, PHONE, LATELY + 120000, "hello meeting"),
  message("hidden-id-77", "h1", "zyx", LATELY + 180000, "the meeting on hiddenword"),
  message("open", "old", "alice", LONG_AGO, "ancientword meeting"),
  message("open", "o3", "alice", LATELY + 240000, "what I said in the meeting long ago", { replyTo: "old" }),
];

const LEAKS = [PHONE, "40 1234567", MAIL, HIDDEN, "hidden-id-77", "hiddenword", "zyx", "ancientword"];

describe("hidden data", () => {
  it("CH-8 property: no hidden chat, no redacted original and no message that is too old in any answer, error, cursor or update", async () => {
    const home = await makeChatHome(
      {
        telegram: { events: EVENTS, entry: { chats: { hide: [HIDDEN] } } },
        allowed: { events: EVENTS, entry: { chats: { allow: ["open", PHONE] } } },
      },
      { redact: { kinds: ["phone", "email"] }, max_age: "1y" },
    );
    const client = await connectChat("modern", { home, args: [] });
    const seen: string[] = [];
    const note = async (what: Promise<unknown>) => {
      seen.push(JSON.stringify(await what.catch((error: Error & { data?: unknown }) => [error.message, error.data])));
    };
    await connected(client);
    await note(client.resources());
    await note(client.watch("messages://telegram/*", "messages://telegram/hidden-id-77", "messages://allowed/*"));
    const source = fc.constantFrom(undefined, "telegram", "allowed", "nobody");
    const chatName = fc.constantFrom(
      undefined,
      "Open",
      "open",
      PHONE,
      HIDDEN,
      "hidden-id-77",
      "Work",
      "chat-1",
      "chat-2",
      "chat-3",
      "chat-6",
    );
    const word = fc.constantFrom(undefined, "meeting", "hiddenword", "ancientword", "number", "hello", PHONE);
    const sender = fc.constantFrom(undefined, "Alice", PHONE, HIDDEN, "zyx");
    const since = fc.constantFrom(undefined, "20y", "2025-01-01", "2010-01-01");
    await fc.assert(
      fc.asyncProperty(
        fc.record({ source, chat: chatName, search: word, sender, since, limit: fc.constantFrom(1, 2, 50) }),
        async (given) => {
          const args = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
          const own = seen.length;
          const page = await client.call("get_messages", args);
          const { json } = page;
          if (page.isError) {
            // An error may repeat the arguments of the caller.
            const said = [given.chat, given.sender].filter((name) => name !== undefined && name !== PHONE);
            seen.push(said.reduce((text, name) => text.replaceAll(name ?? "", ""), JSON.stringify(page)));
          } else {
            seen.push(JSON.stringify(page), decoded(json.next_cursor));
            if (json.next_cursor !== undefined)
              await note(client.call("get_messages", { ...args, cursor: json.next_cursor }));
            for (const { source: of, chat_id, id } of json.messages) {
              await note(
                client.call("get_message_context", {
                  source: of,
                  chat: chat_id,
                  message_id: id,
                  before: 50,
                  after: 50,
                }),
              );
              await note(client.call("get_thread", { source: of, chat: chat_id, message_id: id }));
            }
          }
          if (given.search !== undefined)
            await note(
              client.call("search_messages", { query: given.search === PHONE ? "number" : given.search, context: 5 }),
            );
          for (const text of seen.slice(own)) for (const leak of LEAKS) expect(text).not.toContain(leak);
        },
      ),
      { numRuns: scaled(60, 5000) },
    );
    for (const of of ["telegram", "allowed"]) {
      await note(client.call("list_chats", { source: of }));
      await note(client.read(`messages://${of}/*?limit=500`));
      await note(client.read(`chats://${of}`));
      await note(client.prompt("catch_up", { since: "20y", source: of }));
      await note(client.prompt("analyze_conversation", { source: of, chat: "Open" }));
    }
    for (const query of ["zy", "Alice", "358", "Thera"]) await note(client.call("find_contact", { query }));
    await note(client.call("list_sources"));
    await home.append(
      "telegram",
      message("hidden-id-77", "h2", "zyx", Date.now(), "hiddenword live", { origin: "live" }),
      message(PHONE, `${PHONE}:18`, PHONE, Date.now(), `I am ${PHONE}`, { origin: "live" }),
    );
    const update = await client.update(1);
    seen.push(JSON.stringify(update), decoded(update.meta["plugboard-chat/cursor"]));
    expect(update.messages).toMatchObject([
      { preview: "I am [phone-1]", chat_id: expect.stringMatching(/^chat-\d+$/) },
    ]);
    for (const text of seen) for (const leak of LEAKS) expect(text).not.toContain(leak);
    // The calls have returned content.
    expect(seen.join("")).toContain("call [phone-1] or write to [email-1] about the meeting");
    await client.close();
    await home.remove();
  });

  it("CH-8 a hidden chat is treated as if it did not exist", async () => {
    const home = await makeChatHome({ telegram: { events: EVENTS, entry: { chats: { hide: ["hidden-id-77"] } } } });
    const client = await connectChat("legacy", { home });
    await connected(client);
    const answers = [];
    for (const name of ["hidden-id-77", "never-was"]) {
      const { json } = await client.call("get_messages", { source: "telegram", chat: name });
      answers.push(JSON.stringify(json).replaceAll(name, "NAME"));
      await expect(client.watch(`messages://telegram/${name}`)).rejects.toMatchObject({
        data: { code: "CHAT_NOT_FOUND" },
      });
    }
    expect(answers[0]).toBe(answers[1]);
    await client.close();
    await home.remove();
  });

  it("CH-12 only the user may read the files", async () => {
    const home = await makeChatHome({ telegram: { events: EVENTS } });
    const client = await connectChat("legacy", { home });
    await connected(client);
    expect((await stat(home.dir)).mode & 0o777).toBe(0o700);
    for (const file of ["chat.db", "sources.json"]) expect((await stat(join(home.dir, file))).mode & 0o777).toBe(0o600);
    await client.close();
    await home.remove();
  });
});

describe("paging", () => {
  it("CH-5 a cursor is stable while messages arrive, and is refused with other parameters", async () => {
    const many = Array.from({ length: 100 }, (_, index) =>
      message("open", `m${index}`, "alice", Date.now() - 100_000 + index * 1000, `m${index}`),
    );
    const home = await makeChatHome({
      telegram: { events: [person("alice", "Alice"), chat("open", "Open"), ...many] },
    });
    const client = await connectChat("modern", { home });
    await connected(client);
    const args = { source: "telegram", chat: "Open", since: "7d", limit: 30 };
    const ids: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < 4; page += 1) {
      const { json } = await client.call("get_messages", { ...args, ...(cursor === undefined ? {} : { cursor }) });
      ids.push(...json.messages.map(({ id }: { id: string }) => id));
      cursor = json.next_cursor;
      await home.append("telegram", message("open", `new${page}`, "alice", Date.now(), "new", { origin: "live" }));
      await client.call("wait_for_messages", { source: "telegram", timeout_s: 50 });
      if (page === 0) {
        const other = await client.call("get_messages", { ...args, since: "8d", cursor });
        expect(other.json.error).toMatchObject({ code: "INVALID_PARAMETER", field: "cursor" });
      }
    }
    expect(ids).toEqual(Array.from({ length: 100 }, (_, back) => `m${99 - back}`));
    await client.close();
    await home.remove();
  });

  it("CH-5 an answer is cut between messages at max_chars and continues by cursor; a message that is too long is truncated", async () => {
    const many = Array.from({ length: 20 }, (_, index) =>
      message("open", `m${index}`, "alice", 1_700_000_000_000 + index, "x".repeat(index === 3 ? 9000 : 900)),
    );
    const home = await makeChatHome({
      telegram: { events: [person("alice", "Alice"), chat("open", "Open"), ...many] },
    });
    const client = await connectChat("legacy", { home });
    await connected(client);
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const { json, text } = await client.call("get_messages", {
        source: "telegram",
        chat: "Open",
        max_chars: 5000,
        ...(cursor === undefined ? {} : { cursor }),
      });
      for (const each of json.messages) expect(each.content.length).toBeLessThanOrEqual(5000);
      expect(text.length).toBeLessThan(6000);
      ids.push(...json.messages.map(({ id }: { id: string }) => id));
      cursor = json.next_cursor;
    } while (cursor !== undefined);
    expect(ids).toEqual(Array.from({ length: 20 }, (_, back) => `m${19 - back}`));
    await client.close();
    await home.remove();
  });
});

it("CH-5 get_thread returns a message with the one it replies to and its replies, but no message that is too old", async () => {
  const answer = (id: string, replyTo: string, at: number) => message("c", id, "ann", at, id, { replyTo });
  const events = [
    person("ann", "Ann"),
    chat("c", "Club", "group"),
    message("c", "ancient", "ann", LONG_AGO, "ancient"),
    answer("question", "ancient", LATELY),
    message("c", "aside", "ann", LATELY + 1000, "aside"),
    answer("answer", "question", LATELY + 2000),
    answer("thanks", "answer", LATELY + 3000),
  ];
  const home = await makeChatHome({ telegram: { events } }, { max_age: "1y" });
  const client = await connectChat("legacy", { home });
  await connected(client);
  const thread = async (more: object) =>
    (await client.call("get_thread", { source: "telegram", chat: "Club", message_id: "answer", ...more })).json;
  const ids = (json: { messages: { id: string }[] }) => json.messages.map(({ id }) => id);
  const whole = await thread({});
  expect([ids(whole), whole.complete]).toEqual([["question", "answer", "thanks"], true]);
  expect(whole.messages[0].reply_to).toEqual({ id: "ancient" });
  expect(whole.messages[1].reply_to).toEqual({ id: "question", sender: "Ann", preview: "question" });
  const near = await thread({ limit: 2 });
  expect([near.messages.length, near.complete]).toEqual([2, false]);
  expect((await thread({ message_id: "ancient" })).error.code).toBe("MESSAGE_NOT_FOUND");
  await client.close();
  await home.remove();
});

describe("sending", () => {
  it("CH-12 is possible only for allowed chats, by exact name, once per key, and is logged", async () => {
    const sent: unknown[] = [];
    const api = await botApi(sent);
    const telegram = { kind: "telegram-bot", options: { token: "123:abc", api_root: api.url } };
    const home = await makeChatHome({ telegram: { entry: { ...telegram, send: { chats: ["Antti"] } } } });
    const client = await connectChat("modern", { home });
    expect((await client.tools()).map(({ name }) => name)).toContain("send_message");
    await connectedOnly(client);
    await api.message({
      message_id: 1,
      date: 1_736_758_860,
      text: "hi",
      chat: { id: 7, type: "private", first_name: "Antti" },
      from: { id: 7, is_bot: false, first_name: "Antti" },
    });
    await api.message({
      message_id: 2,
      date: 1_736_758_861,
      text: "hi",
      chat: { id: 8, type: "private", first_name: "Bob" },
      from: { id: 8, is_bot: false, first_name: "Bob" },
    });
    while ((await client.call("list_chats")).json.chats.length < 2);
    const send = (args: object) => client.call("send_message", { source: "telegram", text: "on my way", ...args });
    expect((await send({ chat: "Bob" })).json.error.code).toBe("SEND_NOT_ALLOWED");
    expect((await send({ chat: "antti" })).json.error.code).toBe("CHAT_NOT_FOUND");
    expect(sent).toEqual([]);
    const first = await send({ chat: "Antti", idempotency_key: "k1" });
    expect(first.json).toMatchObject({ chat_name: "Antti", repeated: false });
    expect((await send({ chat: "Antti", idempotency_key: "k1" })).json).toMatchObject({
      repeated: true,
      id: first.json.id,
    });
    expect((await send({ chat: "Antti", idempotency_key: "k1", text: "another" })).json.error).toMatchObject({
      code: "INVALID_PARAMETER",
      field: "idempotency_key",
    });
    expect(sent).toMatchObject([{ chat_id: expect.anything(), text: "on my way" }]);
    await client.close();
    // Another process refuses it too.
    const later = await connectChat("legacy", { home });
    await connectedOnly(later);
    expect(
      (
        await later.call("send_message", {
          source: "telegram",
          chat: "Antti",
          text: "on my way",
          idempotency_key: "k1",
        })
      ).json.repeated,
    ).toBe(true);
    expect(sent).toHaveLength(1);
    await later.close();
    const record = await readFile(join(home.dir, "sent.jsonl"), "utf8");
    expect(record).toContain('"key":"k1"');
    expect(record).not.toContain("on my way");
    await api.close();
    await home.remove();
  });

  it("CH-12 a source whose secret is missing reports it, and the others work", async () => {
    const home = await makeChatHome({
      telegram: { entry: { kind: "telegram-bot", options: { token: "${env:NO_SUCH_TOKEN}" } } },
      other: { events: EVENTS },
      strange: { entry: { kind: "icq" } },
    });
    const server = await startChat(home);
    const client = await connectChat("modern", server);
    while (!(await client.call("list_sources")).json.sources[1].is_connected);
    const { json } = await client.call("list_sources");
    expect(json.sources[0]).toMatchObject({
      is_connected: false,
      status: "error",
      message: expect.stringContaining("NO_SUCH_TOKEN is not set"),
    });
    expect(json.sources[2]).toMatchObject({ status: "error", how_to_connect: expect.stringContaining("telegram-bot") });
    await client.close();
    await server.stop();
    await home.remove();
  });
});

/** The part of the Bot API that sending needs: long polling for updates, and a record of sent messages. */
async function botApi(sent: unknown[]) {
  const updates: object[] = [];
  let wake: () => void = () => undefined;
  const server = createServer((request, response) => {
    void (async () => {
      const body = await bodyOf(request);
      const answer = (result: unknown) => response.end(JSON.stringify({ ok: true, result }));
      if (request.url?.endsWith("/getUpdates") === true) {
        const from = Number(body["offset"] ?? 0);
        const waiting = () => updates.filter((_, index) => index + 1 >= from);
        if (waiting().length === 0) {
          await new Promise<void>((resolve) => {
            wake = resolve;
            response.once("close", resolve);
          });
        }
        answer(waiting());
      } else if (request.url?.endsWith("/sendMessage") === true) {
        sent.push(body);
        answer({
          message_id: 100 + sent.length,
          date: 1_736_758_900,
          text: body["text"],
          chat: { id: 7, type: "private", first_name: "Antti" },
        });
      } else answer({ id: 1, is_bot: true, first_name: "Bot", username: "bot" });
    })();
  });
  await listen(server);
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    message: async (content: object) => {
      updates.push({ update_id: updates.length + 1, message: content });
      wake();
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

function decoded(cursor: unknown): string {
  if (typeof cursor !== "string") return "";
  const outer = Buffer.from(cursor, "base64url").toString("utf8");
  return (
    outer + outer.replaceAll(/"([\w-]{8,})"/g, (_, inner: string) => Buffer.from(inner, "base64url").toString("utf8"))
  );
}

async function connected(client: ChatClient): Promise<void> {
  for (;;) {
    const { json } = await client.call("list_sources");
    if (
      json.sources.every(
        (source: { is_connected: boolean; message_count: number }) => source.is_connected && source.message_count > 0,
      )
    )
      return;
  }
}

async function connectedOnly(client: ChatClient): Promise<void> {
  while (!(await client.call("list_sources")).json.sources[0].is_connected);
}
