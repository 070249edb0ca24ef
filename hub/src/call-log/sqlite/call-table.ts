// The statements of the call log's database: inserts calls, answers queries, counts, prunes, and verifies checksums.

import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { toStorable, type Database, type SqlRow, type SqlValue } from "@plugboard/shared/sqlite/driver";
import { COLUMNS, joinCall, readEnd, readStart, sizeBytes, toCallRow, toSummary } from "../call-record.ts";
import type { CallHead, CallPayload, StoredCall } from "../call-record.ts";
import type { CallLogUsage, CallPage, CallQuery, CallSummaryPage, Retention } from "../port.ts";
import { AlreadyIngested, type JournalMark } from "../journal/call-store.ts";
import { PREVIEW_SOURCE } from "../preview.ts";
import { conditions, parseBounds, toCursor } from "../query.ts";
import { searchText } from "./call-search.ts";

/** Rows of one INSERT: 16 rows at a time take 40 % less CPU than one by one. */
const INSERT_ROWS = 16;
/** Up to this many calls in the wanted time, the index on time is faster than a scan by id. */
const MAX_BY_TIME = 10_000;
/** Bounds the memory of one page. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
/** Payloads that are read before other work of the thread gets a chance. */
const READ_ROWS = 32;
const PRUNE_ROWS = 200;
const SCRUB_ROWS = 100;
/** A scrub in the background sleeps this many times as long as it works. */
const SCRUB_PAUSES = 4;

// eslint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of COLUMNS are those of a head
const KEYS = Object.keys(COLUMNS) as (keyof CallHead)[];
/** The columns of version 5. */
const FIRST_COLUMNS = 10;
const HEAD_NAMES = KEYS.map((key) => COLUMNS[key].name).join(", ");
/** Rows have the same keys as heads. */
const SELECT_HEAD = KEYS.map((key) => `${COLUMNS[key].name} AS "${key}"`).join(", ");
const INSERT_CALL = insertSql("call", `id, ${HEAD_NAMES}, checksum`);
const INSERT_PAYLOAD = insertSql("payload", "call, params, result");

