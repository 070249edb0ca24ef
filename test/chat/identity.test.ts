// Names and people in exports and live sources: one person has one identity.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { telegramImporter } from "../../chat/src/importers/telegram/importer.ts";
import { toEvents } from "../../chat/src/sources/telegram-bot/to-events.ts";
import { wire } from "../../chat/src/sources/telegram-bot/wire.ts";
import { connect } from "@plugboard/shared/sqlite/driver";
import { STORE_FORM } from "../../chat/src/store/schema.ts";
import { openStore } from "../../chat/src/store/store.ts";
import { chat, message, person } from "../support/chat/events.ts";
import { openChatApp, type OpenedApp } from "../support/chat/app.ts";
import { importFile, temporaryFolder } from "../support/chat/import-file.ts";

const AT = 1_736_758_800;
const ME = { id: 1000, first_name: "Me" };
const ANTTI = { id: 1001, first_name: "Antti", last_name: "Virtanen" };

let opened: OpenedApp;
beforeEach(async () => {
  opened = await openChatApp(["telegram", "signal"]);
});
afterEach(() => opened.close());

async function importTelegram(...list: readonly object[]): Promise<void> {
  const folder = await temporaryFolder();
  const account = { personal_information: { user_id: ME.id, first_name: "Me" }, chats: { list } };
  const path = await folder.file("result.json", JSON.stringify(account, undefined, 1));
  opened.apply("telegram", (await importFile(telegramImporter, path)).events);
  await folder.remove();
}

const written = (id: number, from: number, text: string): object => {
  return { id, type: "message", date_unixtime: String(AT + id), from: `u${from}`, from_id: `user${from}`, text };
};

const live = (update: object): void =>
  opened.apply(
    "telegram",
    toEvents(wire.update.parse({ update_id: 1, ...update }), { bot: "9999", ownerOf: () => "1000", now: 0 }),
  );

const toBot = (id: number, from: { id: number }, text: string): void =>
  live({ message: { message_id: id, date: AT + 9000 + id, chat: { ...from, type: "private" }, from, text } });

const byBusiness = (id: number, from: object, text: string): void =>
  live({
    business_message: {
      message_id: id,
      date: AT + 9000 + id,
      chat: { ...ANTTI, type: "private" },
      from,
      text,
      business_connection_id: "bc1",
    },
  });

const contents = async (args: Readonly<Record<string, unknown>>): Promise<string[]> =>
  (await opened.call("get_messages", { source: "telegram", ...args })).json.messages
    .map(({ content }: { content: string }) => content)
    .toReversed();

const anttisChat = {
  id: 1001,
  name: "Antti",
  type: "personal_chat",
  messages: [written(500, 1001, "imported"), written(501, 1000, "my words")],
};

