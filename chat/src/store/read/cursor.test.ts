// Paging: every message exactly once, also if messages arrive in between; and cursors of another query.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chat, message, person } from "../../../../test/support/chat/events.ts";
import type { ChatStore, MessageQuery } from "../../model/store-port.ts";
import { openStore } from "../store.ts";

const QUERY: MessageQuery = { order: "desc", limit: 7, includeSystem: false };
const COUNT = 40;

let store: ChatStore;

beforeEach(async () => {
  store = await openStore(":memory:");
  store.apply("telegram", [
    chat({ id: "1", name: "Antti" }),
    person({ id: "u", name: "Ann" }),
    // Four in each millisecond.
    ...Array.from({ length: COUNT }, (_, n) =>
      message({ id: String(n), sender: "u", at: 1000 + Math.floor(n / 4), content: `word ${n}` }),
    ),
  ]);
});

afterEach(async () => {
  await store.close();
});

/** All pages; `between` runs before each further one. */
function pages(query: Partial<MessageQuery>, between: (page: number) => void = () => undefined): string[] {
  const ids: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < 100; page++) {
    const { items, nextCursor } = store.messages({ ...QUERY, ...query, ...(cursor === undefined ? {} : { cursor }) });
    ids.push(...items.map(({ id }) => id));
    if (nextCursor === undefined) return ids;
    cursor = nextCursor;
    between(page);
  }
  throw new Error("no end of pages");
}

const numbers = Array.from({ length: COUNT }, (_, n) => String(n));

describe("paging", () => {
  it.each<Partial<MessageQuery>>([
    {},
    { chats: [1] },
    { search: "word" },
    { search: "wor", mode: "prefix" },
    { search: "ord", mode: "substring" },
    { sender: "Ann" },
    { limit: 1 },
    { limit: 1000 },
    { since: 1000, before: 2000 },
  ])("CH-6 by cursor with %j gives each message once, in order", (query) => {
    expect(pages({ ...query, order: "asc" })).toEqual(numbers);
    expect(pages(query)).toEqual(numbers.toReversed());
  });

  it("CH-6 is stable while messages arrive and are deleted", () => {
    const seen = pages({}, (page) => {
      store.apply("telegram", [
        message({ id: `new-${page}`, at: 9000 + page }, "live"),
        // Between messages that were returned before, and in the millisecond of the cursor.
        message({ id: `old-${page}`, at: 1010 }),
        { type: "delete", chat: "1", ids: [String(COUNT - 1 - 7 * (page + 1))], at: 1 },
      ]);
    });
    const expected = numbers.toReversed().filter((id) => !["32", "25", "18", "11", "4"].includes(id));
    // Deleted messages were returned before, or are missing; all others are complete.
    expect(seen.filter((id) => expected.includes(id))).toEqual(expected);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.some((id) => id.startsWith("new"))).toBe(false);
  });

  it("CH-6 a long search continues where it stopped", async () => {
    const big = await openStore(":memory:");
    const events = Array.from({ length: 15_000 }, (_, n) =>
      message({ id: String(n), at: n, content: n < 2 || n > 14_998 ? "nEEdle" : "hay" }),
    );
    big.apply("telegram", events);
    for (const [order, offset, expected] of [
      ["desc", 0, ["14999", "1", "0"]],
      ["asc", 0, ["0", "1", "14999"]],
      ["desc", 2, ["0"]],
    ] as const) {
      const query: MessageQuery = { ...QUERY, order, offset, search: "eedl", mode: "substring" };
      const first = big.messages(query);
      expect(first.nextCursor).toBeDefined();
      const second = big.messages({ ...query, cursor: first.nextCursor ?? "", offset: first.offset ?? 0 });
      expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(expected);
      expect(second.nextCursor).toBeUndefined();
    }
    await big.close();
  });
});

describe("a cursor", () => {
  const next = (query: Partial<MessageQuery>): string => store.messages({ ...QUERY, ...query }).nextCursor ?? "";
  const refused = expect.objectContaining({
    code: "INVALID_PARAMETER",
    details: expect.objectContaining({ field: "cursor" }),
  });

  it.each<Partial<MessageQuery>>([
    { order: "asc" },
    { search: "word" },
    { sender: "Ann" },
    { chats: [1] },
    { sources: ["telegram"] },
    { includeSystem: true },
    { since: 1000 },
    { before: 9000 },
    { mode: "prefix" },
  ])("CH-8 is refused if %j differs", (other) => {
    expect(() => store.messages({ ...QUERY, ...other, cursor: next({}) })).toThrow(refused);
    expect(() => store.messages({ ...QUERY, cursor: next(other) })).toThrow(refused);
  });

  it.each([
    "",
    "x",
    "é",
    "e30",
    "W10",
    "bnVsbA",
    "A".repeat(10_000),
    Buffer.from('[1,"x",[0,0],null,null]').toString("base64url"),
    Buffer.from('[1,"x",["a",0],null,null]').toString("base64url"),
  ])("CH-8 that is invalid is refused: %j", (cursor) => {
    expect(() => store.messages({ ...QUERY, cursor })).toThrow(refused);
    expect(() => store.chats({ limit: 1, cursor })).toThrow(refused);
  });

  it("CH-8 of chats is refused for messages", () => {
    store.apply("telegram", [chat({ id: "2" })]);
    const { nextCursor = "" } = store.chats({ limit: 1 });
    expect(nextCursor).not.toBe("");
    expect(() => store.messages({ ...QUERY, cursor: nextCursor })).toThrow(refused);
    expect(() => store.chats({ limit: 1, type: "group", cursor: nextCursor })).toThrow(refused);
  });

  it("CH-6 is valid with another limit, and with the same chats in another order", () => {
    const cursor = next({ chats: [1, 2] });
    expect(store.messages({ ...QUERY, limit: 2, chats: [2, 1], cursor }).items.map(({ id }) => id)).toEqual([
      "32",
      "31",
    ]);
  });

  it("CH-6 keeps the time range of the first page while a relative time moves on", () => {
    const cursor = next({ since: 1001, limit: 30 });
    const page = store.messages({ ...QUERY, limit: 30, since: 1006, cursor });
    expect(page.items.at(-1)?.at).toBe(1001);
    const tomorrow = 1001 + 86_400_000;
    expect(() => store.messages({ ...QUERY, since: tomorrow, cursor })).toThrow(refused);
    expect(() => store.messages({ ...QUERY, since: 1000, cursor })).toThrow(refused);
  });

  it("CH-12 does not contain the text of the query", () => {
    const cursor = Buffer.from(next({ search: "word", sender: "Ann" }), "base64url").toString();
    expect(cursor).not.toMatch(/word|Ann/);
  });
});
