// Writes calls into the tables, many in one transaction. When, and what happens where it fails, is left to call-log.ts.

import type { Route, StoredParts } from "../calls/stored-call.ts";
import type { Database, SqlValue, Statement } from "./driver.ts";
import { PackWriter } from "./payload-pack.ts";
import { rollBack } from "./sqlite.ts";

/** Rows of one statement: each run of one costs as much as a row or two. Powers of two, so that few statements do. */
const MAX_ROWS = 32;
const COLUMNS = ["at", "route", "duration_us"] as const;
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
  readonly #addPayload: Statement;
  /** By the numbers of rows and columns. */
  readonly #addCalls = new Map<string, Statement>();
  /** Those of one object are of one journal; another one's are looked up again. */
  readonly #routes = new Map<Route, RoutesByOutcome>();
  readonly #findVersion: Statement;
  /** Of the database: another one after each change by somebody else. */
  #version: unknown;
  readonly #pack = new PackWriter();
  /** Nobody ever wakes who waits for it. */
  readonly #nothing = new Int32Array(new SharedArrayBuffer(4));

  constructor(db: Database) {
    this.#db = db;
    this.#begin = db.prepare("BEGIN IMMEDIATE");
    this.#commit = db.prepare("COMMIT");
    this.#addPayload = db.prepare("INSERT INTO payload (first, sizes, bytes) VALUES (?, ?, ?)");
    const columns = "server, tool, group_name, client, error_code, success, truncated";
    this.#findRoute = db.prepare(`SELECT id FROM route WHERE (${columns}) = (?, ?, ?, ?, ?, ?, ?)`);
    this.#addRoute = db.prepare(`INSERT INTO route (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
    this.#findVersion = db.prepare("PRAGMA data_version");
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

  /** Some may have been removed: what is known of them is looked up again. */
  forgetRoutes(): void {
    this.#routes.clear();
  }

  /** All of them, or none and an error. Returns the room that their payloads take, in bytes. */
  write(calls: readonly StoredParts[], { journal, from, to }: JournalMark): number {
    this.#begin.run();
    try {
      this.#checkRoutes();
      if (from === 0) this.#addDone.run(journal);
      if (Number(this.#setDone.run(to, journal, from).changes) !== 1) {
        throw new EnteredElsewhere(`${journal} is being entered by somebody else`);
      }
      const bytes = this.#writePayloads(calls, this.#writeCalls(calls));
      this.#commit.run();
      return bytes;
    } catch (error) {
      rollBack(this.#db);
      // Those of this transaction are not in the file.
      this.forgetRoutes();
      throw error;
    }
  }

  /** Returns the id of the first one. Nobody else writes during the transaction, so the others follow it. */
  #writeCalls(calls: readonly StoredParts[]): number {
    let last = 0;
    for (let at = 0; at < calls.length;) {
      const count = Math.min(MAX_ROWS, 2 ** Math.floor(Math.log2(calls.length - at)));
      last = this.#writeRows(calls.slice(at, at + count));
      at += count;
      if (calls.length < FEW_CALLS && at < calls.length) this.#rest();
    }
    return last - calls.length + 1;
  }

  #writeRows(calls: readonly StoredParts[]): number {
    const hasWorkflow = calls.some(({ opening }) => opening.workflowId !== null);
    const values: SqlValue[] = [];
    for (const call of calls) {
      values.push(call.opening.at, this.#routeOf(call), call.end.durationUs);
      // Each value costs, and hardly a call has this one.
      if (hasWorkflow) values.push(call.opening.workflowId);
    }
    const columns = hasWorkflow ? [...COLUMNS, "workflow_id"] : COLUMNS;
    return Number(this.#adding(calls.length, columns).run(...values).lastInsertRowid);
  }

  #adding(count: number, columns: readonly string[]): Statement {
    const key = `${count} ${columns.length}`;
    const known = this.#addCalls.get(key);
    if (known !== undefined) return known;
    const row = `(${columns.map(() => "?").join(", ")})`;
    const rows = Array.from({ length: count }, () => row).join(", ");
    const statement = this.#db.prepare(`INSERT INTO call (${columns.join(", ")}) VALUES ${rows}`);
    this.#addCalls.set(key, statement);
    return statement;
  }

  #writePayloads(calls: readonly StoredParts[], first: number): number {
    const pack = this.#pack;
    let next = first;
    let written = 0;
    const write = () => {
      const { calls: count } = pack;
      const { sizes, bytes } = pack.take();
      this.#addPayload.run(next, sizes, bytes);
      next += count;
      written += sizes.length + bytes.length;
    };
    for (const { opening, end } of calls) {
      pack.add(opening.params, end.result);
      if (pack.isFull) write();
    }
    if (pack.calls > 0) write();
    return written;
  }

  #rest(): void {
    Atomics.wait(this.#nothing, 0, 0, REST_MS);
  }

  /** Somebody else who prunes the file may have removed some. */
  #checkRoutes(): void {
    const version = this.#findVersion.get()?.["data_version"];
    if (version !== this.#version) this.forgetRoutes();
    this.#version = version;
  }

  #routeOf({ route, opening, end: { success, errorCode, truncated } }: StoredParts): number {
    const isCut = opening.truncated || truncated;
    const flags = (success ? 1 : 0) + (isCut ? 2 : 0);
    const outcome = errorCode === null ? flags : `${flags} ${errorCode}`;
    let byOutcome = this.#routes.get(route);
    const known = byOutcome?.get(outcome);
    if (known !== undefined) return known;
    const { server, tool, group, client } = route;
    const row = [server, tool, group, client ?? "", errorCode ?? "", success ? 1 : 0, isCut ? 1 : 0];
    const id = Number(this.#findRoute.get(...row)?.["id"] ?? this.#addRoute.run(...row).lastInsertRowid);
    if (byOutcome === undefined) {
      if (this.#routes.size >= MAX_ROUTES) this.forgetRoutes();
      byOutcome = new Map();
      this.#routes.set(route, byOutcome);
    }
    byOutcome.set(outcome, id);
    return id;
  }
}

/** Numbers of routes, by how calls came out. */
type RoutesByOutcome = Map<string | number, number>;
