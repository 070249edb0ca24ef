// Writes calls into the tables, many in one transaction. When, and what happens where it fails, is left to call-log.ts.

import { OUTCOMES } from "../calls/outcome.ts";
import type { Route, StoredParts } from "../calls/stored-call.ts";
import type { Database, Statement } from "./driver.ts";
import { HeadPack, HeadPackWriter } from "./head-pack.ts";
import { PackWriter } from "./payload-pack.ts";
import { rollBack } from "./sqlite.ts";

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
  readonly #findNewest: Statement;
  readonly #putHeads: Statement;
  readonly #addWorkflow: Statement;
  readonly #addPayload: Statement;
  /** Those of one object are of one journal; another one's are looked up again. */
  readonly #routes = new Map<Route, RoutesByOutcome>();
  readonly #findVersion: Statement;
  /** Of the database: another one after each change by somebody else. */
  #version: unknown;
  readonly #heads = new HeadPackWriter();
  readonly #payloads = new PackWriter();
  /** Nobody ever wakes who waits for it. */
  readonly #nothing = new Int32Array(new SharedArrayBuffer(4));

  constructor(db: Database) {
    this.#db = db;
    this.#begin = db.prepare("BEGIN IMMEDIATE");
    this.#commit = db.prepare("COMMIT");
    this.#findNewest = db.prepare("SELECT first, heads FROM head ORDER BY first DESC LIMIT 1");
    this.#putHeads = db.prepare("REPLACE INTO head (first, earliest, latest, heads) VALUES (?, ?, ?, ?)");
    this.#addWorkflow = db.prepare("INSERT INTO workflow (call, id) VALUES (?, ?)");
    this.#addPayload = db.prepare("INSERT INTO payload (first, sizes, bytes) VALUES (?, ?, ?)");
    const columns = "server, tool, group_name, client, error_code, outcome, truncated";
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
      const bytes = calls.length === 0 ? 0 : this.#writePayloads(calls, this.#writeHeads(calls));
      this.#commit.run();
      return bytes;
    } catch (error) {
      rollBack(this.#db);
      // Those of this transaction are not in the file.
      this.forgetRoutes();
      throw error;
    }
  }

  /** Returns the id of the first one. They go on where the newest pack ends, so that packs are full however few come at a time. */
  #writeHeads(calls: readonly StoredParts[]): number {
    const heads = this.#heads;
    const newest = this.#findNewest.get();
    if (newest === undefined) heads.start(1);
    else heads.startWith(new HeadPack(newest["first"], newest["heads"]));
    const first = heads.next;
    for (const call of calls) {
      if (heads.isFull) {
        this.#putPack();
        heads.start(heads.next);
      }
      const { at, workflowId } = call.opening;
      if (workflowId !== null) this.#addWorkflow.run(heads.next, workflowId);
      heads.add(at, this.#routeOf(call), call.end.durationUs);
    }
    this.#putPack();
    return first;
  }

  #putPack(): void {
    const { first, earliest, latest, bytes } = this.#heads;
    this.#putHeads.run(first, earliest, latest, bytes);
  }

  #writePayloads(calls: readonly StoredParts[], first: number): number {
    const pack = this.#payloads;
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
      if (!pack.isFull) continue;
      write();
      if (calls.length < FEW_CALLS) this.#rest();
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

  #routeOf({ route, opening, end: { outcome: ended, errorCode, truncated } }: StoredParts): number {
    const isCut = opening.truncated || truncated;
    const flags = OUTCOMES.indexOf(ended) * 2 + (isCut ? 1 : 0);
    const outcome = errorCode === null ? flags : `${flags} ${errorCode}`;
    let byOutcome = this.#routes.get(route);
    const known = byOutcome?.get(outcome);
    if (known !== undefined) return known;
    const { server, tool, group, client } = route;
    const row = [server, tool, group, client ?? "", errorCode ?? "", ended, isCut ? 1 : 0];
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
