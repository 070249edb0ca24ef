// Answers queries of the call log: walks from the newest call to the oldest, a stretch at a time, and lets the event loop
// go on in between. There is no index to choose (see call-schema.ts); what can be left out is known to stretches.ts.

import { setImmediate as nextTurn } from "node:timers/promises";
import { parseBounds, toCursor, type PageBounds } from "../calls/call-query.ts";
import type { CallPage, CallQuery, CallRow } from "../calls/log.ts";
import { sizeBytes, toCallRow, type StoredCall } from "../calls/stored-call.ts";
import type { Database, SqlRow, SqlValue } from "./driver.ts";
import { PackReader, type Payload } from "./payload-pack.ts";
import { readNumber } from "./sqlite.ts";
import { Stretch, Stretches, type CallFilter } from "./stretches.ts";

/** After this long, others get their turn. */
const MAX_HOLD_MS = 2;
/** Rows that one statement reads. */
const MAX_READ = 32;
/** A page holds no more than this, so that a large limit does not fill the memory. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;

export class CallReader {
  readonly #db: Database;
  readonly #stretches: Stretches;

  constructor(db: Database) {
    this.#db = db;
    this.#stretches = new Stretches(db);
  }

  async query(query: CallQuery): Promise<CallPage> {
    const { limit, below, above } = parseBounds(query);
    const filter = this.#filterOf(query);
    if (filter === undefined) return { items: [], next_cursor: null };
    const ids = await this.#findIds(filter, { limit: limit + 1, below, above });
    return this.#read(ids, limit);
  }

  /** The newest ids that match, newest first. */
  async #findIds(filter: CallFilter, { limit, below, above }: PageBounds): Promise<number[]> {
    const last = this.#newestId(Number.MAX_SAFE_INTEGER);
    const oldest = Math.max(above, readNumber(this.#db, "SELECT min(id) FROM call") - 1);
    const ids: number[] = [];
    let newest = Math.min(below - 1, last);
    let turnAt = performance.now();
    while (newest > oldest && ids.length < limit) {
      const stretch = new Stretch(newest, { oldest, last });
      const found = this.#stretches.hasNone(stretch, filter) ? [] : this.#findIn(stretch, filter, limit - ids.length);
      if (found.length === 0) this.#stretches.learnNone(stretch, filter);
      ids.push(...found);
      // Over what was pruned, or never was, in one step.
      newest = found.length === 0 ? this.#newestId(stretch.from) : stretch.from;
      if (performance.now() - turnAt < MAX_HOLD_MS) continue;
      await nextTurn();
      turnAt = performance.now();
    }
    return ids;
  }

  #findIn({ from, to }: Stretch, { sql, values, since, until }: CallFilter, limit: number): number[] {
    const find = this.#db.prepare(
      `SELECT id FROM call WHERE id > ? AND id <= ? AND at >= ? AND at < ?${sql} ORDER BY id DESC LIMIT ?`,
    );
    return find.all(from, to, since, until, ...values, limit).map(({ id }) => Number(id));
  }

  #newestId(upTo: number): number {
    return Number(this.#db.prepare("SELECT max(id) AS id FROM call WHERE id <= ?").get(upTo)?.["id"] ?? 0);
  }

  async #read(ids: readonly number[], limit: number): Promise<CallPage> {
    const read = this.#db.prepare(
      `SELECT call.*, server, tool, group_name, client, error_code, success, truncated
       FROM json_each(?) AS wanted JOIN call ON call.id = wanted.value
       LEFT JOIN route ON route.id = call.route ORDER BY call.id DESC`,
    );
    const payloads = new Payloads(this.#db);
    const items: CallRow[] = [];
    let bytes = 0;
    for (let at = 0; at < ids.length; at += MAX_READ) {
      for (const row of read.all(JSON.stringify(ids.slice(at, at + MAX_READ)))) {
        const last = items.at(-1);
        if (last !== undefined && (items.length === limit || bytes > MAX_PAGE_BYTES)) {
          return { items, next_cursor: toCursor(last.id) };
        }
        const id = Number(row["id"]);
        const call = toStoredCall(row, payloads.get(id));
        bytes += sizeBytes(call);
        items.push(toCallRow(id, call));
      }
      await nextTurn();
    }
    return { items, next_cursor: null };
  }

  /** Undefined where nothing can match. */
  #filterOf(query: CallQuery): CallFilter | undefined {
    const conditions: [sql: string, value: SqlValue][] = [];
    const add = (sql: string, value: SqlValue | undefined) => {
      if (value !== undefined) conditions.push([sql, value]);
    };
    const routes = this.#findRoutes(query);
    if (routes?.length === 0) return undefined;
    add("route IN (SELECT value FROM json_each(?))", routes && JSON.stringify(routes));
    add("duration_us > ?", query.slowerThanMs === undefined ? undefined : query.slowerThanMs * 1000);
    add("workflow_id = ?", query.workflowId);
    const sql = conditions.map(([condition]) => ` AND ${condition}`).join("");
    const values = conditions.map(([, value]) => value);
    const { since = -Number.MAX_VALUE, until = Number.MAX_VALUE } = query;
    return { sql, values, since, until, key: JSON.stringify([sql, values]) };
  }

  /** Undefined where any will do. */
  #findRoutes({ server, tool, group, client, success: ok }: CallQuery): number[] | undefined {
    const wanted = { server, tool, group_name: group, client, success: ok === undefined ? undefined : Number(ok) };
    const columns = Object.entries(wanted).flatMap(([column, value]) =>
      value === undefined ? [] : [{ column, value }],
    );
    if (columns.length === 0) return undefined;
    const where = columns.map(({ column }) => `${column} = ?`).join(" AND ");
    const find = this.#db.prepare(`SELECT id FROM route WHERE ${where}`);
    return find.all(...columns.map(({ value }) => value)).map(({ id }) => Number(id));
  }
}

/** Asked from the newest call to the oldest: those of one pack follow one another. */
class Payloads {
  readonly #db: Database;
  #first = Infinity;
  #pack = new PackReader(undefined, undefined);

  constructor(db: Database) {
    this.#db = db;
  }

  get(id: number): Payload {
    if (id < this.#first) {
      const find = this.#db.prepare(
        "SELECT first, sizes, bytes FROM payload WHERE first <= ? ORDER BY first DESC LIMIT 1",
      );
      const row = find.get(id);
      this.#first = Number(row?.["first"] ?? -Infinity);
      this.#pack = new PackReader(row?.["sizes"], row?.["bytes"]);
    }
    return this.#pack.get(id - this.#first);
  }
}

function toStoredCall(row: SqlRow, { params, result }: Payload): StoredCall {
  return {
    at: Number(row["at"]),
    server: text(row["server"]) ?? "",
    tool: text(row["tool"]) ?? "",
    group: text(row["group_name"]) ?? "",
    client: text(row["client"]) || null,
    workflowId: text(row["workflow_id"]),
    params,
    result,
    success: row["success"] === 1,
    durationUs: Number(row["duration_us"]),
    errorCode: text(row["error_code"]) || null,
    truncated: row["truncated"] === 1,
  };
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