export class CallTable {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The number of bytes of a journal that are ingested. */
  doneOf(journal: string): number {
    return Number(this.#db.prepare("SELECT done FROM journal WHERE name = ?").get(journal)?.["done"] ?? 0);
  }

  forgetJournal(journal: string): void {
    this.#db.prepare("DELETE FROM journal WHERE name = ?").run(journal);
  }

  /** Inserts all calls and the mark, or nothing. */
  insert(calls: readonly StoredCall[], { journal, from, to }: JournalMark): void {
    this.#db.transact(() => {
      if (from === 0) this.#db.prepare("INSERT OR IGNORE INTO journal (name, done) VALUES (?, 0)").run(journal);
      const mark = this.#db.prepare("UPDATE journal SET done = ? WHERE name = ? AND done = ?").run(to, journal, from);
      if (Number(mark.changes) !== 1) throw new AlreadyIngested(`Another process ingests ${journal}`);
      if (calls.length === 0) return;
      const first = this.#db.number("SELECT last FROM sequence") + 1;
      this.#insertRows(calls, first);
      this.#db.prepare("UPDATE sequence SET last = ?").run(first + calls.length - 1);
    });
  }

  #insertRows(calls: readonly StoredCall[], first: number): void {
    let done = 0;
    while (done < calls.length) {
      const count = calls.length - done >= INSERT_ROWS ? INSERT_ROWS : 1;
      const heads: SqlValue[] = [];
      const payloads: SqlValue[] = [];
      for (let index = done; index < done + count; index++) {
        const call = calls[index];
        if (call === undefined) continue;
        const values = toValues(call);
        heads.push(first + index, ...values, checksumOf(first + index, values, call));
        payloads.push(first + index, call.params, call.result);
      }
      this.#db.prepare(count === 1 ? INSERT_CALL.one : INSERT_CALL.many).run(...heads);
      this.#db.prepare(count === 1 ? INSERT_PAYLOAD.one : INSERT_PAYLOAD.many).run(...payloads);
      done += count;
    }
  }

  query(query: CallQuery): Promise<CallPage> {
    return this.#page(query, (id, head) => {
      const call = joinCall(readStart(head), readEnd(head), this.#payloadOf(id));
      return { row: toCallRow(id, call), bytes: sizeBytes(call) };
    });
  }

  summaries(query: CallQuery): Promise<CallSummaryPage> {
    return this.#page(query, (id, head) => {
      const short = this.#shortPayloadOf(id);
      const call = joinCall(readStart(head), readEnd(head), toPayload(short));
      const sizes = { params: toSize(short["paramBytes"]), result: toSize(short["resultBytes"]) };
      return { row: toSummary(id, call, sizes), bytes: 0 };
    });
  }

  async #page<R extends { readonly id: number }>(
    query: CallQuery,
    toRow: (id: number, head: SqlRow) => { readonly row: R; readonly bytes: number },
  ): Promise<{ items: R[]; next_cursor: string | null }> {
    const { limit, below, above } = parseBounds(query);
    if (query.text !== undefined) {
      const found = await searchText(this.#db, query, SELECT_HEAD);
      const items = found.rows.map((row) => toRow(Number(row["id"]), row).row);
      return { items, next_cursor: found.next === undefined ? null : toCursor(found.next) };
    }
    const { sql, values } = conditions(query);
    const where = ["id < ?", "id > ?", ...sql].join(" AND ");
    // One extra row shows whether there is another page.
    const text = `SELECT id, ${SELECT_HEAD} FROM call ${this.#indexFor(query)} WHERE ${where} ORDER BY id DESC LIMIT ?`;
    const rows = this.#db.prepare(text).all(below, above, ...values, limit + 1);
    const items: R[] = [];
    let bytes = 0;
    for (const [index, row] of rows.entries()) {
      const last = items.at(-1);
      if (last !== undefined && (items.length === limit || bytes > MAX_PAGE_BYTES)) {
        return { items, next_cursor: toCursor(last.id) };
      }
      const next = toRow(Number(row["id"]), row);
      bytes += next.bytes;
      items.push(next.row);
      if (index % READ_ROWS === READ_ROWS - 1) await nextTurn();
    }
    return { items, next_cursor: null };
  }

  /** Without statistics SQLite would use the index on time for any range, and then sort. */
  #indexFor({ workflowId, since, until }: CallQuery): string {
    if (workflowId !== undefined) return "INDEXED BY call_workflow";
    if (since === undefined && until === undefined) return "NOT INDEXED";
    const { sql, values } = conditions({ since, until });
    const some = `SELECT 1 FROM call INDEXED BY call_at WHERE ${sql.join(" AND ")} LIMIT ${MAX_BY_TIME}`;
    const count = this.#db.prepare(`SELECT count(*) AS count FROM (${some})`).get(...values)?.["count"];
    return Number(count) < MAX_BY_TIME ? "INDEXED BY call_at" : "NOT INDEXED";
  }

  #payloadOf(id: number): CallPayload {
    return toPayload(this.#db.prepare("SELECT params, result FROM payload WHERE call = ?").get(id) ?? {});
  }

  /** What a summary needs of the payload: the result only of a call that failed. */
  #shortPayloadOf(id: number): SqlRow {
    const sql = `SELECT substr(params, 1, ${PREVIEW_SOURCE}) AS params, iif(outcome = 'ok', NULL, result) AS result,
        length(CAST(params AS BLOB)) AS paramBytes, length(CAST(result AS BLOB)) AS resultBytes
      FROM call JOIN payload ON payload.call = call.id WHERE id = ?`;
    return this.#db.prepare(sql).get(id) ?? {};
  }

  usage(): CallLogUsage {
    const oldest = this.#db.get("SELECT min(at) AS at FROM call")?.["at"];
    return { bytes: this.#usedBytes(), oldestAt: typeof oldest === "number" ? COLUMNS.at.read(oldest) : undefined };
  }

  /** Removes calls beyond the retention in small transactions, with pauses. Returns their number. */
  async prune(now: number, retention: Retention, isStopped: () => boolean): Promise<number> {
    const pace = new Pace(1);
    const tooOld = "SELECT id FROM call WHERE at < ? ORDER BY at LIMIT ?";
    const oldest = "SELECT id FROM call WHERE ? ORDER BY id LIMIT ?";
    let removed = 0;
    const remove = async (sql: string, value: number, count: number) => {
      const found = this.#remove(this.#db.prepare(sql).all(value, count));
      removed += found;
      await pace.keep();
      return found === 0 || isStopped();
    };
    while (!(await remove(tooOld, now - retention.maxAgeMs, PRUNE_ROWS)));
    let calls = this.#db.number("SELECT count(*) FROM call");
    for (let before = removed; !isStopped(); before = removed) {
      const excess = this.#excess(calls, retention);
      if (excess === 0 || (await remove(oldest, 1, Math.min(excess, PRUNE_ROWS)))) break;
      calls -= removed - before;
    }
    return removed;
  }

  /** Removes the calls that began before a time, in small transactions, with pauses. Returns their number. */
  async deleteBefore(at: number, isStopped: () => boolean): Promise<number> {
    const pace = new Pace(1);
    const some = this.#db.prepare("SELECT id FROM call WHERE at < ? ORDER BY at LIMIT ?");
    for (let removed = 0; ;) {
      const found = this.#remove(some.all(at, PRUNE_ROWS));
      removed += found;
      if (found === 0 || isStopped()) return removed;
      await pace.keep();
    }
  }

  #remove(rows: readonly SqlRow[]): number {
    const ids = JSON.stringify(rows.map(({ id }) => Number(id)));
    return this.#db.transact(() => {
      this.#db.prepare("DELETE FROM payload WHERE call IN (SELECT value FROM json_each(?))").run(ids);
      const { changes } = this.#db.prepare("DELETE FROM call WHERE id IN (SELECT value FROM json_each(?))").run(ids);
      return Number(changes);
    });
  }

  /** The number of calls beyond the row limit, or beyond the size limit at their average size. */
  #excess(calls: number, { maxRows, maxBytes }: Retention): number {
    return Math.max(0, calls - maxRows, Math.ceil(calls * (1 - maxBytes / this.#usedBytes())));
  }

  /** Without the pages that removed calls leave to new ones. */
  #usedBytes(): number {
    const pages = this.#db.number("PRAGMA page_count") - this.#db.number("PRAGMA freelist_count");
    return pages * this.#db.number("PRAGMA page_size");
  }
}

