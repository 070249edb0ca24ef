// Rows of the Chats page: which servers it reads, how pages are put together, and which rows are drawn.

import { describe, expect, it } from "vitest";
import { toHits, toPage, type Message } from "./answers.ts";
import { chatServers } from "./find-server.ts";
import { Heights, spanOf } from "./heights.ts";
import { keyOf, withPage } from "./merge.ts";

type Listed = Parameters<typeof chatServers>[0][number];

// eslint-disable-next-line typescript/no-unsafe-type-assertion -- only these members are read
const server = (name: string, info: string | null, status = "running") =>
  ({ config: { name }, status, server_info: info === null ? null : { name: info, version: "1" } }) as Listed;

describe("chat servers", () => {
  it("are known by what they say that they are, whatever their name, running ones first", () => {
    const all = [
      server("chat", "other"),
      server("work", "plugboard-chat", "stopped"),
      server("mine", "plugboard-chat"),
      server("none", null),
    ];
    expect(chatServers(all).map(({ config }) => config.name)).toEqual(["mine", "work"]);
  });
});

describe("answers of the tools", () => {
  it("a message has what the page shows, and anything of another type is left out", () => {
    const [message] = toPage({
      messages: [
        {
          id: "7",
          source: "telegram",
          chat_id: "1",
          chat_name: "Family",
          sender: null,
          content: "Ann joined",
          timestamp: "2025-01-13T10:00:00Z",
          kind: "system",
          reactions: "none",
          reply_to: { id: "6", preview: 5 },
        },
        "not a message",
      ],
      next_cursor: "more",
      unfinished: true,
    }).messages;
    expect(message).toMatchObject({ id: "7", sender: undefined, kind: "system", reactions: [], isSelf: false });
    expect(message?.replyTo).toEqual({ id: "6", sender: undefined, preview: "" });
  });

  it("hits have the messages around them", () => {
    const hit = { id: "2", source: "s", chat_id: "c", chat_name: "C", content: "b", timestamp: "t" };
    const before = { ...hit, id: "1", content: "a" };
    const context = [{ message_id: "2", chat_id: "c", messages: [before, hit] }];
    expect(toHits({ messages: [hit], context })[0]?.around.map(({ text }) => text)).toEqual(["a", "b"]);
    expect(toHits({ messages: [hit] })[0]?.around.map(({ text }) => text)).toEqual(["b"]);
  });
});

describe("pages of a conversation", () => {
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- only these members are read
  const message = (id: string, text = id) => ({ source: "s", chatId: "c", id, text }) as Message;
  const texts = (all: readonly Message[]) => all.map(({ text }) => text);

  it("overlap without duplicates, and the newer text of a message counts", () => {
    const known = [message("3"), message("4")];
    expect(texts(withPage(known, [message("1"), message("3", "edited")], "before"))).toEqual(["1", "edited", "4"]);
    expect(texts(withPage(known, [message("4"), message("5")], "after"))).toEqual(["3", "4", "5"]);
  });

  it("tell messages of two chats with the same id apart", () => {
    expect(keyOf(message("1"))).not.toBe(keyOf({ ...message("1"), chatId: "d" }));
  });
});

describe("rows of different heights", () => {
  const keys = Array.from({ length: 1000 }, (_, index) => String(index));

  it("only those near the visible part are drawn", () => {
    const heights = new Heights();
    const { from, to } = spanOf(heights.offsets(keys), 20_000, 500);
    expect(to - from).toBeLessThan(50);
    expect(heights.offsets(keys)[from]).toBeLessThanOrEqual(20_000);
    expect(spanOf([0], 0, 500)).toEqual({ from: 0, to: 0 });
    expect(spanOf(heights.offsets(keys.slice(0, 3)), 0, 500)).toEqual({ from: 0, to: 3 });
  });

  it("a measured row moves those below it by the difference", () => {
    const heights = new Heights();
    const before = heights.offsets(keys);
    const more = heights.measure("0", 148);
    expect(heights.offsets(keys)[2]).toBe((before[2] ?? 0) + more);
    expect(heights.measure("0", 148)).toBe(0);
  });
});
