// Exports and a bot in one source: one conversation is one chat, and no message replaces another.

import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Folder, importFile, temporaryFolder } from "../../../test/support/chat/import-file.ts";
import { Recorder, SOURCE } from "../../../test/support/chat/recorder.ts";
import { Run } from "../../../test/support/chat/source-run.ts";
import { type Json, writeJson } from "../../../test/support/chat/telegram-export.ts";
import { telegramImporter } from "../importers/telegram/importer.ts";
import type { ChatStore, StoredChat, StoredMessage } from "../model/store-port.ts";
import type { SourceEvent } from "../model/source.ts";
import { BotApiDouble, TOKEN } from "../../../test/support/chat/telegram-bot-double.ts";
import { createTelegramBot } from "../sources/telegram-bot/telegram-bot.ts";
import { toEvents } from "../sources/telegram-bot/to-events.ts";
import { wire } from "../sources/telegram-bot/wire.ts";
import { connect } from "@plugboard/shared/sqlite/driver";
import { STORE_FORM } from "../store/schema.ts";
import { openStore } from "../store/store.ts";
import { scaled } from "../../../test/support/scale.ts";

const ME = 1000;
const BOT = 123456;
const MINUTE = 60;
const START = 1_736_758_800;

let folder: Folder;
let store: ChatStore;
beforeEach(async () => {
  folder = await temporaryFolder();
  store = await openStore(":memory:");
});
afterEach(async () => {
  await store.close();
  await folder.remove();
});

const exportedMessage = (id: number, from: number, text: string, at = START + id * MINUTE): Json => ({
  id,
  type: "message",
  date_unixtime: String(at),
  from: NAMES[from] ?? "Somebody",
  from_id: `user${from}`,
  text,
});

const NAMES: Readonly<Record<number, string>> = { [ME]: "Me", 1001: "Antti", 1002: "Bea", [BOT]: "Test bot" };

interface ExportedChat {
  readonly [key: string]: Json;
  readonly id: number;
  readonly type: string;
  readonly messages: readonly Json[];
}

const account = (...chats: readonly ExportedChat[]): string =>
  writeJson({ personal_information: { user_id: ME, first_name: "Me" }, chats: { list: chats } });

async function eventsIn(content: string): Promise<readonly SourceEvent[]> {
  return (await importFile(telegramImporter, await folder.file("result.json", content))).events;
}

const HISTORY = account(
  { type: "saved_messages", id: ME, messages: [exportedMessage(1, ME, "note to myself")] },
  {
    name: "Antti",
    type: "personal_chat",
    id: 1001,
    messages: [exportedMessage(500, 1001, "hello"), exportedMessage(501, ME, "my own words")],
  },
  { name: "Family", type: "private_group", id: 2001, messages: [exportedMessage(12, 1002, "dinner at six")] },
);

const messagesIn = (chat: string): readonly StoredMessage[] => {
  const [found] = store.findChats(SOURCE, chat);
  if (found === undefined) return [];
  return store.messages({ chats: [found.key], order: "asc", limit: 500, includeSystem: true }).items;
};
const texts = (chat: string): string[] => messagesIn(chat).map(({ content }) => content);
const chats = (): readonly StoredChat[] => store.chats({ limit: 100 }).items;

