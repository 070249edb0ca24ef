import { describe, expect, it } from "vitest";
import { GROUP_ID, MASTER_KEY } from "../../../test/support/chat/signal-export.ts";
import { chat, message } from "../../../test/support/chat/events.ts";
import { openStore } from "../store/store.ts";
import { formerGroupIdOf, groupIdOf } from "./signal.ts";

describe("CH-12 the id of a Signal group", () => {
  it("is derived from the master key as libsignal does", () => {
    expect(groupIdOf(MASTER_KEY)).toBe(GROUP_ID);
    expect(formerGroupIdOf(MASTER_KEY)).toBe("group:S7Bvjk46dxXSAdVz0KpCN2");
  });

  it.each(["", "c2VjcmV0", Buffer.alloc(33, 7).toString("base64")])(
    "is not derived from %j, which is no key",
    (key) => {
      expect(groupIdOf(key)).toBeUndefined();
    },
  );

  it("merges a group that an earlier version stored under another id", async () => {
    const store = await openStore(":memory:");
    const former = formerGroupIdOf(MASTER_KEY);
    const said = (group: string, id: string, at: number) =>
      message({ id, chat: group, at, content: `text ${at}`, sender: "alice" });
    store.apply("signal", [
      chat({ id: former, name: "Hikers", type: "group", participantCount: 3 }),
      said(former, "alice:1", 1),
      said(former, "alice:2", 2),
      { type: "reaction", chat: former, id: "alice:2", by: "bob", emoji: "👍", removed: false, at: 3 },
      { type: "delete", chat: former, ids: ["alice:3"], at: 4 },
      chat({ id: GROUP_ID, name: "Hikers", type: "group" }),
      said(GROUP_ID, "alice:2", 2),
      said(GROUP_ID, "alice:3", 3),
      said(GROUP_ID, "alice:4", 4),
      { type: "edit", chat: GROUP_ID, id: "alice:2", content: "corrected", at: 5 },
    ]);
    const joined = chat({ id: GROUP_ID, name: "Hikers", type: "group", sameAs: [former] });
    for (let time = 0; time < 2; time++) {
      store.apply("signal", [joined, said(former, "alice:1", 1)]);
      const { items: chats } = store.chats({ limit: 10 });
      expect(chats).toMatchObject([{ id: GROUP_ID, name: "Hikers", participantCount: 3, messageCount: 3 }]);
      const { items } = store.messages({ order: "asc", limit: 10, includeSystem: true });
      expect(items.map(({ id, content }) => [id, content])).toEqual([
        ["alice:1", "text 1"],
        ["alice:2", "corrected"],
        ["alice:4", "text 4"],
      ]);
      expect(items[1]?.reactions).toMatchObject([{ emoji: "👍", count: 1 }]);
      const inGroup = { chats: [chats[0]?.key ?? 0], order: "asc", limit: 10, includeSystem: true } as const;
      expect(store.messages({ ...inGroup, search: "text", mode: "words" }).items).toHaveLength(2);
      expect(store.participants(chats[0]?.key ?? 0, 10)).toMatchObject([{ id: "alice" }]);
    }
    await store.close();
  });
});
