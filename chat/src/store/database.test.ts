// The store's file: permissions, and which files are refused.

import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { message } from "../../../test/support/chat/events.ts";
import { connect } from "@plugboard/shared/sqlite/driver";
import { openStore } from "./store.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "plugboard-chat-store-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
const unusable = expect.objectContaining({ code: "STORE_UNUSABLE" });

it("CH-12 only the user may read the store, its side files and its folder", async () => {
  const path = join(folder, "data", "deep", "chat.db");
  const store = await openStore(path);
  store.apply("s", [message({ id: "a" })]);
  expect(await Promise.all([path, `${path}-wal`, `${path}-shm`].map(mode))).toEqual(["600", "600", "600"]);
  expect(await mode(join(folder, "data", "deep"))).toBe("700");
  await store.close();
  await chmod(path, 0o644);
  await (await openStore(path)).close();
  expect(await mode(path)).toBe("600");
});

it("CH-12 messages survive closing the store, and no side files are left", async () => {
  const path = join(folder, "chat.db");
  const first = await openStore(path);
  first.apply("s", [message({ id: "a", content: "kept" }), { type: "checkpoint", state: { at: "1" } }]);
  await first.close();
  await expect(stat(`${path}-wal`)).rejects.toThrow("ENOENT");
  const second = await openStore(path);
  expect(second.messages({ order: "desc", limit: 1, search: "kept", includeSystem: false }).items).toHaveLength(1);
  expect(second.checkpoint("s")).toEqual({ at: "1" });
  await second.close();
});

it("CH-12 a file of a newer version is refused with a hint, and stays unchanged", async () => {
  const path = join(folder, "chat.db");
  await (await openStore(path)).close();
  const db = await connect(path);
  db.exec("PRAGMA user_version = 99");
  await db.close();
  const before = await readFile(path);
  await expect(openStore(path)).rejects.toThrow(unusable);
  await expect(openStore(path)).rejects.toThrow(/newer plugboard-chat \(schema 99/);
  expect(await readFile(path)).toEqual(before);
});

it("CH-12 a file that is not a store is refused, and stays unchanged", async () => {
  const text = join(folder, "notes.txt");
  await writeFile(text, "these are notes, and no database at all\n".repeat(100));
  await expect(openStore(text)).rejects.toThrow(unusable);
  expect(await readFile(text, "utf8")).toMatch(/^these are notes/);
  const foreign = join(folder, "other.db");
  const db = await connect(foreign);
  db.exec("CREATE TABLE theirs (x)");
  await db.close();
  await expect(openStore(foreign)).rejects.toThrow(unusable);
});

it("CH-11 writing fails with BUSY while another process holds the lock; reading works", async () => {
  const path = join(folder, "chat.db");
  const store = await openStore(path, { busyMs: 50 });
  store.apply("s", [message({ id: "a" })]);
  const other = await connect(path);
  other.exec("BEGIN IMMEDIATE");
  expect(() => store.apply("s", [message({ id: "b" })])).toThrow(expect.objectContaining({ code: "BUSY" }));
  expect(store.totals("s").messages).toBe(1);
  expect(store.expire(0)).toBe(0);
  other.exec("ROLLBACK");
  expect(store.apply("s", [message({ id: "b" })]).messagesAdded).toBe(1);
  await other.close();
  await store.close();
});

it("CH-12 several stores can open a new file at the same time", async () => {
  const path = join(folder, "chat.db");
  const stores = await Promise.all(Array.from({ length: 8 }, () => openStore(path)));
  for (const [index, store] of stores.entries()) store.apply("s", [message({ id: String(index) })]);
  expect(stores.map((store) => store.totals("s").messages)).toEqual(stores.map(() => stores.length));
  for (const store of stores) await store.close();
});

it("CH-12 any text is stored unchanged, except NUL", async () => {
  const store = await openStore(join(folder, "chat.db"));
  const texts = ["", "a\0b", "é\u200b\u202e", "👨‍👩‍👧", "line\r\nline", "x".repeat(1_000_000)];
  store.apply(
    "s",
    texts.map((content, index) => message({ id: String(index), at: index, content })),
  );
  const { items } = store.messages({ order: "asc", limit: 10, includeSystem: false });
  expect(items.map(({ content }) => content)).toEqual(texts.map((text) => text.replace("\0", "\ufffd")));
  await store.close();
});
