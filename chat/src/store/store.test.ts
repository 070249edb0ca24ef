// Queries of the store, on a small history.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SEARCH_MODES, type ChatStore, type MessageQuery } from "../model/store-port.ts";
import { chat, message, person } from "../../../test/support/chat/events.ts";
import { openStore } from "./store.ts";

const NEWEST: MessageQuery = { order: "desc", limit: 50, includeSystem: false };

let store: ChatStore;

beforeEach(async () => {
  store = await openStore(":memory:");
  store.apply("telegram", [
    chat({ id: "1", name: "Antti", type: "direct", participantCount: 2 }),
    chat({ id: "2", name: "Family", type: "group" }),
    chat({ id: "3", name: "Work", type: "group" }),
    person({ id: "u1", name: "Alice Smith", phone: "+1 555 000-0001", username: "alice" }),
    person({ id: "u2", name: "José" }),
    person({ id: "me", name: "Me", isSelf: true }),
    message({ id: "a", chat: "1", sender: "u1", at: 1000, content: "The meeting is at noon" }),
    message({ id: "b", chat: "1", sender: "me", at: 2000, content: "Fine, 明天的会议 then" }),
    message({ id: "c", chat: "2", sender: "u2", at: 3000, content: "Olé! A café by the sea" }),
    message({ id: "d", chat: "2", at: 3500, kind: "system", content: "José joined the meeting" }),
    message({ id: "e", chat: "3", sender: "u1", at: 4000, content: "project plan", replyTo: "zzz" }),
  ]);
  store.apply("signal", [
    chat({ id: "1", name: "antti" }),
    message({ id: "a", chat: "1", sender: "+15550000001", at: 2500, content: "signal meeting" }),
  ]);
});

afterEach(async () => {
  await store.close();
});

const ids = (query: Partial<MessageQuery>): string[] =>
  store.messages({ ...NEWEST, ...query }).items.map(({ id }) => id);