describe("CH-12 a chat's name after an import and live messages", () => {
  it.each(["import first", "live first"])("means the person: all private chats with them (%s)", async (order) => {
    if (order === "import first") await importTelegram(anttisChat);
    toBot(7, ANTTI, "to the bot");
    byBusiness(502, ME, "by business");
    if (order === "live first") await importTelegram(anttisChat);
    const all = ["imported", "my words", "to the bot", "by business"];
    for (const name of ["Antti", "antti", "Antti Virtanen"]) expect(await contents({ chat: name })).toEqual(all);
    expect((await opened.read("messages://telegram/Antti")).text.trim().split("\n")).toHaveLength(4);
    // An id stands for one chat only.
    expect(await contents({ chat: "1001" })).toEqual(["imported", "my words", "by business"]);
    expect(await contents({ chat: "business:1000:1001" })).toEqual(["imported", "my words", "by business"]);
    expect(await contents({ chat: "bot:9999:1001" })).toEqual(["to the bot"]);
    const { json } = await opened.call("list_chats", { source: "telegram" });
    expect(json.chats.map(({ id }: { id: string }) => id).toSorted()).toEqual(["1001", "bot:9999:1001"]);
  });

  it("finds a message of each of them by its id, and pages through all", async () => {
    await importTelegram(anttisChat);
    const first = (await opened.call("get_messages", { source: "telegram", chat: "Antti", limit: 1 })).json;
    toBot(500, ANTTI, "to the bot");
    const context = async (id: string) =>
      (await opened.call("get_message_context", { source: "telegram", chat: "Antti", message_id: id })).json.messages;
    expect(await context("500")).toMatchObject([{ content: "imported" }, { content: "my words" }]);
    expect(await context("bot:9999:500")).toMatchObject([{ content: "to the bot" }]);
    // A chat that is added between two pages does not change the pages.
    expect(await contents({ chat: "Antti", limit: 1, cursor: first.next_cursor })).toEqual(["imported"]);
    expect(await contents({ chat: "Antti", limit: 2 })).toEqual(["my words", "to the bot"]);
  });

  it("still finds a renamed chat, after chats that have the name now", async () => {
    const title = (name: string) => opened.apply("telegram", [chat({ id: "-100", name, type: "group" })]);
    title("Weekend");
    opened.apply("telegram", [message({ id: "1", chat: "-100", content: "hello" })]);
    title("Holidays");
    expect(await contents({ chat: "Weekend" })).toEqual(["hello"]);
    expect(await contents({ chat: "weekend" })).toEqual(["hello"]);
    opened.apply("telegram", [
      chat({ id: "-200", name: "Weekend", type: "group" }),
      message({ id: "1", chat: "-200", content: "another group" }),
    ]);
    expect(await contents({ chat: "Weekend" })).toEqual(["another group"]);
  });

  it("can be the person's id, if no chat has that id", async () => {
    toBot(7, ANTTI, "to the bot");
    byBusiness(502, ME, "by business");
    expect(await contents({ chat: "1001" })).toEqual(["to the bot", "by business"]);
    await importTelegram(anttisChat);
    expect(await contents({ chat: "1001" })).toEqual(["imported", "my words", "by business"]);
  });

  it("is refused if it is ambiguous", async () => {
    opened.apply("telegram", [
      chat({ id: "1", name: "Antti", type: "direct" }),
      chat({ id: "2", name: "Antti", type: "direct" }),
      person({ id: "1", name: "Antti" }),
      person({ id: "2", name: "Antti" }),
    ]);
    await expect(contents({ chat: "Antti" })).rejects.toMatchObject({ code: "AMBIGUOUS_CHAT" });
  });

  it("hides a chat that is hidden by a former name or another id", async () => {
    await opened.close();
    for (const hidden of ["Antti", "business:1000:1001", "1001"]) {
      opened = await openChatApp(["telegram"], { entry: { chats: { hide: [hidden] } } });
      await importTelegram(anttisChat);
      byBusiness(502, ANTTI, "secret");
      opened.apply("telegram", [chat({ id: "1001", name: "Renamed", type: "direct" })]);
      expect((await opened.call("list_chats", { source: "telegram" })).json.chats).toEqual([]);
      toBot(9, ANTTI, "secret too");
      const shown = hidden === "1001" ? [] : [{ id: "bot:9999:1001" }];
      expect((await opened.call("list_chats", { source: "telegram" })).json.chats).toMatchObject(shown);
      await expect(contents({ chat: "Renamed" })).rejects.toMatchObject({ code: "CHAT_NOT_FOUND" });
      if (hidden !== "1001") await opened.close();
    }
  });
});

