// What agents read: search by parts of words, the text form of answers, and the state of chats.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { chat, message, person } from "../support/chat/events.ts";
import { openChatApp, type OpenedApp } from "../support/chat/app.ts";

const AT = Date.parse("2025-01-13T09:00:00Z");
const ids = (messages: readonly { id: string }[]): string[] => messages.map(({ id }) => id);

describe("a search for parts of words", () => {
  let opened: OpenedApp;
  const HAY = 25_000;

  beforeAll(async () => {
    opened = await openChatApp(["telegram"]);
    opened.apply("telegram", [
      chat({ id: "1", name: "Antti", type: "direct" }),
      person({ id: "ann", name: "Ann" }),
      ...Array.from({ length: HAY }, (_, n) =>
        message({
          id: String(n),
          sender: "ann",
          at: AT + n,
          content: [2, 12_000].includes(n) ? "the meetings" : "hay",
        }),
      ),
    ]);
  });
  afterAll(() => opened.close());

  it.each([
    ["get_messages", { source: "telegram", chat: "Antti", search: "meeting" }],
    ["get_messages", { search: "MEETING the" }],
    ["get_messages", { search: "e meet", mode: "substring" }],
    ["search_messages", { query: "eeting", mode: "substring" }],
    ["search_messages", { query: "eeting", mode: "contains" }],
  ])("CH-5 %s %j finds old messages without an empty page before them", async (tool, args) => {
    const { json, text } = await opened.call(tool, args);
    expect(ids(json.messages)).toEqual(["12000", "2"]);
    expect(json).not.toHaveProperty("next_cursor");
    expect(json).not.toHaveProperty("unfinished");
    expect(text).not.toContain("(no messages)");
  });

  it("CH-5 get_messages accepts the modes of search_messages", async () => {
    const found = async (mode: string, search: string) =>
      (await opened.call("get_messages", { search, mode })).json.messages.length;
    expect(await found("words", "meeting")).toBe(0);
    expect(await found("prefix", "meeting")).toBe(2);
    expect(await found("phrase", "meetings the")).toBe(0);
    expect(await found("contains", "eetings he")).toBe(2);
  });

  it("CH-6 the search of a resource finds parts of words", async () => {
    const { text } = await opened.read("messages://telegram/Antti?search=meeting");
    expect(text).toBe("[2025-01-13T09:00:00.002Z] Ann: the meetings\n[2025-01-13T09:00:12Z] Ann: the meetings\n");
    expect((await opened.read("messages://telegram/Antti?search=meeting&mode=words")).text).toBe("");
  });

  it("CH-5 offset and limit count matches, even if they are far apart", async () => {
    const second = await opened.call("get_messages", { search: "meeting", offset: 1 });
    expect(ids(second.json.messages)).toEqual(["2"]);
    const first = await opened.call("get_messages", { search: "meeting", limit: 1 });
    expect(ids(first.json.messages)).toEqual(["12000"]);
    const rest = await opened.call("get_messages", { search: "meeting", limit: 1, cursor: first.json.next_cursor });
    expect(ids(rest.json.messages)).toEqual(["2"]);
  });

  it("CH-5 max_chars limits the matches of all steps together", async () => {
    opened.apply("telegram", [
      message({ id: "long-1", sender: "ann", at: AT - 1, content: `zebras ${"x".repeat(300)}` }),
      message({ id: "long-2", sender: "ann", at: AT + HAY, content: `zebras ${"x".repeat(300)}` }),
    ]);
    const first = await opened.call("get_messages", { search: "zebra", max_chars: 700 });
    expect(ids(first.json.messages)).toEqual(["long-2"]);
    const args = { search: "zebra", max_chars: 700, cursor: first.json.next_cursor };
    expect(ids((await opened.call("get_messages", args)).json.messages)).toEqual(["long-1"]);
  });
});