describe("messages", () => {
  it("CH-5 come newest first, from all chats and sources, without system messages", () => {
    expect(ids({})).toEqual(["e", "c", "a", "b", "a"]);
    expect(ids({ order: "asc", includeSystem: true, sources: ["telegram"] })).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("CH-5 have their chat, source and sender", () => {
    const [newest] = store.messages({ ...NEWEST, limit: 1 }).items;
    expect(newest).toEqual({
      key: 5,
      source: "telegram",
      id: "e",
      chat: { key: 3, id: "3", name: "Work" },
      sender: { id: "u1", name: "Alice Smith", isSelf: false, isBot: false },
      at: 4000,
      editedAt: null,
      kind: "text",
      content: "project plan",
      replyTo: { id: "zzz", sender: null, preview: null, at: null },
      thread: null,
      forwardedFrom: null,
      reactions: [],
      attachments: [],
    });
  });

  it("CH-5 are filtered by time: since is inclusive, before exclusive", () => {
    expect(ids({ since: 2000, before: 4000 })).toEqual(["c", "a", "b"]);
    expect(ids({ since: 2000.5, before: 2500.5 })).toEqual(["a"]);
    expect(ids({ since: 5000 })).toEqual([]);
    expect(ids({ since: 3000, before: 1000 })).toEqual([]);
  });

  it.each([
    ["Alice Smith", ["e", "a", "a"]],
    ["alice smith", ["e", "a", "a"]],
    ["alice", ["e", "a", "a"]],
    ["@Alice", ["e", "a", "a"]],
    ["smith", ["e", "a", "a"]],
    ["u1", ["e", "a", "a"]],
    ["+1 (555) 000 0001", ["e", "a", "a"]],
    ["jose", ["c"]],
    ["Jos", []],
    ["", []],
    ["nobody", []],
  ])("CH-5 are filtered by sender %s", (sender, expected) => {
    expect(ids({ sender })).toEqual(expected);
  });

  it.each([
    ["meeting", "words", ["a", "a"]],
    ["MEETING noon", "words", ["a"]],
    ["noon meeting", "words", ["a"]],
    ["noon meeting", "phrase", []],
    ["meeting is", "phrase", ["a"]],
    ["ole cafe", "words", ["c"]],
    ["meet", "words", []],
    ["meet", "prefix", ["a", "a"]],
    ["pro pl", "prefix", ["e"]],
    ["eetin", "substring", ["a", "a"]],
    ["CAFÉ BY", "substring", ["c"]],
    ["OLÉ", "substring", ["c"]],
    ["eetin", "contains", ["a", "a"]],
    ["OON meet", "contains", ["a"]],
    ['"noon", (eeting)!', "contains", ["a"]],
    ["oon eeting is", "substring", []],
    ["ole afe", "contains", ["c"]],
    ["100%", "contains", []],
    ["_", "contains", []],
    ["议", "contains", ["b"]],
    ["会议", "words", ["b"]],
    ["议会", "words", []],
    ["会", "words", ["b"]],
    ["", "words", ["e", "c", "a", "b", "a"]],
    ["!", "words", ["c"]],
  ] as const)("CH-5 are found by %s with mode %s", (search, mode, expected) => {
    expect(ids({ search, mode })).toEqual(expected);
  });

  it("CH-5 are filtered by a sender whose address begins with an @", () => {
    store.apply("matrix", [message({ id: "m", sender: "@Bob:example.org", at: 9000 })]);
    expect(ids({ sender: "@bob:example.org" })).toEqual(["m"]);
    expect(store.people("@bob:example.org", 5)).toHaveLength(1);
  });

  it("CH-5 of the network itself are found only with includeSystem", () => {
    expect(ids({ search: "joined" })).toEqual([]);
    expect(ids({ search: "joined", includeSystem: true })).toEqual(["d"]);
    expect(ids({ search: "meeting", includeSystem: true })).toEqual(["d", "a", "a"]);
  });

  it.each([
    '"',
    '"" OR x',
    "a AND",
    "NOT",
    "content:x",
    "*",
    "^a",
    "NEAR(a b)",
    "{a}",
    "a\0b",
    "(",
    "-a",
    "a + b",
    "c1",
    "\ud800",
  ])("CH-5 a search for %j is treated as words, not as query syntax", (search) => {
    for (const mode of SEARCH_MODES) {
      expect(() => ids({ search, mode, chats: [1, 2], sender: "alice" })).not.toThrow();
    }
    expect(ids({ search, mode: "words", includeSystem: true }).length).toBeLessThan(6);
  });

  it("CH-5 a quote in a search does not end the word", () => {
    for (const mode of ["words", "phrase", "prefix"] as const) {
      expect(ids({ search: 'meeting"OR"plan', mode })).toEqual([]);
      expect(ids({ search: 'project"plan', mode })).toEqual(["e"]);
    }
  });

  it("CH-5 scope tokens are not found as words", () => {
    expect(ids({ search: "c1" })).toEqual([]);
    expect(ids({ search: "x1", mode: "prefix" })).toEqual([]);
  });

  it("CH-5 are filtered by chats, sources, words and senders together", () => {
    expect(ids({ chats: [1] })).toEqual(["b", "a"]);
    expect(ids({ chats: [1, 3] })).toEqual(["e", "b", "a"]);
    expect(ids({ chats: [] })).toEqual([]);
    expect(ids({ chats: Array.from({ length: 500 }, (_, index) => index + 3) })).toEqual(["e", "a"]);
    expect(ids({ sources: ["signal"] })).toEqual(["a"]);
    expect(ids({ sources: ["whatsapp"] })).toEqual([]);
    expect(ids({ sources: ["telegram"], chats: [1], sender: "alice", search: "noon" })).toEqual(["a"]);
    expect(ids({ chats: [3], search: "meeting" })).toEqual([]);
    expect(ids({ chats: [1], search: "eetin", mode: "substring" })).toEqual(["a"]);
  });

  it("CH-6 limit and offset count from the newest", () => {
    expect(ids({ limit: 2, offset: 1 })).toEqual(["c", "a"]);
    expect(ids({ limit: 2, offset: 1, search: "e", mode: "substring" })).toEqual(["c", "a"]);
  });

  it("CH-10 stored after a key are returned in the order of storing", () => {
    const filter = { includeSystem: false };
    const since = store.newestKey();
    store.apply("telegram", [
      message({ id: "y", chat: "1", sender: "u1", at: 9000, content: "late word" }),
      message({ id: "x", chat: "2", sender: "u2", at: 10, content: "old word" }),
    ]);
    const after = (more: object) => store.after(since, { ...filter, ...more }, 10).map(({ id }) => id);
    expect(after({})).toEqual(["y", "x"]);
    expect(after({ search: "late" })).toEqual(["y"]);
    expect(after({ search: "at", mode: "substring" })).toEqual(["y"]);
    expect(after({ sender: "josé" })).toEqual(["x"]);
    expect(after({ chats: [1] })).toEqual(["y"]);
    expect(after({ since: 100 })).toEqual(["y"]);
    expect(after({ sources: ["signal"] })).toEqual([]);
    expect(store.after(store.newestKey(), filter, 10)).toEqual([]);
  });

  it("CH-5 of a thread are those linked by replies and threads, nearest first", () => {
    const said = (id: string, more: object = {}) =>
      message({ id, chat: "2", sender: "u1", at: 5000, content: id, ...more });
    store.apply("telegram", [
      said("root"),
      said("left", { replyTo: "root" }),
      said("right", { replyTo: "root" }),
      said("leaf", { replyTo: "left" }),
      said("beside"),
      said("t1", { thread: "t", replyTo: "unknown" }),
      said("t2", { thread: "t" }),
      said("t"),
      said("x", { replyTo: "y" }),
      said("y", { replyTo: "x" }),
      message({ id: "elsewhere", chat: "3", at: 5000, replyTo: "root" }),
    ]);
    const [family] = store.findChats("telegram", "Family");
    const thread = (id: string, limit = 50) => {
      const from = store.message(family?.key ?? 0, id);
      return from && store.thread(from, limit).map((found) => found.id);
    };
    expect(thread("leaf")).toEqual(["leaf", "left", "root", "right"]);
    expect(thread("leaf", 2)).toEqual(["leaf", "left"]);
    expect(thread("t1")?.toSorted()).toEqual(["t", "t1", "t2"]);
    expect(thread("t")?.toSorted()).toEqual(["t", "t1", "t2"]);
    expect(thread("x")).toEqual(["x", "y"]);
    expect(thread("beside")).toEqual(["beside"]);
  });

  it("CH-5 are found by id, and with those around them", () => {
    const found = store.message(1, "a");
    expect(found?.content).toBe("The meeting is at noon");
    expect(store.message(1, "nope")).toBeUndefined();
    store.apply("telegram", [message({ id: "a2", chat: "1", at: 1500, content: "between" })]);
    const middle = store.message(1, "a2");
    expect(middle && store.around(middle, 5, 5).map(({ id }) => id)).toEqual(["a", "a2", "b"]);
    expect(middle && store.around(middle, 0, 1).map(({ id }) => id)).toEqual(["a2", "b"]);
  });
});

describe("chats", () => {
  const names = (query: object): string[] => store.chats({ limit: 50, ...query }).items.map(({ name }) => name);

  it("CH-4 come latest first, with their details", () => {
    expect(names({})).toEqual(["Work", "Family", "antti", "Antti"]);
    expect(store.chats({ limit: 50, namePattern: "Antti", source: "telegram" }).items).toEqual([
      {
        key: 1,
        source: "telegram",
        id: "1",
        name: "Antti",
        otherIds: [],
        otherNames: [],
        person: null,
        type: "direct",
        participantCount: 2,
        messageCount: 2,
        oldestAt: 1000,
        newestAt: 2000,
      },
    ]);
  });

  it.each([
    [{ source: "telegram", type: "group" }, ["Work", "Family"]],
    [{ namePattern: "Fam" }, ["Family"]],
    [{ namePattern: "aMí" }, ["Family"]],
    [{ namePattern: "F*y" }, ["Family"]],
    [{ namePattern: "a*" }, ["antti", "Antti"]],
    [{ namePattern: "?ork" }, ["Work"]],
    [{ namePattern: "[a-z]" }, []],
    [{ activeSince: 3500 }, ["Work", "Family"]],
  ])("CH-4 are filtered by %j", (query, expected) => {
    expect(names(query)).toEqual(expected);
  });

  it("CH-4 are paged by cursor, empty ones last", () => {
    store.apply("telegram", [chat({ id: "4", name: "Empty" }), chat({ id: "5", name: "Void" })]);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = store.chats({ limit: 1, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...page.items.map(({ name }) => name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(["Work", "Family", "antti", "Antti", "Void", "Empty"]);
  });

  it("CH-5 are found by id, then by exact name, then ignoring case", () => {
    store.apply("telegram", [chat({ id: "work", name: "X" }), chat({ id: "6", name: "FAMILY" })]);
    const find = (name: string) => store.findChats("telegram", name).map(({ id }) => id);
    expect(find("work")).toEqual(["work"]);
    expect(find("Work")).toEqual(["3"]);
    expect(find("FAMILY")).toEqual(["6"]);
    expect(find("family").toSorted()).toEqual(["2", "6"]);
    expect(find("Invalid")).toEqual([]);
    expect(store.findChats("nowhere", "1")).toEqual([]);
  });

  it("CH-7 have participants", () => {
    expect(store.participants(1, 10).map(({ name }) => name)).toEqual(["Alice Smith", "Me"]);
    expect(store.participants(1, 1)).toHaveLength(1);
  });

  it("CH-3 are counted for each source", () => {
    expect(store.totals("telegram")).toEqual({ chats: 3, messages: 5, oldestAt: 1000, newestAt: 4000 });
    expect(store.totals("none")).toEqual({ chats: 0, messages: 0, oldestAt: null, newestAt: null });
  });
});

describe("gaps", () => {
  it("CH-12 are stored once, for a chat or for a whole source", () => {
    const gap = { type: "gap", from: 5, to: 9, reason: "offline" } as const;
    store.apply("telegram", [gap, gap, { ...gap, chat: "2", to: 20 }]);
    expect(store.gaps("telegram", 10)).toEqual([
      { chat: 2, from: 5, to: 20, reason: "offline" },
      { chat: null, from: 5, to: 9, reason: "offline" },
    ]);
    expect(store.gaps("telegram", 1)).toHaveLength(1);
    expect(store.gaps("signal", 10)).toEqual([]);
  });
});

describe("people", () => {
  it("CH-12 are found by part of their name, a number or a username", () => {
    const names = (text: string) => store.people(text, 10).map(({ name }) => name);
    expect(names("ali")).toEqual(["Alice Smith"]);
    expect(names("555 000-00")).toEqual(["Alice Smith"]);
    expect(names("@alice")).toEqual(["Alice Smith"]);
    expect(names("zzz")).toEqual([]);
    expect(store.people("me", 10)).toEqual([
      {
        name: "Me",
        isSelf: true,
        addresses: [{ source: "telegram", id: "me", name: "Me", phone: null, username: null }],
      },
    ]);
  });
});
