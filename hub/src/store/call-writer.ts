// Writes calls into the tables, many in one transaction. When, and what happens where it fails, is left to call-log.ts.

import { ByRoute } from "../calls/by-route.ts";
import type { StoredCall } from "../calls/stored-call.ts";
import type { Database, SqlValue, Statement } from "./driver.ts";
import { rollBack } from "./sqlite.ts";

/** Rows of one statement: each run of one costs as much as a row or two. Powers of two, so that few statements do. */
const MAX_ROWS = 32;
/** Up to so many calls there is no hurry. */
const FEW_CALLS = 500;
/**
 * Between two statements, where there is none. Whoever shares the core with this thread waits until it rests or has had its slice of
 * time, and that is some milliseconds: one call in a hundred would have to, where they come one after the other.
 */
const REST_MS = 0.5;
/** Routes that are remembered; forgetting them only costs a look into the table. */
const MAX_ROUTES = 1000;

/** That a journal has been entered so far; not if somebody else has entered any of it meanwhile. */
export interface JournalMark {
  readonly journal: string;
  readonly from: number;
  readonly to: number;
}

export class EnteredElsewhere extends Error {}

interface Inserts {
  readonly calls: Statement;
  readonly payloads: Statement;
}

export class CallWriter {
  readonly #db: Database;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #findRoute: Statement;
  readonly #addRoute: Statement;
  readonly #findDone: Statement;
  readonly #addDone: Statement;
  readonly #setDone: Statement;
  readonly #removeDone: Statement;
  readonly #inserts = new Map<number, Inserts>();
  readonly #routes = new ByRoute<number>();
  /** Nobody ever wakes who waits for it. */
  readonly #nothing = new Int32Array(new SharedArrayBuffer(4));

  constructor(db: Database) {
    this.#db = db;
    this.#begin = db.prepare("BEGIN IMMEDIATE");
    this.#commit = db.prepare("COMMIT");
    const columns = "server, tool, group_name, error_code";
    this.#findRoute = db.prepare(`SELECT id FROM route WHERE (${columns}) = (?, ?, ?, ?)`);
    this.#addRoute = db.prepare(`INSERT INTO route (${columns}) VALUES (?, ?, ?, ?)`);
    this.#findDone = db.prepare("SELECT done FROM journal WHERE name = ?");
    this.#addDone = db.prepare("INSERT OR IGNORE INTO journal (name, done) VALUES (?, 0)");
    this.#setDone = db.prepare("UPDATE journal SET done = ? WHERE name = ? AND done = ?");
    this.#removeDone = db.prepare("DELETE FROM journal WHERE name = ?");
  }

  doneOf(journal: string): number {
    return Number(this.#findDone.get(journal)?.["done"] ?? 0);
  }

  forget(journal: string): void {
    this.#removeDone.run(journal);
  }

  /** All of them, or none and an error. */
  write(calls: readonly StoredCall[], { journal, from, to }: JournalMark): void {
    this.#begin.run();
    try {
      if (from === 0) this.#addDone.run(journal);
      if (Number(this.#setDone.run(to, journal, from).changes) !== 1) {
        throw new EnteredElsewhere(`${journal} is being entered by somebody else`);
      }
      for (let at = 0; at < calls.length;) {
        const count = Math.min(MAX_ROWS, 2 ** Math.floor(Math.log2(calls.length - at)));
        this.#insert(calls, at, count);
        at += count;
        if (calls.length < FEW_CALLS && at < calls.length) this.#rest();
      }
      this.#commit.run();
    } catch (error) {
      rollBack(this.#db);
      // Those of this transaction are not in the file.
      this.#routes.clear();
      throw error;
    }
  }

  #insert(calls: readonly StoredCall[], from: number, count: number): void {
    const { calls: insertCalls, payloads: insertPayloads } = this.#insertsOf(count);
    const rows: SqlValue[] = [];
    for (let index = from; index < from + count; index++) {
      const call = calls[index];
      if (call === undefined) break;
      const { at, durationUs, success, truncated, client, workflowId } = call;
      rows.push(at, this.#routeOf(call), durationUs, success ? 1 : 0, truncated ? 1 : 0, client, workflowId);
    }
    // Nobody else writes during the transaction, so the ids follow one another.
    let id = Number(insertCalls.run(...rows).lastInsertRowid) - count;
    const payloads: SqlValue[] = [];
    for (let index = from; index < from + count; index++) {
      payloads.push(++id, calls[index]?.params ?? null, calls[index]?.result ?? null);
    }
    insertPayloads.run(...payloads);
  }

  #rest(): void {
    Atomics.wait(this.#nothing, 0, 0, REST_MS);
  }

  #insertsOf(count: number): Inserts {
    const known = this.#inserts.get(count);
    if (known !== undefined) return known;
    const repeat = (row: string) => Array.from({ length: count }, () => row).join(", ");
    const inserts = {
      calls: this.#db.prepare(
        `INSERT INTO call (at, route, duration_us, success, truncated, client, workflow_id) VALUES ${repeat("(?, ?, ?, ?, ?, ?, ?)")}`,
      ),
      payloads: this.#db.prepare(`INSERT INTO payload (id, params, result) VALUES ${repeat("(?, ?, ?)")}`),
    };
    this.#inserts.set(count, inserts);
    return inserts;
  }

  #routeOf({ server, tool, group, errorCode }: StoredCall): number {
    const known = this.#routes.get(server, tool, group, errorCode);
    if (known !== undefined) return known;
    const values = [server, tool, group, errorCode ?? ""];
    const id = Number(this.#findRoute.get(...values)?.["id"] ?? this.#addRoute.run(...values).lastInsertRowid);
    if (this.#routes.size >= MAX_ROUTES) this.#routes.clear();
    this.#routes.set([server, tool, group, errorCode], id);
    return id;
  }
}