describe("CH-12 an export and the bot as one source", () => {
  let double: BotApiDouble;
  let run: Run;
  beforeEach(async () => {
    double = await BotApiDouble.start();
    store.apply(SOURCE, await eventsIn(HISTORY));
    run = new Run(
      (timing) => createTelegramBot({ id: SOURCE, apiRoot: double.root, token: async () => TOKEN, timing }),
      { recorder: new Recorder(store) },
    );
    await run.connected();
  });
  afterEach(async () => {
    await run.stop();
    await double.close();
  });

  const me = { id: ME, type: "private", first_name: "Me" };
  const antti = { id: 1001, type: "private", first_name: "Antti", last_name: "Virtanen" };
  const message = (id: number, chat: { id: number }, text: string) => ({
    message_id: id,
    date: START + 90_000 + id,
    chat,
    from: { ...chat, is_bot: false },
    text,
  });

  it("keeps the user's chat with the bot separate from Saved Messages", async () => {
    double.push({ message: message(1, me, "/start first to bot") });
    double.push({ message: message(2, me, "second to bot") });
    await run.stored("second to bot");
    expect(texts("Saved Messages")).toEqual(["note to myself"]);
    expect(texts(`bot:${BOT}:${ME}`)).toEqual(["/start first to bot", "second to bot"]);
  });

  it("keeps a message to the bot that has the same number as one in the user's chat with the person", async () => {
    double.push({ message: message(500, antti, "COLLISION with an imported number") });
    await run.stored("COLLISION with an imported number");
    expect(texts("1001")).toEqual(["hello", "my own words"]);
    expect(store.messages({ search: "collision", order: "desc", limit: 5, includeSystem: false }).items).toHaveLength(
      1,
    );
    expect(store.findChats(SOURCE, "1001")).toMatchObject([{ name: "Antti" }]);
  });

  it("does not change the user's message when one of the bot's chat with the same number is edited", async () => {
    double.push({ edited_message: { ...message(501, antti, "EDITED 501 via bot"), edit_date: START + 99_000 } });
    await run.stored("EDITED 501 via bot");
    expect(texts("1001")).toEqual(["hello", "my own words"]);
    expect(texts(`bot:${BOT}:1001`)).toEqual(["EDITED 501 via bot"]);
  });

  it("has a basic group as one chat with each message once, in any numbering", async () => {
    const family = { id: -2001, type: "group", title: "Family" };
    const bea = { id: 1002, is_bot: false, first_name: "Bea" };
    const said = { message_id: 12, date: START + 99_000, chat: family, from: bea, text: "seen by the bot" };
    double.push({ message: said });
    await run.stored("seen by the bot");
    expect(texts("Family")).toEqual(["dinner at six", "seen by the bot"]);
    const later = exportedMessage(77, 1002, "seen by the bot", START + 99_000);
    const reply = { ...(exportedMessage(78, ME, "yes", START + 99_100) as object), reply_to_message_id: 77 };
    const messages = [exportedMessage(12, 1002, "dinner at six"), later, reply];
    store.apply(SOURCE, await eventsIn(account({ name: "Family", type: "private_group", id: 2001, messages })));
    expect(texts("Family")).toEqual(["dinner at six", "seen by the bot", "yes"]);
    expect(chats().filter(({ name }) => name === "Family")).toHaveLength(1);
    expect(messagesIn("Family").at(-1)?.replyTo).toMatchObject({ preview: "seen by the bot", sender: "Bea" });
    double.push({ edited_message: { ...said, text: "corrected", edit_date: START + 99_200 } });
    await run.stored("corrected");
    expect(texts("chat2001")).toEqual(["dinner at six", "corrected", "yes"]);
  });

  it("merges a chat of the account from an import and a Business connection", async () => {
    const business = { ...message(501, antti, "my own words"), business_connection_id: "bc1" };
    double.push({ business_connection: { id: "bc1", user: { id: ME, first_name: "Me" }, is_enabled: true } });
    double.push({ business_message: { ...business, date: START + 501 * MINUTE, from: { id: ME, first_name: "Me" } } });
    double.push({ business_message: { ...message(502, antti, "news"), business_connection_id: "bc1" } });
    await run.stored("news");
    expect(texts("Antti")).toEqual(["hello", "my own words", "news"]);
    expect(texts("Antti Virtanen")).toEqual(texts("Antti"));
    await run.source.send?.({ chat: "1001", text: "answer", idempotencyKey: "k", otherIds: [`business:${ME}:1001`] });
    await run.stored("answer");
    expect(texts("Antti").at(-1)).toBe("answer");
  });

  it("does not send to a private chat of the account that the bot cannot access", async () => {
    expect([run.source.sendsTo?.("1001"), run.source.sendsTo?.(`bot:${BOT}:1001`)]).toEqual([false, true]);
    await expect(run.source.send?.({ chat: "1001", text: "x", idempotencyKey: "k" })).rejects.toMatchObject({
      code: "INVALID_PARAMETER",
      details: { hint: expect.stringContaining(`bot:${BOT}:1001`) },
    });
  });
});

