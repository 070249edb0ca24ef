// RS-4: whether a call log can be read, found out without changing it.

import { mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { append } from "../../../test/support/calls.ts";
import { Redactor } from "../calls/redact.ts";
import { SqliteCallLog } from "./call-log.ts";
import { CALL_LOG_FORM } from "./call-schema.ts";
import { connect } from "./driver.ts";
import { findDamage } from "./sqlite.ts";

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-damage-"));
  path = join(dir, "calls.db");
  const log = new SqliteCallLog(path, { redactor: new Redactor() });
  const call = { at: Date.now(), server: "s", tool: "t", group: "g", outcome: "ok" as const, durationMs: 1 };
  const result = Buffer.from(JSON.stringify("x".repeat(5000)));
  for (let index = 0; index < 50; index++) await append(log, { ...call, params: undefined, result });
  await log.close();
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function change(sql: string): Promise<void> {
  const db = await connect(path);
  db.exec(sql);
  await db.close();
}

const look = () => findDamage(path, CALL_LOG_FORM);

describe("RS-4 a call log", () => {
  it("that can be read is left as it is", async () => {
    const before = await readFile(path);
    expect(await look()).toBeUndefined();
    expect((await readFile(path)).equals(before)).toBe(true);
  });

  it.each([
    ["no database at all", "damaged", () => writeFile(path, "nonsense ".repeat(1000))],
    ["cut off", "damaged", () => truncate(path, 40_960)],
    ["overwritten in the middle", "damaged", () => overwrite(20)],
    ["without a table", "damaged", () => change("DROP TABLE payload")],
    ["of another program", "foreign", () => change("PRAGMA application_id = 7")],
    ["of a newer version", "newer", () => change("PRAGMA user_version = 99")],
  ] as const)("%s is %s", async (_, reason, harm) => {
    await harm();
    const before = await readFile(path);
    expect(await look()).toBe(reason);
    expect((await readFile(path)).equals(before)).toBe(true);
  });

  it("that somebody holds just now is not damaged", async () => {
    const holder = await connect(path);
    holder.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    expect(await look()).toBeUndefined();
    await holder.close();
  });
});

/** One page, with what no SQLite writes. */
async function overwrite(page: number): Promise<void> {
  const bytes = await readFile(path);
  bytes.fill(0xff, page * 4096, (page + 1) * 4096);
  await writeFile(path, bytes);
}