/**
 * Verifies the checksum of every row; SQLite itself notices damage only in the structure of a page. Returns a sentence about the
 * first damaged call, or undefined. Throws SQLite's own errors.
 *
 * @param isStopped asked between the steps of a scrub in the background, which then pauses; without it there are no pauses
 */
export async function scrub(db: Database, isStopped?: () => boolean): Promise<string | undefined> {
  const read = db.prepare(
    `SELECT id, ${SELECT_HEAD}, checksum, params, result FROM call LEFT JOIN payload ON payload.call = call.id
      WHERE id > ? ORDER BY id LIMIT ?`,
  );
  const pace = new Pace(SCRUB_PAUSES);
  for (let last = -1; ;) {
    const rows = read.all(last, SCRUB_ROWS);
    const damaged = rows.find((row) => !isIntact(row));
    if (damaged !== undefined) return `call ${String(damaged["id"])} is not what was written`;
    const next = Number(rows.at(-1)?.["id"] ?? last);
    // In a damaged file the ids may be in any order.
    if (rows.length < SCRUB_ROWS || !(next > last)) return undefined;
    last = next;
    if (isStopped === undefined) continue;
    await pace.keep();
    if (isStopped()) return undefined;
  }
}

function isIntact(row: SqlRow): boolean {
  const values = KEYS.map((key) => row[key]);
  return row["checksum"] === checksumOf(Number(row["id"]), values, toPayload(row));
}

/** Columns that were added later count only if they have a value, so that the checksums of older rows stay valid. */
function checksumOf(id: number, values: readonly unknown[], { params, result }: CallPayload): number {
  const first = values.slice(0, FIRST_COLUMNS).join("\n");
  let text = `${id}\n${first}\n${params ?? ""}\n${result ?? ""}`;
  for (let index = FIRST_COLUMNS; index < values.length; index++) {
    const value = values[index];
    if (typeof value === "string" || typeof value === "number") text += `\n${KEYS[index]}=${value}`;
  }
  return crc32(text);
}

function toValues(call: CallHead): SqlValue[] {
  return KEYS.map((key) => {
    const value = call[key];
    // As it is read back: the checksum is compared then.
    return typeof value === "boolean" ? Number(value) : toStorable(value);
  });
}

function toPayload({ params, result }: SqlRow): CallPayload {
  return {
    params: typeof params === "string" ? params : null,
    result: typeof result === "string" ? result : null,
  };
}

function toSize(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function insertSql(table: string, columns: string): { readonly one: string; readonly many: string } {
  const row = `(${columns.replaceAll(/\w+/g, "?")})`;
  const one = `INSERT INTO ${table} (${columns}) VALUES ${row}`;
  return { one, many: one + `, ${row}`.repeat(INSERT_ROWS - 1) };
}

/** Pauses after each few milliseconds of work, so that ingestion and queries can continue. */
class Pace {
  static readonly #STEP_MS = 4;
  readonly #pauses: number;
  #since = performance.now();

  constructor(pauses: number) {
    this.#pauses = pauses;
  }

  async keep(): Promise<void> {
    const workedMs = performance.now() - this.#since;
    if (workedMs < Pace.#STEP_MS) return;
    await sleep(workedMs * this.#pauses);
    this.#since = performance.now();
  }
}