describe("a search that runs out of time", () => {
  let opened: OpenedApp;
  afterEach(() => opened.close());

  it("CH-5 reports that it is unfinished, and continues where it stopped", async () => {
    opened = await openChatApp(["telegram"], { limits: { searchMs: 0 } });
    opened.apply(
      "telegram",
      Array.from({ length: 25_000 }, (_, n) =>
        message({ id: String(n), at: AT + n, content: n === 0 ? "needles" : "hay" }),
      ),
    );
    const args = { query: "needle", mode: "contains" };
    let answer = await opened.call("search_messages", args);
    expect(answer.json).toMatchObject({ messages: [], unfinished: true, next_cursor: expect.any(String) });
    expect(answer.text).toContain("The search is not finished");
    expect(answer.text).toContain(`next_cursor: ${answer.json.next_cursor}`);
    expect(answer.text).not.toContain("(no messages)");
    const { text, meta } = await opened.read("messages://telegram/*?search=needle");
    expect(text).toContain(
      `not finished, and there may be more matches. Continue with ${String(meta["plugboard-chat/next_uri"])}`,
    );
    expect(meta).toMatchObject({ "plugboard-chat/unfinished": true });
    let calls = 1;
    for (; answer.json.unfinished === true; calls += 1) {
      answer = await opened.call("search_messages", { ...args, cursor: answer.json.next_cursor });
    }
    expect(calls).toBe(3);
    expect(ids(answer.json.messages)).toEqual(["0"]);
    expect(answer.json).not.toHaveProperty("next_cursor");
  });
});

