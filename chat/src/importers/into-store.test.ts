// Imports into the real store: a second import adds nothing, an overlapping export only the new messages.

import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Folder, importFile, temporaryFolder } from "../../../test/support/chat/import-file.ts";
import { FRAMES, item, jsonLines, sentAt, standard } from "../../../test/support/chat/signal-export.ts";
import { largeChat } from "../../../test/support/chat/telegram-export.ts";
import type { ChatStore } from "../model/store-port.ts";
import { openStore } from "../store/store.ts";
import { detectImporter } from "./importers.ts";

let folder: Folder;
let store: ChatStore;
beforeEach(async () => {
  folder = await temporaryFolder();
  store = await openStore(join(folder.path, "chat.db"));
});
afterEach(async () => {
  await store.close();
  await folder.remove();
});

/** The number of added messages. */
async function add(name: string, content: string, options = {}): Promise<number> {
  const path = await folder.file(name, content);
  const importer = await detectImporter(path);
  const { batches } = await importFile(importer, path, options);
  return batches.reduce((sum, batch) => sum + store.apply(importer.sourceKind, batch).messagesAdded, 0);
}

const whatsapp = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => {
    const minute = from + index;
    return `13/1/25, ${String(10 + Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")} - ${minute % 2 === 0 ? "Ann" : "Bob"}: ok ${minute % 3}`;
  }).join("\n");

const signal = (count: number) =>
  jsonLines([
    ...FRAMES,
    ...Array.from({ length: count }, (_, index) => item(index, standard(`text ${index}`))),
    item(9000, { ...standard("third"), revisions: [{ dateSent: String(sentAt(8000)), ...standard("first") }] }),
  ]);

describe("CH-12 a repeated import adds nothing twice", () => {
  it("Telegram", async () => {
    expect(await add("result.json", [...largeChat(1500)].join(""))).toBe(1500);
    expect(await add("result.json", [...largeChat(1500)].join(""))).toBe(0);
    expect(await add("result.json", [...largeChat(1510)].join(""))).toBe(10);
    expect(store.totals("telegram")).toMatchObject({ chats: 1, messages: 1510 });
    const [antti] = store.findChats("telegram", "Antti");
    expect(antti).toMatchObject({ id: "700000001", type: "direct", messageCount: 1510 });
    const { items } = store.messages({
      chats: [antti?.key ?? 0],
      search: "1510",
      order: "desc",
      limit: 5,
      includeSystem: false,
    });
    expect(items.map(({ id, sender }) => [id, sender?.name, sender?.isSelf])).toEqual([["1510", "Antti", false]]);
  });

  it("WhatsApp: an overlapping export adds only the new messages", async () => {
    const name = "WhatsApp Chat with Ann.txt";
    expect(await add(name, whatsapp(0, 300))).toBe(300);
    expect(await add(name, whatsapp(0, 300))).toBe(0);
    expect(await add(name, whatsapp(100, 320))).toBe(20);
    expect(await add(name, whatsapp(0, 320), { timeZone: "Asia/Tokyo" })).toBe(0);
    expect(store.totals("whatsapp")).toMatchObject({ chats: 1, messages: 320 });
  });

  it("Signal, with revisions of an edited message", async () => {
    expect(await add("main.jsonl", signal(500))).toBe(501);
    expect(await add("main.jsonl", signal(500))).toBe(0);
    expect(await add("main.jsonl", signal(505))).toBe(5);
    const { items } = store.messages({ search: "third", order: "desc", limit: 5, includeSystem: false });
    expect(items).toMatchObject([{ content: "third", at: sentAt(8000), editedAt: sentAt(9000) }]);
    expect(store.messages({ search: "first", order: "desc", limit: 5, includeSystem: false }).items).toEqual([]);
  });
});
