// Opening a file of a given form: what is migrated, what is refused, and that a refused file is not changed.

import { mkdtemp, readFile, rm, stat, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { connect, isBusy, MEMORY } from "./driver.ts";
import { openDatabase, requireCurrentVersion, UnusableDatabase, type DatabaseForm } from "./open.ts";

const FORM: DatabaseForm = {
  applicationId: 0x1234,
  oldestVersion: 3,
  migrations: [
    { sql: "CREATE TABLE note (text TEXT)" },
    { sql: "ALTER TABLE note ADD COLUMN size INTEGER", repair: (db) => db.exec("UPDATE note SET size = length(text)") },
  ],
  settings: "PRAGMA journal_mode = WAL",
};
const WAIT = { waitMs: 50 };

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "plugboard-sqlite-"));
  path = join(folder, "data", "notes.db");
});
afterEach(() => rm(folder, { recursive: true }));

async function change(sql: string): Promise<void> {
  const db = await connect(path);
  db.exec(sql);
  await db.close();
}

it("creates a private file of the newest version, and opens it again", async () => {
  const db = await openDatabase(path, FORM, WAIT);
  expect([db.number("PRAGMA user_version"), db.number("PRAGMA application_id")]).toEqual([4, 0x1234]);
  db.run("INSERT INTO note VALUES (?, 1)", "a\0b");
  await db.close();
  expect([(await stat(path)).mode & 0o777, (await stat(join(folder, "data"))).mode & 0o777]).toEqual([0o600, 0o700]);
  const again = await openDatabase(path, FORM, WAIT);
  expect(again.all("SELECT text FROM note").map(({ text }) => text)).toEqual(["a\ufffdb"]);
  await again.close();
});

it("migrates a file of an earlier version: SQL first, then repairs", async () => {
  const first = { ...FORM, migrations: FORM.migrations.slice(0, 1) };
  const old = await openDatabase(path, first, WAIT);
  old.run("INSERT INTO note VALUES ('four')");
  await old.close();
  const db = await openDatabase(path, FORM, WAIT);
  expect(db.number("SELECT size FROM note")).toBe(4);
  await db.close();
});

it.each([
  ["foreign", "PRAGMA application_id = 7", undefined],
  ["newer", "PRAGMA user_version = 5", 5],
  ["older", "PRAGMA user_version = 2", 2],
] as const)("refuses a file that is %s, and leaves it unchanged", async (reason, sql, version) => {
  await (await openDatabase(path, FORM, WAIT)).close();
  await change(sql);
  const before = await readFile(path);
  await expect(openDatabase(path, FORM, WAIT)).rejects.toMatchObject({ name: "UnusableDatabase", reason, version });
  expect(await readFile(path)).toEqual(before);
});

it("refuses a file that lost its end as damaged", async () => {
  await (await openDatabase(path, FORM, WAIT)).close();
  await truncate(path, 4096);
  await expect(openDatabase(path, FORM, WAIT)).rejects.toMatchObject({ reason: "damaged" });
});

it("several openings of a new file do not take each other's growth for damage", async () => {
  const opened = await Promise.all(Array.from({ length: 8 }, () => openDatabase(path, FORM, { waitMs: 5000 })));
  for (const db of opened) await db.close();
  expect(opened).toHaveLength(8);
});

it("rejects as busy if another connection keeps the file locked, and an open file notices a newer version", async () => {
  const db = await openDatabase(path, FORM, WAIT);
  await change("PRAGMA user_version = 9");
  expect(() => requireCurrentVersion(db, FORM)).toThrow(UnusableDatabase);
  await db.close();
  await rm(path);
  const other = await connect(path);
  other.exec("BEGIN EXCLUSIVE");
  const failure = await openDatabase(path, FORM, WAIT).catch((error: unknown) => error);
  expect(isBusy(failure)).toBe(true);
  await other.close();
});

it("opens a database in memory without a file, and rolls a failed transaction back", async () => {
  const db = await openDatabase(MEMORY, FORM, WAIT);
  const fail = () =>
    db.transact(() => {
      db.run("INSERT INTO note VALUES ('x', 1)");
      throw new Error("no");
    });
  expect(fail).toThrow("no");
  expect(db.number("SELECT count(*) FROM note")).toBe(0);
  await db.close();
});
