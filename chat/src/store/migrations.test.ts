// Files written by every earlier version of the store: test/fixtures/chat-stores/version-<n>.db.gz. Versions 3 to 7 were never
// released; they came together with 8.

import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { message } from "../../../test/support/chat/events.ts";
import type { ChatStore } from "../model/store-port.ts";
import { connect } from "@plugboard/shared/sqlite/driver";
import { STORE_FORM } from "./schema.ts";
import { openStore } from "./store.ts";

const FIXTURES = new URL("../../../test/fixtures/chat-stores/", import.meta.url);
const VERSIONS = ["1-first", "1", "2", "8"];

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "plugboard-chat-migrations-"));
  path = join(folder, "chat.db");
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function openVersion(version: string): Promise<ChatStore> {
  await writeFile(path, gunzipSync(await readFile(new URL(`version-${version}.db.gz`, FIXTURES))));
  return openStore(path);
}

/** Tables and indexes with their columns, whose order may differ in an earlier file. */
async function tablesOf(file: string): Promise<unknown> {
  const db = await connect(file);
  const rows = [
    ...db.all(
      "SELECT s.name, c.name AS column FROM sqlite_schema s, pragma_table_info(s.name) c WHERE s.type = 'table'",
    ),
    ...db.all(
      "SELECT s.name, c.name AS column FROM sqlite_schema s, pragma_index_info(s.name) c WHERE s.type = 'index'",
    ),
  ];
  await db.close();
  return rows.map(({ name, column }) => [name, column].join(".")).toSorted();
}

describe.each(VERSIONS)("CH-12 a store of version %s", (version) => {
  it("keeps every message, with its edits, reactions and search index", async () => {
    const store = await openVersion(version);
    const contents = (search?: string) =>
      store
        .messages({ order: "asc", limit: 50, includeSystem: true, ...(search === undefined ? {} : { search }) })
        .items.map(({ content }) => content);
    expect(contents()).toEqual([
      "lunch on Friday?",
      "yes",
      "to the bot",
      "from the bot",
      "a note",
      "Füße im Café",
      "Ann joined",
      "明天的会议",
      "on Signal",
    ]);
    expect(contents("cafe")).toEqual(["Füße im Café"]);
    expect(contents("会议")).toEqual(["明天的会议"]);
    expect(contents("bot")).toEqual(["to the bot", "from the bot"]);
    expect(contents("text")).toEqual([]);
    const [family] = store.findChats("telegram", "Family");
    expect(family).toMatchObject({ messageCount: 3, participantCount: 3 });
    expect(store.message(family?.key ?? 0, "1")?.reactions).toEqual([{ emoji: "👍", count: 1, by: ["Olga"] }]);
    expect(store.checkpoint("telegram")).toMatchObject({ offset: "7" });
    expect(store.gaps("telegram", 5)).toHaveLength(1);
    await store.close();
  });

  it("works as a store of the current version: senders, merged people, deletions, new messages", async () => {
    const store = await openVersion(version);
    const bySender = (sender: string) =>
      store.messages({ order: "asc", limit: 50, includeSystem: false, sender }).items.map(({ content }) => content);
    const ofAnn = ["lunch on Friday?", "to the bot", "Füße im Café", "明天的会议", "on Signal"];
    for (const name of ["@ann", "1001", "+358 40 1234567"]) expect(bySender(name)).toEqual(ofAnn);
    const chat = "-1003000000005";
    expect(store.apply("telegram", [message({ id: "6", chat, content: "deleted text" })]).messagesAdded).toBe(0);
    const added = store.apply("telegram", [message({ id: "7", chat, at: Date.now(), content: "new" }, "live")]);
    expect(added).toEqual({ messagesAdded: 1, liveKeys: [store.newestKey()] });
    await store.close();
  });

  it("has the tables, columns and indexes of a new store", async () => {
    await (await openVersion(version)).close();
    const fresh = join(folder, "fresh.db");
    await (await openStore(fresh)).close();
    expect(await tablesOf(path)).toEqual(await tablesOf(fresh));
  });
});

it("CH-12 the SQL of a migration never changes", () => {
  const hashes = STORE_FORM.migrations.map(({ sql }) =>
    sql === undefined ? "repair" : createHash("sha256").update(sql).digest("hex").slice(0, 12),
  );
  expect(hashes).toEqual([
    "9c8ece6dddca",
    "debe14be0a17",
    "326378cb0831",
    "96fb744133a9",
    "repair",
    "e92db508f33d",
    "cf80ce9c2666",
    "repair",
    "f18262d761f7",
  ]);
});

it("CH-12 an open store refuses to write after a newer version has migrated the file", async () => {
  const store = await openStore(path);
  const db = await connect(path);
  db.exec("PRAGMA user_version = 99");
  await db.close();
  expect(() => store.apply("s", [message({ id: "a" })])).toThrow(/newer plugboard-chat \(schema 99/);
  await store.close();
});
