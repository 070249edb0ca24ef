// The days of the call log: a partition each, made ahead and dropped as a whole.

import { text } from "../../identity/columns.ts";
import { sqlState } from "../failures.ts";
import type { Database, Sql } from "../database.ts";

const DAY_MS = 86_400_000;
/** A hub whose clock is a little off finds its day, too. */
const DAYS_BEHIND = 1;
const DAYS_AHEAD = 3;
const NAME = /^call_(\d{8})$/;
/** For calls of other days. */
const OTHER = "plugboard.call_other";
const CHECK_VIOLATION = "23514";

/** Only one hub at a time changes the partitions. */
const LOCK = "select pg_advisory_xact_lock(hashtextextended('plugboard call partitions', 0))";

/** Makes the partitions of the days around now. */
export async function makePartitions(db: Database, now: number): Promise<void> {
  const today = Math.floor(now / DAY_MS);
  for (let day = today - DAYS_BEHIND; day <= today + DAYS_AHEAD; day++) {
    const name = `plugboard.call_${nameOf(day)}`;
    try {
      await db.transact(async (sql) => {
        await sql.run(LOCK);
        const [found] = await sql.rows("select to_regclass($1) is not null as exists", name);
        if (found?.["exists"] === true) return;
        await sql.run(
          `create table ${name} partition of plugboard.call for values from (${day * DAY_MS}) to (${(day + 1) * DAY_MS})`,
        );
      });
    } catch (error) {
      // Calls of that day are in the table for other days already, and stay there.
      if (!(error instanceof Error) || sqlState(error.cause) !== CHECK_VIOLATION) throw error;
    }
  }
}

interface Partition {
  readonly name: string;
  /** The first millisecond after it. */
  readonly end: number;
}

/** Oldest first. */
async function listPartitions(sql: Sql): Promise<Partition[]> {
  const rows = await sql.rows(
    `select relname from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = 'plugboard.call'::regclass order by relname`,
  );
  return rows.flatMap((row) => {
    const [name, digits] = NAME.exec(text(row["relname"])) ?? [];
    if (name === undefined || digits === undefined) return [];
    const [year, month, day] = [digits.slice(0, 4), digits.slice(4, 6), digits.slice(6)];
    return [{ name: `plugboard.${name}`, end: Date.parse(`${year}-${month}-${day}T00:00:00Z`) + DAY_MS }];
  });
}

/** Removes the calls of days that ended before `at`. Returns their number. */
export function dropBefore(db: Database, at: number): Promise<number> {
  return db.transact(async (sql) => {
    await sql.run(LOCK);
    let removed = await sql.run(`delete from ${OTHER} where at < $1`, at);
    for (const { name, end } of await listPartitions(sql)) if (end <= at) removed += await drop(sql, name);
    return removed;
  });
}

/** Drops the oldest days, but never the current one, until the rest is small enough. Returns the number of calls. */
export function dropAbove(db: Database, maxBytes: number, now: number): Promise<number> {
  return db.transact(async (sql) => {
    await sql.run(LOCK);
    let removed = 0;
    for (const { name, end } of await listPartitions(sql)) {
      if (end > now || (await bytesOf(sql)) <= maxBytes) break;
      removed += await drop(sql, name);
    }
    return removed;
  });
}

export async function bytesOf(sql: Sql): Promise<number> {
  const [row] = await sql.rows(
    "select sum(pg_total_relation_size(inhrelid)) as bytes from pg_inherits where inhparent = 'plugboard.call'::regclass",
  );
  return Number(row?.["bytes"] ?? 0);
}

async function drop(sql: Sql, name: string): Promise<number> {
  const [row] = await sql.rows(`select count(*) as count from ${name}`);
  await sql.run(`drop table ${name}`);
  return Number(row?.["count"]);
}

function nameOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "");
}