type Place = "antti" | "saved" | "to the bot" | "Antti to the bot" | "family" | "work";

interface Said {
  readonly place: Place;
  readonly from: number;
  readonly text: string;
  readonly at: number;
  readonly edited: string | undefined;
}

const PLACES: Readonly<
  Record<
    Place,
    {
      readonly exported?: { readonly id: number; readonly type: string; readonly name: string };
      readonly live?: { readonly id: number; readonly type: string };
      /** Whether a Business connection delivers it. */
      readonly isBusiness?: true;
      readonly people: readonly number[];
      /** The ids that find it. */
      readonly ids: readonly string[];
    }
  >
> = {
  antti: {
    exported: { id: 1001, type: "personal_chat", name: "Antti" },
    live: { id: 1001, type: "private" },
    isBusiness: true,
    people: [ME, 1001],
    ids: ["1001"],
  },
  saved: { exported: { id: ME, type: "saved_messages", name: "Saved" }, people: [ME], ids: [String(ME)] },
  "to the bot": {
    exported: { id: BOT, type: "bot_chat", name: "Test bot" },
    live: { id: ME, type: "private" },
    people: [ME, BOT],
    ids: [String(BOT)],
  },
  "Antti to the bot": { live: { id: 1001, type: "private" }, people: [1001, BOT], ids: [`bot:${BOT}:1001`] },
  family: {
    exported: { id: 2001, type: "private_group", name: "Family" },
    live: { id: -2001, type: "group" },
    people: [ME, 1001, 1002],
    ids: ["-2001"],
  },
  work: {
    exported: { id: 3_000_000_001, type: "private_supergroup", name: "Work" },
    live: { id: -1_003_000_000_001, type: "supergroup" },
    people: [ME, 1001, 1002],
    ids: ["-1003000000001"],
  },
};
const PLACE_NAMES = Object.keys(PLACES) as Place[];

/** Each account has its own message numbers, except for a supergroup, which has one numbering. */
function numbered(said: readonly Said[]): readonly (Said & { readonly account: number; readonly bot: number })[] {
  const counters = { account: 0, bot: 0, group: 0 };
  return said.map((one) => {
    const { exported, live, isBusiness } = PLACES[one.place];
    if (one.place === "work") {
      const group = ++counters.group;
      return { ...one, account: group, bot: group };
    }
    const number = exported === undefined ? 0 : ++counters.account;
    return { ...one, account: number, bot: isBusiness ? number : live === undefined ? 0 : ++counters.bot };
  });
}

