// Events that arrive twice, too early, too late or out of order have the same result.

import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chat, message, person } from "../../../../test/support/chat/events.ts";
import type { ChatStore, StoredMessage } from "../../model/store-port.ts";
import type { SourceEvent } from "../../model/source.ts";
import { openStore } from "../store.ts";

let store: ChatStore;

beforeEach(async () => {
  store = await openStore(":memory:");
});

afterEach(async () => {
  await store.close();
});

const apply = (...events: SourceEvent[]) => store.apply("telegram", events);
const all = (of = store): readonly StoredMessage[] =>
  of.messages({ order: "asc", limit: 1000, includeSystem: true }).items;
const find = (search: string): string[] =>
  store.messages({ order: "asc", limit: 100, includeSystem: true, search }).items.map(({ id }) => id);
const edit = (id: string, content: string, at: number): SourceEvent => ({ type: "edit", chat: "1", id, content, at });
const remove = (...ids: string[]): SourceEvent => ({ type: "delete", chat: "1", ids, at: 5000 });
const react = (id: string, by: string, removed: boolean, at: number, emoji = "👍"): SourceEvent => {
  return { type: "reaction", chat: "1", id, by, emoji, removed, at };
};

describe("the same events again", () => {
  it("CH-12 change nothing, and are not live", () => {
    const events = [
      chat({ id: "1", name: "Antti", type: "group", participantCount: 3 }),
      person({ id: "u1", name: "Alice", sameAs: ["p1"] }),
      message(
        {
          id: "a",
          sender: "u1",
          content: "first",
          reactions: [
            { emoji: "👍", by: "u2" },
            { emoji: "🎉", count: 4 },
          ],
        },
        "live",
      ),
      message({ id: "b", sender: "p1", at: 1001, content: "second" }, "live"),
      edit("a", "first, edited", 2000),
      react("a", "u3", false, 2001),
      react("a", "u3", true, 2002),
      remove("b"),
      { type: "gap", from: 1, to: 2, reason: "offline" } as const,
      { type: "checkpoint", state: { offset: "7" } } as const,
    ];
    const first = apply(...events);
    expect(first).toEqual({ messagesAdded: 2, liveKeys: all().map(({ key }) => key) });
    expect(all()).toMatchObject([{ id: "a", content: "first, edited" }]);
    const before = { messages: all(), chats: store.chats({ limit: 10 }), totals: store.totals("telegram") };
    expect(apply(...events)).toEqual({ messagesAdded: 0, liveKeys: [] });
    expect({ messages: all(), chats: store.chats({ limit: 10 }), totals: store.totals("telegram") }).toEqual(before);
    expect(before.messages).toHaveLength(1);
    expect(before.messages[0]?.reactions).toEqual([
      { emoji: "👍", count: 1, by: ["u2"] },
      { emoji: "🎉", count: 4, by: [] },
    ]);
  });

  it("CH-12 overlapping imports add only the new tail", () => {
    const line = (n: number) => message({ id: `hash-${n}`, at: 60_000 * Math.floor(n / 3), content: `line ${n}` });
    const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => line(from + index));
    expect(apply(...lines(0, 50)).messagesAdded).toBe(50);
    expect(apply(...lines(30, 80)).messagesAdded).toBe(30);
    expect(all().map(({ content }) => content)).toEqual(Array.from({ length: 80 }, (_, n) => `line ${n}`));
  });

  it("CH-12 in any order and any number of times give the same messages", async () => {
    const event = fc.constantFrom<SourceEvent>(
      message({ id: "a", sender: "u1", at: 1000, content: "one" }),
      message({ id: "b", sender: "u2", at: 1001, content: "two", expiresAt: 9000 }),
      message({ id: "c", sender: "u1", at: 1002, content: "three", reactions: [{ emoji: "❤", by: "u2", at: 1500 }] }),
      edit("a", "one more", 2000),
      edit("a", "one most", 3000),
      edit("b", "two more", 2500),
      remove("c"),
      react("a", "u2", false, 2000),
      react("a", "u2", true, 2100),
      react("b", "u1", false, 2200),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { minLength: 1, maxLength: 15 }),
        fc.integer({ min: 1, max: 5 }),
        async (events, size) => {
          const outcome = async (order: readonly SourceEvent[], step: number) => {
            const fresh = await openStore(":memory:");
            for (let at = 0; at < order.length; at += step) fresh.apply("telegram", order.slice(at, at + step));
            const found = ["one", "more", "most", "two", "three"].map((search) =>
              fresh.messages({ order: "asc", limit: 9, includeSystem: true, search }).items.map(({ id }) => id),
            );
            const [known] = fresh.chats({ limit: 5 }).items;
            const messages = all(fresh).map(({ id, content, editedAt, reactions, sender }) => ({
              id,
              content,
              editedAt,
              reactions,
              by: sender?.id,
            }));
            const counted = [known?.messageCount, known?.oldestAt, known?.newestAt];
            await fresh.close();
            return { messages, found, counted };
          };
          const expected = await outcome(events, events.length);
          expect(await outcome(events, size)).toEqual(expected);
          expect(await outcome(events.toReversed(), size)).toEqual(expected);
          expect(await outcome([...events, ...events, ...events.toReversed()], size)).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("events out of order", () => {
  it("CH-12 an edit that arrives before its message is applied when the message arrives", () => {
    apply(edit("a", "newer", 3000), edit("a", "older", 2000));
    expect(all()).toEqual([]);
    const { liveKeys } = apply(message({ id: "a", content: "original" }, "live"));
    expect(all()).toMatchObject([{ key: liveKeys[0], content: "newer", editedAt: 3000 }]);
    expect([find("original"), find("newer")]).toEqual([[], ["a"]]);
  });

  it("CH-12 an edit that is older than the stored text does not change it", () => {
    apply(message({ id: "a", content: "original" }), edit("a", "newer", 3000), edit("a", "older", 2000));
    expect(all()).toMatchObject([{ content: "newer", editedAt: 3000 }]);
    expect(find("older")).toEqual([]);
  });

  it("CH-12 a newer import updates the text, an older one does not revert it", () => {
    apply(message({ id: "a", content: "original" }));
    expect(apply(message({ id: "a", content: "changed", editedAt: 2000 })).messagesAdded).toBe(0);
    apply(message({ id: "a", content: "original" }));
    expect(all()).toMatchObject([{ content: "changed", editedAt: 2000 }]);
    expect([find("original"), find("changed")]).toEqual([[], ["a"]]);
  });

  it("CH-12 a message that was deleted before it arrives is not stored", () => {
    apply(remove("a", "b"));
    expect(apply(message({ id: "a", content: "secret" }, "live"))).toEqual({ messagesAdded: 0, liveKeys: [] });
    apply(edit("b", "secret", 1), message({ id: "b" }), react("b", "u1", false, 1));
    expect(all()).toEqual([]);
    expect(find("secret")).toEqual([]);
  });

  it("CH-12 a message that is deleted in the same commit is not stored, and not live", () => {
    expect(apply(message({ id: "a", content: "secret" }, "live"), remove("a")).liveKeys).toEqual([]);
    expect(all()).toEqual([]);
    expect(store.totals("telegram")).toEqual({ chats: 1, messages: 0, oldestAt: null, newestAt: null });
  });

  it("CH-12 a reaction that arrives before its message is kept, unless it was removed", () => {
    apply(
      react("a", "u1", false, 10),
      react("a", "u2", false, 10),
      react("a", "u2", true, 20),
      react("a", "u2", false, 5),
    );
    apply(message({ id: "a", reactions: [{ emoji: "👍", by: "u2" }] }));
    expect(all()[0]?.reactions).toEqual([{ emoji: "👍", count: 1, by: ["u1"] }]);
  });

  it("CH-12 a clock that goes backwards changes the order of time, not the order of storing", () => {
    apply(message({ id: "a", at: 5000 }));
    const since = store.newestKey();
    apply(message({ id: "b", at: 100 }), message({ id: "c", at: -100 }), message({ id: "d", at: Number.NaN }));
    expect(all().map(({ id }) => id)).toEqual(["c", "d", "b", "a"]);
    expect(store.after(since, { includeSystem: true }, 9).map(({ id }) => id)).toEqual(["b", "c", "d"]);
    expect(store.totals("telegram")).toMatchObject({ oldestAt: -100, newestAt: 5000 });
  });

  it("CH-12 thousands of messages of one millisecond keep their order", () => {
    apply(...Array.from({ length: 3000 }, (_, n) => message({ id: String(n), at: 7, content: "same" })));
    const { items } = store.messages({ order: "asc", limit: 3000, search: "same", includeSystem: false });
    expect(items.map(({ id }) => Number(id))).toEqual(Array.from({ length: 3000 }, (_, n) => n));
  });
});

describe("people", () => {
  it("CH-12 with several addresses are one person, in any order of events", () => {
    apply(
      message({ id: "a", sender: "lid:7", at: 1 }),
      message({ id: "b", sender: "+15550100199", at: 2 }),
      react("a", "lid:7", false, 1),
      react("a", "+15550100199", false, 2),
      person({ id: "+15550100199", name: "Ann", phone: "+15550100199" }),
      person({ id: "uuid", sameAs: ["lid:7"] }),
      person({ id: "lid:7", sameAs: ["+15550100199"] }),
    );
    expect(all().map(({ sender }) => sender?.name)).toEqual(["Ann", "Ann"]);
    expect(all()[0]?.reactions).toEqual([{ emoji: "👍", count: 1, by: ["Ann"] }]);
    expect(store.participants(1, 9)).toHaveLength(1);
    expect(store.people("ann", 9).map(({ addresses }) => addresses.map(({ id }) => id).toSorted())).toEqual([
      ["+15550100199", "lid:7", "uuid"],
    ]);
    const bySender = store.messages({ order: "asc", limit: 9, includeSystem: false, sender: "lid:7" });
    expect(bySender.items.map(({ id }) => id)).toEqual(["a", "b"]);
  });

  it("CH-12 the user is recognized by every address", () => {
    apply(
      person({ id: "me", isSelf: true }),
      person({ id: "me2", sameAs: ["me"] }),
      message({ id: "a", sender: "me2" }),
    );
    expect(all()[0]?.sender).toMatchObject({ isSelf: true });
  });

  it("CH-12 fields that are absent stay unchanged", () => {
    apply(
      person({ id: "u", name: "Ann", username: "ann" }),
      person({ id: "u", phone: "+1 555 0100" }),
      person({ id: "u", name: "" }),
    );
    apply(
      chat({ id: "1", name: "Team", type: "group", participantCount: 4 }),
      chat({ id: "1" }),
      message({ id: "a", sender: "u" }),
    );
    expect(store.people("ann", 1)).toMatchObject([
      { name: "Ann", addresses: [{ username: "ann", phone: "+1 555 0100" }] },
    ]);
    expect(store.findChats("telegram", "1")).toMatchObject([{ name: "Team", type: "group", participantCount: 4 }]);
  });
});

describe("a commit", () => {
  it("CH-12 is atomic, the checkpoint included", () => {
    apply(message({ id: "a" }), { type: "checkpoint", state: { offset: "1" } });
    const broken = { type: "message", origin: "live", message: { id: "c", chat: "1" } } as unknown as SourceEvent;
    expect(() =>
      apply(message({ id: "b", content: "lost" }), { type: "checkpoint", state: { offset: "2" } }, broken),
    ).toThrow();
    expect(store.checkpoint("telegram")).toEqual({ offset: "1" });
    expect(find("lost")).toEqual([]);
    expect(apply(message({ id: "b" })).messagesAdded).toBe(1);
  });

  it("CH-12 a checkpoint belongs to one source and replaces the previous one", () => {
    apply({ type: "checkpoint", state: { a: "1", b: "2" } }, { type: "checkpoint", state: { b: "3" } });
    expect([store.checkpoint("telegram"), store.checkpoint("signal")]).toEqual([{ b: "3" }, {}]);
  });
});

describe("disappearing messages", () => {
  it("CH-12 are deleted when they expire, also from the index, and are not stored again", () => {
    const secret = message({ id: "a", at: 1000, content: "secret", expiresAt: 2000, sender: "u1" });
    apply(secret, message({ id: "b", at: 1500, content: "kept secret", sender: "u2" }), edit("a", "secret plan", 1600));
    expect(store.expire(1999)).toBe(0);
    expect(store.expire(2000)).toBe(1);
    expect(find("secret")).toEqual(["b"]);
    expect(store.message(1, "a")).toBeUndefined();
    expect(store.participants(1, 9).map(({ id }) => id)).toEqual(["u2"]);
    expect(store.totals("telegram")).toEqual({ chats: 1, messages: 1, oldestAt: 1500, newestAt: 1500 });
    expect(apply(secret).messagesAdded).toBe(0);
    expect(store.expire(3000)).toBe(0);
  });

  it("CH-12 are deleted in several commits if there are many", () => {
    apply(...Array.from({ length: 2500 }, (_, n) => message({ id: String(n), at: n, expiresAt: 5000 })));
    expect(store.expire(5000)).toBe(2500);
    expect(all()).toEqual([]);
  });
});
