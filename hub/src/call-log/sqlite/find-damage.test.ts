// RS-4: doctor checks whether a call log can be read, without changing it.

import { copyFile, mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { append, entry } from "../../../../test/support/calls.ts";
import { Redactor } from "../../redaction/redactor.ts";
import { connect } from "@plugboard/shared/sqlite/driver";
import { findDamage } from "./open-log.ts";
import { scrub } from "./call-table.ts";
import { SqliteCallLog } from "./sqlite-call-log.ts";

let dir: string;
let path: string;
/** A log with 50 calls, of which each test damages a copy. */
let intact: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-damage-"));
  intact = join(dir, "intact.db");
  path = join(dir, "calls.db");
  const log = new SqliteCallLog(intact, { redactor: new Redactor() });
  const result = Buffer.from(JSON.stringify("x".repeat(5000)));
  await Promise.all(Array.from({ length: 50 }, () => append(log, entry({ result }))));
  await log.close();
});
beforeEach(() => copyFile(intact, path));
afterEach(() => Promise.all(["", "-wal", "-shm"].map((suffix) => rm(path + suffix, { force: true }))));
afterAll(() => rm(dir, { recursive: true, force: true }));

async function change(sql: string): Promise<void> {
  const db = await connect(path);
  db.exec(sql);
  await db.close();
}

const look = () => findDamage(path, (db) => scrub(db));

describe("RS-4 a call log", () => {
  it("that can be read stays as it is", async () => {
    const before = await readFile(path);
    expect(await look()).toBeUndefined();
    expect((await readFile(path)).equals(before)).toBe(true);
  });

  it.each([
    ["no database at all", "damaged", () => writeFile(path, "nonsense ".repeat(1000))],
    ["cut off", "damaged", () => truncate(path, 40_960)],
    ["overwritten in the middle", "damaged", () => overwrite(20)],
    ["with one wrong bit in a result", "damaged", () => flip("xxxx")],
    ["without a table", "damaged", () => change("DROP TABLE payload")],
    ["with another name in a row", "damaged", () => change("UPDATE call SET server = 'x' WHERE id = 7")],
    ["without the payload of a call", "damaged", () => change("DELETE FROM payload WHERE call = 7")],
    ["of another program", "foreign", () => change("PRAGMA application_id = 7")],
    ["of a newer version", "newer", () => change("PRAGMA user_version = 99")],
    ["of an older version", "older", () => change("PRAGMA user_version = 4")],
  ] as const)("%s is %s", async (_, reason, harm) => {
    await harm();
    const before = await readFile(path);
    expect(await look()).toBe(reason);
    expect((await readFile(path)).equals(before)).toBe(true);
  });

  it("that another process has locked is not damaged", async () => {
    const holder = await connect(path);
    holder.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    expect(await look()).toBeUndefined();
    await holder.close();
  });
});

/** Flips the lowest bit of the last byte of the last such text; earlier ones may be in unused parts of a page. */
async function flip(text: string): Promise<void> {
  const bytes = await readFile(path);
  const at = bytes.lastIndexOf(text) + text.length - 1;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await writeFile(path, bytes);
}

/** Fills one page with bytes that SQLite never writes. */
async function overwrite(page: number): Promise<void> {
  const bytes = await readFile(path);
  bytes.fill(0xff, page * 4096, (page + 1) * 4096);
  await writeFile(path, bytes);
}