describe("CH-12 exports and live events of one source in any order", () => {
  const person = (id: number) => ({ id, is_bot: id === BOT, first_name: NAMES[id] ?? "" });

  it("has every message exactly once, in its own chat", async () => {
    const said = fc
      .array(
        fc.record({
          place: fc.constantFrom(...PLACE_NAMES),
          who: fc.nat(2),
          text: fc.constantFrom("ok", "yes", "see you"),
          pause: fc.nat(2),
          isEdited: fc.boolean(),
        }),
        { minLength: 1, maxLength: 40 },
      )
      .map((drawn) => {
        let at = START;
        return numbered(
          drawn.map(({ place, who, text, pause, isEdited }, index): Said => {
            at += pause;
            const { people } = PLACES[place];
            const from = people[who % people.length] ?? ME;
            return { place, from, text, at, edited: isEdited ? `${text}, corrected ${index}` : undefined };
          }),
        );
      });
    const plan = fc.record({
      said,
      // After how many updates an export is read, and how many messages it contains; the last export contains all.
      exports: fc.array(fc.record({ after: fc.nat(80), upTo: fc.nat(40) }), { maxLength: 3 }),
      lastAfter: fc.nat(80),
      hasBusiness: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ said: all, exports, lastAfter, hasBusiness }) => {
        const mixed = await openStore(":memory:");
        try {
          const updates = all.flatMap((one) => updatesOf(one, hasBusiness));
          const files = [...exports, { after: lastAfter, upTo: all.length }].map(({ after, upTo }) => ({
            after,
            content: exportOf(all.slice(0, upTo)),
          }));
          for (let done = 0; done <= updates.length; done++) {
            const isLast = done === updates.length;
            for (const { after, content } of files) {
              if (after === done || (isLast && after > done)) mixed.apply("mixed", await eventsIn(content));
            }
            if (!isLast) mixed.apply("mixed", toEvents(wire.update.parse(updates[done]), CONTEXT));
          }
          for (const place of PLACE_NAMES) {
            const [found] = PLACES[place].ids.flatMap((id) => mixed.findChats("mixed", id));
            const expected = all.filter((one) => one.place === place).map(({ text, edited }) => edited ?? text);
            const stored =
              found === undefined
                ? []
                : mixed.messages({ chats: [found.key], order: "asc", limit: 500, includeSystem: true }).items;
            expect({ place, texts: stored.map(({ content }) => content).toSorted() }).toEqual({
              place,
              texts: expected.toSorted(),
            });
          }
          expect(mixed.totals("mixed").messages).toBe(all.length);
        } finally {
          await mixed.close();
        }
      }),
      { numRuns: scaled(60, 5000), examples: [[EQUAL_AND_EDITED]] },
    );
  });

  /** One of two equal messages of the same second is edited, and the first export only has the new text. */
  const EQUAL_AND_EDITED = {
    said: numbered([
      { place: "to the bot", from: BOT, text: "see you", at: START, edited: "see you, corrected 0" },
      { place: "to the bot", from: BOT, text: "see you", at: START, edited: undefined },
    ]),
    exports: [],
    lastAfter: 0,
    hasBusiness: false,
  };

  const CONTEXT = { bot: String(BOT), ownerOf: () => String(ME), now: 0 };

  function updatesOf(one: ReturnType<typeof numbered>[number], hasBusiness: boolean): object[] {
    const { live, isBusiness } = PLACES[one.place];
    if (live === undefined || (isBusiness === true && !hasBusiness)) return [];
    const chat = { ...live, first_name: "X", title: one.place };
    const message = { message_id: one.bot, date: one.at, chat, from: person(one.from), text: one.text };
    const [said, edited] = isBusiness ? ["business_message", "edited_business_message"] : ["message", "edited_message"];
    const connected = isBusiness ? { business_connection_id: "bc1" } : {};
    const first = { update_id: 1, [said ?? ""]: { ...message, ...connected } };
    if (one.edited === undefined) return [first];
    const second = { ...message, ...connected, text: one.edited, edit_date: one.at + 1 };
    return [first, { update_id: 2, [edited ?? ""]: second }];
  }

  function exportOf(said: ReturnType<typeof numbered>): string {
    const exported = PLACE_NAMES.flatMap((place) => {
      const { exported: head } = PLACES[place];
      if (head === undefined) return [];
      const messages = said
        .filter((one) => one.place === place)
        .map((one) => ({
          ...(exportedMessage(one.account, one.from, one.edited ?? one.text, one.at) as object),
          ...(one.edited === undefined ? {} : { edited_unixtime: String(one.at + 1) }),
        }));
      return [{ ...head, messages }];
    });
    return account(...exported);
  }
});

