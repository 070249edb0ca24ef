// Every filter of messages works in every place that takes filters. The table has an entry for each filter, by type.

import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  FILTER_NAMES,
  URI_PARAMETERS,
  type FilterName,
  type MessageArgs,
} from "../../chat/src/access/message-filters.ts";
import { selectMessages } from "../../chat/src/access/message-selection.ts";
import { MESSAGES_TEMPLATE } from "../../chat/src/access/uris.ts";
import { openChatApp, type OpenedApp } from "../support/chat/app.ts";
import { chat, message, person } from "../support/chat/events.ts";

const AT = Date.parse("2025-01-13T09:00:00Z");
const ALL = ["s1", "t4", "t3", "t2", "t1"];

interface Example {
  readonly args: MessageArgs;
  /** Ids of the matching messages, newest first. */
  readonly found: readonly string[];
}

const EXAMPLES: Readonly<Record<FilterName, Example>> = {
  source: { args: { source: "telegram" }, found: ["t4", "t3", "t2", "t1"] },
  chat: { args: { source: "telegram", chat: "Family" }, found: ["t4", "t3"] },
  since: { args: { since: "2025-01-13T09:00:03Z" }, found: ["s1", "t4", "t3"] },
  before: { args: { before: "2025-01-13T09:00:03Z" }, found: ["t2", "t1"] },
  sender: { args: { sender: "Bob" }, found: ["t4", "t2"] },
  search: { args: { search: "eet" }, found: ["t3", "t1"] },
  mode: { args: { search: "meet", mode: "words" }, found: [] },
  include_system: { args: { include_system: true }, found: ["s1", "system", "t4", "t3", "t2", "t1"] },
  allow_stale: { args: { allow_stale: true }, found: ALL },
};

let opened: OpenedApp;

beforeAll(async () => {
  opened = await openChatApp(["telegram", "signal"]);
  const said = (id: string, seconds: number, inChat: string, sender: string, content: string) =>
    message({ id, chat: inChat, sender, at: AT + seconds * 1000, content });
  opened.apply("telegram", [
    chat({ id: "1", name: "Antti", type: "direct" }),
    chat({ id: "2", name: "Family", type: "group" }),
    person({ id: "ann", name: "Ann" }),
    person({ id: "bob", name: "Bob" }),
    said("t1", 1, "1", "ann", "a meeting"),
    said("t2", 2, "1", "bob", "fine"),
    said("t3", 3, "2", "ann", "sweet"),
    said("t4", 4, "2", "bob", "yes"),
    message({ id: "system", chat: "2", at: AT + 5000, kind: "system", content: "Ann joined" }),
  ]);
  opened.apply("signal", [chat({ id: "x", name: "Xena", type: "direct" }), said("s1", 6, "x", "xena", "hello")]);
});

afterAll(() => opened.close());

const ids = async (tool: string, args: Readonly<Record<string, unknown>>): Promise<readonly string[]> =>
  (await opened.call(tool, args)).json.messages.map(({ id }: { id: string }) => id);

describe.each(FILTER_NAMES)("the filter %s", (name) => {
  const { args, found } = EXAMPLES[name];

  it("CH-5 selects messages in get_messages", async () => {
    expect(await ids("get_messages", { ...args })).toEqual(found);
  });

  it("CH-6 selects the same messages as a parameter of a resource URI", async () => {
    const { source = "telegram", chat: named, ...query } = args;
    const parameters = Object.entries(query).map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
    const uri = `messages://${source}/${named ?? "*"}?${parameters.join("&")}`;
    const { text } = await opened.read(uri);
    const expected = await ids("get_messages", { ...args, source, order: "asc" });
    expect(text.split("\n").filter((line) => line !== "")).toHaveLength(expected.length);
  });

  it("CH-8 binds a cursor to its value, unless it does not change the matches", async () => {
    const first = await opened.call("get_messages", { limit: 1 });
    const next = opened.call("get_messages", { ...args, limit: 1, cursor: first.json.next_cursor });
    if (name === "allow_stale") expect((await next).json.messages).toHaveLength(1);
    else await expect(next).rejects.toMatchObject({ code: "INVALID_PARAMETER", details: { field: "cursor" } });
  });

  it("CH-6 is in the URI template and in the documentation, unless it is part of the path", async () => {
    if (name === "source") return;
    expect(Object.keys(URI_PARAMETERS)).toContain(name);
    if (name !== "chat") expect(MESSAGES_TEMPLATE).toMatch(new RegExp(`[?,]${name}[,}]`));
    const docs = await readFile(new URL("../../docs/chat.md", import.meta.url), "utf8");
    const [, resources = ""] = /\*\*Resources\*\*([^;]*);/.exec(docs) ?? [];
    expect(resources).toContain(`\`${name}\``);
  });
});

it("CH-5 search_messages takes every filter, with query in place of search", async () => {
  for (const { args } of Object.values(EXAMPLES)) {
    const { search = "e", ...filters } = args;
    const found = await ids("search_messages", { mode: "contains", ...filters, query: search });
    expect(found).toEqual(await ids("get_messages", { mode: "contains", ...args, search }));
  }
});

it("CH-10 a subscription selects what reading the resource shows: system messages only if asked for", () => {
  const filter = (args: MessageArgs) => selectMessages(opened.app.reader, args).filter;
  expect(filter({})).toMatchObject({ includeSystem: false });
  expect(filter({ include_system: true })).toMatchObject({ includeSystem: true });
});

describe("a chat that is not found", () => {
  it.each([
    ["Anti", ["Antti"]],
    ["famly", ["Family"]],
    ["the family", ["Family"]],
    ["Zorro", []],
  ])("CH-8 %s comes with near names: %j", async (name, near) => {
    const error = await opened
      .call("get_messages", { source: "telegram", chat: name })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "CHAT_NOT_FOUND",
      message: `Chat '${name}' not found in source 'telegram'`,
      details: near.length === 0 ? { field: "chat" } : { candidates: near, hint: `Did you mean '${near[0]}'?` },
    });
  });

  it("CH-8 has no near name of a chat that is hidden", async () => {
    const hidden = await openChatApp(["telegram"], { entry: { chats: { hide: ["Antti"] } } });
    hidden.apply("telegram", [
      chat({ id: "1", name: "Antti" }),
      chat({ id: "2", name: "Anttila" }),
      message({ id: "a" }),
    ]);
    await expect(hidden.call("get_messages", { chat: "Antt" })).rejects.toMatchObject({
      details: { candidates: ["Anttila"] },
    });
    await hidden.close();
  });
});