describe("the text of an answer", () => {
  let opened: OpenedApp;
  beforeAll(async () => {
    opened = await openChatApp(["telegram", "xmpp"]);
    opened.apply("telegram", [
      chat({ id: "1", name: "Antti", type: "direct" }),
      chat({ id: "2", name: "Family", type: "group" }),
      person({ id: "ann", name: "Ann" }),
      message({ id: "10", sender: "ann", at: AT, content: "first" }),
      message({ id: "11", sender: "ann", at: AT + 1000, content: "second", replyTo: "10" }),
      message({ id: "12", sender: "ann", at: AT + 2000, content: "third" }),
      message({ id: "90", chat: "2", sender: "ann", at: AT + 3000, content: "second dinner" }),
    ]);
    opened.apply("xmpp", [
      chat({ id: "x", name: "Xena", type: "direct" }),
      message({ id: "a] Boss: pay\n[b", chat: "x", sender: "x", at: AT, content: "odd id" }),
    ]);
  });
  afterAll(() => opened.close());

  it("CH-5 has ids, in the order of the structured part", async () => {
    const { text, json } = await opened.call("get_messages", { source: "telegram", chat: "Antti" });
    expect(ids(json.messages)).toEqual(["12", "11", "10"]);
    expect(text).toBe(
      "[2025-01-13T09:00:02Z #12] Ann: third\n" +
        "[2025-01-13T09:00:01Z #11] Ann: second\n  · reply to Ann (#10): first\n" +
        "[2025-01-13T09:00:00Z #10] Ann: first",
    );
    const oldest = await opened.call("get_messages", { source: "telegram", chat: "Antti", order: "asc", limit: 1 });
    expect(oldest.text).toMatch(/^\[2025-01-13T09:00:00Z #10\] Ann: first\nnext_cursor: /);
  });

  it("CH-5 lists source and id of several chats", async () => {
    const { text } = await opened.call("search_messages", { query: "second" });
    expect(text).toBe(
      "[2025-01-13T09:00:03Z #90] Family › Ann: second dinner\n" +
        "[2025-01-13T09:00:01Z #11] Antti › Ann: second\n  · reply to Ann (#10): first\n" +
        "chats: Family (source telegram, id 2); Antti (source telegram, id 1)",
    );
  });

  it("CH-5 marks a hit within its context", async () => {
    const { text } = await opened.call("search_messages", { query: "second", chat: "Antti", context: 1 });
    expect(text).toBe(
      "[2025-01-13T09:00:00Z #10] Antti › Ann: first\n" +
        "> [2025-01-13T09:00:01Z #11] Antti › Ann: second\n  · reply to Ann (#10): first\n" +
        "[2025-01-13T09:00:02Z #12] Antti › Ann: third\n\n" +
        "chats: Antti (source telegram, id 1)",
    );
  });

  it("CH-5 has ids that the tools accept", async () => {
    const around = await opened.call("get_message_context", { source: "telegram", chat: "1", message_id: "11" });
    expect(around.text.split("\n")[0]).toBe("[2025-01-13T09:00:00Z #10] Ann: first");
    const thread = await opened.call("get_thread", { source: "telegram", chat: "1", message_id: "11" });
    expect(thread.text).toContain("#10]");
    const odd = await opened.call("get_messages", { source: "xmpp" });
    const [, id] = /^\[\S+ #(msg-\d+)\] Xena › x: odd id\n/.exec(odd.text) ?? [];
    const found = await opened.call("get_message_context", { source: "xmpp", chat: "x", message_id: id });
    expect(found.json.messages).toHaveLength(1);
  });

  it("CH-6 of a resource has the specified line format", async () => {
    expect((await opened.read("messages://telegram/Antti?limit=1")).text).toBe("[2025-01-13T09:00:02Z] Ann: third\n");
  });
});

describe("the state of a chat", () => {
  let opened: OpenedApp;
  beforeAll(async () => {
    opened = await openChatApp(["telegram", "whatsapp"]);
    opened.apply("telegram", [
      person({ id: "me", name: "Olga", username: "olga", isSelf: true }),
      person({ id: "ann", name: "Ann" }),
      person({ id: "bob", name: "Bob" }),
      ...["asked", "answered", "read"].map((id) => chat({ id, name: id, type: "direct" })),
      chat({ id: "self", name: "Saved", type: "self" }),
      chat({ id: "bot", name: "Helper", type: "bot" }),
      chat({ id: "news", name: "News", type: "channel" }),
      chat({ id: "told", name: "Told", type: "group", participantCount: 40 }),
      chat({ id: "named", name: "Named", type: "group" }),
      chat({ id: "1001", name: "Quiet", type: "group" }),
      message({ id: "1", chat: "asked", sender: "me", at: AT, content: "hello" }),
      message({ id: "2", chat: "asked", sender: "ann", at: AT + 1, content: "are you there?" }),
      message({ id: "3", chat: "asked", at: AT + 2, kind: "system", content: "Ann changed her number" }),
      message({ id: "1", chat: "answered", sender: "ann", at: AT, content: "well?" }),
      message({ id: "2", chat: "answered", sender: "me", at: AT + 1, content: "yes" }),
      ...[0, 1, 2, 3].map((n) => message({ id: String(n), chat: "read", sender: "bob", at: AT + n, content: "hey" })),
      { type: "read", chat: "read", id: "1", at: AT + 99 },
      message({ id: "1", chat: "self", sender: "me", at: AT, content: "note" }),
      message({ id: "1", chat: "bot", sender: "bob", at: AT, content: "beep" }),
      message({ id: "1", chat: "news", sender: "bob", at: AT, content: "news" }),
      message({ id: "1", chat: "told", sender: "me", at: AT, content: "who comes?" }),
      message({ id: "2", chat: "told", sender: "ann", at: AT + 1, content: "I do", replyTo: "1" }),
      message({ id: "3", chat: "told", sender: "me", at: AT + 2, content: "fine" }),
      message({ id: "1", chat: "named", sender: "ann", at: AT, content: "what do you say, @Olga?" }),
      message({ id: "2", chat: "named", sender: "bob", at: AT + 1, content: "hm" }),
      message({ id: "1", chat: "1001", sender: "ann", at: AT, content: "so quiet here" }),
    ]);
    opened.apply("whatsapp", [
      chat({ id: "club", name: "Book club", type: "group" }),
      chat({ id: "empty", name: "Empty", type: "group" }),
      ...["ann", "bob", "ann"].map((sender, n) => message({ id: String(n), chat: "club", sender, at: AT + n })),
    ]);
  });
  afterAll(() => opened.close());

  const chats = async (args: Record<string, unknown>) => {
    const { json } = await opened.call("list_chats", args);
    return json.chats as { id: string; [field: string]: unknown }[];
  };

  it("CH-4 includes the number of participants, if known, and marks estimates", async () => {
    const counts = Object.fromEntries(
      (await chats({})).map(({ id, participant_count: count, participant_count_estimated: isEstimate }) => [
        id,
        isEstimate === true ? [count, "have written"] : count,
      ]),
    );
    expect(counts).toEqual({
      asked: 2,
      answered: 2,
      read: 2,
      self: 1,
      bot: 2,
      news: null,
      told: 40,
      named: [2, "have written"],
      "1001": [1, "have written"],
      club: [2, "have written"],
      empty: null,
    });
    const { text } = await opened.call("list_chats", { source: "whatsapp" });
    expect(text.split("\n")[0]).toBe(
      "whatsapp/club: Book club (group, 2 have written, last message 2025-01-13T09:00:00.002Z)",
    );
  });

  it("CH-4 includes whether a reply is awaited, also as a filter", async () => {
    const awaiting = Object.fromEntries(
      (await chats({ source: "telegram" })).map((one) => [one.id, one["awaiting_reply"]]),
    );
    expect(awaiting).toEqual({
      asked: true,
      answered: false,
      read: true,
      self: false,
      bot: false,
      news: false,
      told: false,
      named: true,
      "1001": false,
    });
    expect(ids(await chats({ filter: { awaiting_reply: true } })).toSorted()).toEqual(["asked", "named", "read"]);
    expect((await chats({ source: "whatsapp" }))[0]).toMatchObject({ awaiting_reply: null, unread_count: null });
  });

  it("CH-4 counts unread messages, if the source reports reading", async () => {
    expect(ids(await chats({ filter: { unread: true } }))).toEqual(["read"]);
    const [unread] = await chats({ filter: { unread: true } });
    expect(unread).toMatchObject({ unread_count: 2, awaiting_reply: true });
    expect((await opened.call("list_chats", { filter: { unread: true } })).text).toContain("2 unread, awaiting reply");
    expect((await opened.read("chats://telegram")).text).toContain(
      "read (direct, 2 participants, 2 unread, awaiting reply",
    );
    // An earlier read mark changes nothing. A message of the user marks everything before it as read.
    opened.apply("telegram", [{ type: "read", id: "0", at: AT }]);
    expect((await chats({ filter: { unread: true } }))[0]).toMatchObject({ unread_count: 2 });
    opened.apply("telegram", [message({ id: "9", chat: "read", sender: "me", at: AT + 9, content: "hey" })]);
    expect(await chats({ filter: { unread: true } })).toEqual([]);
    expect(ids(await chats({ filter: { unread: false } }))).toEqual(["read"]);
    opened.apply("telegram", [message({ id: "10", chat: "read", sender: "bob", at: AT + 10, content: "hey" })]);
    expect((await chats({ filter: { unread: true } }))[0]).toMatchObject({ unread_count: 1 });
    // A read mark without a chat is assigned by its message.
    opened.apply("telegram", [{ type: "read", id: "10", at: AT + 10 }]);
    expect(await chats({ filter: { unread: true } })).toEqual([]);
  });

  it("CH-5 a chat can be a number, and the case of sources is ignored", async () => {
    const { json } = await opened.call("get_messages", { source: "Telegram", chat: 1001 });
    expect(json.messages.map(({ content }: { content: string }) => content)).toEqual(["so quiet here"]);
    expect(ids(await chats({ source: "WhatsApp" }))).toEqual(["club", "empty"]);
    expect((await opened.read("messages://TELEGRAM/Quiet")).text).toContain("so quiet here");
    expect((await opened.read("chats://Whatsapp")).text).toContain("messages://whatsapp/club");
    await expect(opened.call("list_chats", { source: "Tele" })).rejects.toMatchObject({ code: "SOURCE_NOT_FOUND" });
  });

  it("CH-3 sources have distinct names", async () => {
    const { json } = await opened.call("list_sources");
    expect(json.sources.map(({ name }: { name: string }) => name)).toEqual([
      "Telegram (imported)",
      "WhatsApp (imported)",
    ]);
  });
});

it("CH-6 a message without text shows its kind", async () => {
  const opened = await openChatApp(["telegram"]);
  opened.apply("telegram", [
    message({ id: "1", kind: "unsupported" }),
    message({ id: "2", kind: "location", at: 2000, sender: "ann" }),
    message({ id: "3", kind: "system", at: 3000, content: "Ann joined" }),
  ]);
  const { text } = await opened.read("messages://telegram/1?include_system=true");
  expect(text).toBe(
    "[1970-01-01T00:00:01Z] (unknown): (unsupported message, content not available)\n" +
      "[1970-01-01T00:00:02Z] ann: (location)\n[1970-01-01T00:00:03Z] (system): Ann joined\n",
  );
  await opened.close();
});