describe("CH-12 a store of an earlier version", () => {
  /** A file of version 2, in which an export and the bot had private chats with the same ids. */
  async function oldStore(path: string): Promise<void> {
    const db = await connect(path);
    for (const { sql = "" } of STORE_FORM.migrations.slice(0, 2)) db.exec(sql);
    db.exec(`PRAGMA user_version = 2; PRAGMA application_id = ${STORE_FORM.applicationId};
      INSERT INTO source (key, id, checkpoint) VALUES (1, '${SOURCE}', '{"offset":"7","at":"1"}');
      INSERT INTO address (key, source, id, folded_id, person, name, folded_name, is_self, is_bot) VALUES
        (1, 1, '${ME}', '${ME}', 1, 'Me', 'me', 1, 0), (2, 1, '1001', '1001', 2, 'Antti', 'antti', 0, 0),
        (3, 1, '${BOT}', '${BOT}', 3, 'Test bot', 'test bot', 1, 1), (4, 1, '1002', '1002', 4, 'Bea', 'bea', 0, 0);
      INSERT INTO chat (key, source, id, name, folded_name, type) VALUES
        (1, 1, '1001', 'Antti', 'antti', 'direct'), (2, 1, 'chat2001', 'Family', 'family', 'group'),
        (3, 1, '-2001', 'Family', 'family', 'group'), (4, 1, '1002', 'Bea', 'bea', 'direct'),
        (5, 1, '-1003000000001', 'Work', 'work', 'group');`);
    let at = 0;
    const add = (chat: number, id: string, sender: number | null, content: string, when = ++at * 1000) => {
      db.run(
        "INSERT INTO message (slot, chat, id, sender, kind, content) VALUES (? << 21, ?, ?, ?, 'text', ?)",
        when,
        chat,
        id,
        sender,
        content,
      );
      const sql = "INSERT INTO message_index (rowid, content, scope) VALUES (? << 21, ?, ?)";
      db.run(sql, when, content, `c${chat} x1 s${sender}`);
      db.run("UPDATE chat SET message_count = message_count + 1 WHERE key = ?", chat);
    };
    // Imported, then live: the bot's message numbers are far below those of the account.
    add(1, "500", 2, "hello");
    add(1, "501", 1, "my own words");
    add(2, "502", 4, "dinner at six");
    add(1, "503", 2, "until tomorrow");
    add(1, "504", 1, "bye");
    add(1, "3", 2, "Antti to the bot");
    add(1, "4", 3, "the bot to Antti");
    add(3, "5", 4, "seen by the bot");
    add(4, "6", 4, "Bea to the bot");
    add(5, "9", 4, "at work");
    db.run("INSERT INTO reaction (chat, message, address, emoji, count, at) VALUES (1, '3', 3, '👍', 1, 1)");
    await db.close();
  }

  it("is separated as far as possible, and loses nothing", async () => {
    const path = join(folder.path, "old.db");
    await oldStore(path);
    const before = store;
    store = await openStore(path);
    await before.close();
    expect(store.totals(SOURCE)).toMatchObject({ messages: 10 });
    expect(texts("1001")).toEqual(["hello", "my own words", "until tomorrow", "bye"]);
    expect(messagesIn(`bot:${BOT}:1001`).map(({ id, content }) => [id, content])).toEqual([
      [`bot:${BOT}:3`, "Antti to the bot"],
      [`bot:${BOT}:4`, "the bot to Antti"],
    ]);
    expect(messagesIn(`bot:${BOT}:1001`)[0]?.reactions).toMatchObject([{ emoji: "👍" }]);
    expect(texts("Family")).toEqual(["dinner at six", "seen by the bot"]);
    expect(texts("chat2001")).toEqual(texts("-2001"));
    // The former id still finds the chat, unless another chat has it.
    expect(texts("1002")).toEqual(["Bea to the bot"]);
    expect(texts("-1003000000001")).toEqual(["at work"]);
    const counts = chats().map(({ id, messageCount }) => [id, messageCount]);
    expect(Object.fromEntries(counts)).toEqual({
      "1001": 4,
      [`bot:${BOT}:1001`]: 2,
      [`bot:${BOT}:1002`]: 1,
      "-2001": 2,
      "-1003000000001": 1,
    });
    const [family] = store.findChats(SOURCE, "Family");
    const found = store.messages({
      chats: [family?.key ?? 0],
      search: "dinner",
      order: "desc",
      limit: 5,
      includeSystem: false,
    });
    expect(found.items).toHaveLength(1);
    // The same export and the same updates add nothing.
    const again = account(
      { name: "Bea", type: "personal_chat", id: 1002, messages: [exportedMessage(6, 1002, "of the account")] },
      { name: "Family", type: "private_group", id: 2001, messages: [exportedMessage(502, 1002, "dinner at six")] },
    );
    expect(store.apply(SOURCE, await eventsIn(again)).messagesAdded).toBe(1);
    expect(texts("1002")).toEqual(["of the account"]);
    expect(texts(`bot:${BOT}:1002`)).toEqual(["Bea to the bot"]);
  });
});