describe("CH-12 one phone number on two networks", () => {
  const people = async (name: string) =>
    (await opened.call("find_contact", { query: name })).json.people.map(
      ({ addresses }: { addresses: readonly { source: string; id: string }[] }) =>
        addresses.map(({ source, id }) => `${source}:${id}`).toSorted(),
    );
  const onTelegram = (id: string, phone: string) => opened.apply("telegram", [person({ id, name: "Antti", phone })]);
  const onSignal = (id: string, phone: string) =>
    opened.apply("signal", [person({ id, name: "Antti V", phone, sameAs: [phone] })]);

  it.each([
    ["as both write it", "+358401111111", "+358401111111"],
    ["with blanks", "+358 40 111-1111", "+358401111111"],
    ["with 00 for the plus", "00358 40 1111111", "+358401111111"],
    ["with marks of direction around it", "\u202a+358 40 1111111\u202c", "+358401111111"],
  ])("is one person, %s", async (_, one, other) => {
    onTelegram("1001", one);
    onSignal("uuid-a", other);
    expect(await people("Antti")).toEqual([["signal:+358401111111", "signal:uuid-a", "telegram:1001"]]);
    opened.apply("telegram", [
      chat({ id: "1001", name: "Antti", type: "direct" }),
      message({ id: "1", chat: "1001", sender: "1001", content: "on telegram" }),
    ]);
    opened.apply("signal", [
      chat({ id: "uuid-a", name: "Antti", type: "direct" }),
      message({ id: "1", chat: "uuid-a", sender: "uuid-a", content: "on signal", at: 2000 }),
    ]);
    const both = await opened.call("get_messages", { chat: "Antti" });
    expect(both.json.messages.map(({ content }: { content: string }) => content)).toEqual(["on signal", "on telegram"]);
    expect((await opened.call("get_messages", { sender: "Antti V" })).json.messages).toHaveLength(2);
  });

  it.each([
    ["short ones", "12345", "12345"],
    ["without the country", "0401111111", "0401111111"],
    ["an id that has the digits of a number", "", "+358401111111"],
  ])("is not derived from %s", async (_, one, other) => {
    opened.apply("telegram", [person({ id: "358401111111", name: "Antti", ...(one === "" ? {} : { phone: one }) })]);
    onSignal("uuid-a", other);
    expect(await people("Antti")).toHaveLength(2);
  });

  it("merges no people if two people of one source have it", async () => {
    onTelegram("1001", "+358401111111");
    onTelegram("1002", "+358401111111");
    onSignal("uuid-a", "+358401111111");
    expect(await people("Antti")).toEqual([
      ["telegram:1001"],
      ["telegram:1002"],
      ["signal:+358401111111", "signal:uuid-a"],
    ]);
  });

  it("reveals nothing about a person that only a hidden chat contains", async () => {
    await opened.close();
    opened = await openChatApp(["telegram", "signal"], { entry: { chats: { hide: ["1001"] } } });
    opened.apply("telegram", [
      person({ id: "1001", name: "Doctor Antti", phone: "+358401111111" }),
      chat({ id: "1001", name: "Doctor Antti", type: "direct" }),
      message({ id: "1", chat: "1001", sender: "1001", content: "results" }),
    ]);
    opened.apply("signal", [
      chat({ id: "+358401111111", type: "direct" }),
      message({ id: "1", chat: "+358401111111", sender: "+358401111111", content: "hello" }),
    ]);
    const { json, text } = await opened.call("find_contact", { query: "358401111111" });
    expect(json.people).toMatchObject([{ name: "+358401111111", addresses: [{ source: "signal" }] }]);
    const messages = await opened.call("get_messages", { chat: "+358401111111" });
    expect(messages.json.messages).toHaveLength(1);
    for (const answer of [text, messages.text, JSON.stringify(messages.json)]) expect(answer).not.toContain("Doctor");
  });

  it("is set for people that an earlier version stored", async () => {
    const folder = await temporaryFolder();
    const db = await connect(`${folder.path}/chat.db`);
    const old = STORE_FORM.migrations.findIndex(({ sql }) => sql?.includes("e164 TEXT"));
    for (const { sql = "" } of STORE_FORM.migrations.slice(0, old)) db.exec(sql);
    db.exec(`PRAGMA user_version = ${old}; PRAGMA application_id = ${STORE_FORM.applicationId};
      INSERT INTO source (key, id) VALUES (1, 'telegram'), (2, 'signal');
      INSERT INTO address (key, source, id, folded_id, person, name, folded_name, phone) VALUES
        (1, 1, '1001', '1001', 1, 'Antti', 'antti', '+358 40 1111111'), (2, 2, '+358401111111', '+358401111111', 2, NULL, NULL, NULL)`);
    await db.close();
    const store = await openStore(`${folder.path}/chat.db`);
    expect(store.people("antti", 5)).toMatchObject([{ addresses: [{ source: "telegram" }, { source: "signal" }] }]);
    await store.close();
    await folder.remove();
  });
});
