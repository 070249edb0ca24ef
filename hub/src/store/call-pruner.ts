// Removes the oldest calls: what is too old, and what is too much. A pack of heads at a time, with pauses as long as the
// work, so that calls go on meanwhile.

import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "./driver.ts";
import { HEAD, HeadPack, HeadPackWriter } from "./head-pack.ts";
import type { Retention } from "./retention.ts";
import { readNumber, rollBack } from "./sqlite.ts";

/** After this long, others get their turn. */
const STEP_MS = 4;
/** After so many calls that may stay, all that follow may: they are in the order of their time, but for a wrong clock. */
const MAX_YOUNG = 10_000;

const COUNT = `length(heads) / ${HEAD.bytes}`;
const FIND_NEXT = `SELECT first, earliest, ${COUNT} AS count FROM head WHERE first > ? ORDER BY first LIMIT 1`;
const READ = "SELECT first, heads FROM head WHERE first >= ? ORDER BY first LIMIT 1";
const PUT = "INSERT INTO head (first, earliest, latest, heads) VALUES (?, ?, ?, ?)";
/** How many ids are between the oldest call and the one that comes next. */
const SPAN = `SELECT (SELECT first + ${COUNT} FROM head ORDER BY first DESC LIMIT 1) - min(first) FROM head`;

/** Those of whose calls none is left, among the packs of some calls. */
const REMOVE_PAYLOADS = `DELETE FROM payload
  WHERE first >= coalesce((SELECT max(first) FROM payload WHERE first <= ?), 0) AND first < ?
    AND first >= coalesce((SELECT head.first + ${COUNT} FROM head
      WHERE head.first < payload.first + json_array_length(sizes) / 2 ORDER BY head.first DESC LIMIT 1), 0)`;

/** Up to so many it does not matter whether they are still wanted; to find out takes a look at every call. */
const MANY_ROUTES = 10_000;
const REMOVE_ROUTES = "DELETE FROM route WHERE id NOT IN (SELECT value FROM json_each(?))";

/** Whether the call with this number in the pack is to go. */
type IsOver = (pack: HeadPack, index: number) => boolean;

export class CallPruner {
  readonly #db: Database;
  readonly #retention: Retention;
  readonly #onRoutesRemoved: () => void;
  readonly #writer = new HeadPackWriter();

  constructor(db: Database, retention: Retention, onRoutesRemoved: () => void) {
    this.#db = db;
    this.#retention = retention;
    this.#onRoutesRemoved = onRoutesRemoved;
  }

  /** Returns how many calls were removed. Stops early where `isStopped`. */
  async prune(now: number, isStopped: () => boolean): Promise<number> {
    const pace = new Pace();
    const tooMany = await this.#removeExcess(pace, isStopped);
    const tooOld = await this.#removeOld(now - this.#retention.maxAgeMs, pace, isStopped);
    if (tooMany + tooOld > 0 && !isStopped()) this.#removeRoutes();
    return tooMany + tooOld;
  }

  async #removeExcess(pace: Pace, isStopped: () => boolean): Promise<number> {
    let all = 0;
    while (!isStopped()) {
      const excess = this.#excess();
      const removed = excess > 0 ? this.#removeFrom(0, (_pack, index) => index < excess) : 0;
      if (removed === 0) break;
      all += removed;
      await pace.keep();
    }
    return all;
  }

  async #removeOld(before: number, pace: Pace, isStopped: () => boolean): Promise<number> {
    let all = 0;
    let young = 0;
    for (let last = 0; !isStopped() && young < MAX_YOUNG; await pace.keep()) {
      const pack = this.#db.prepare(FIND_NEXT).get(last);
      if (pack === undefined) break;
      last = Number(pack["first"]);
      const isYoung = Number(pack["earliest"]) >= before;
      const removed = isYoung ? 0 : this.#removeFrom(last, (calls, index) => calls.at(index) < before);
      all += removed;
      young = removed > 0 ? 0 : young + Number(pack["count"]);
    }
    return all;
  }

  /** Of the pack that begins there, or the next. Read again, in one transaction: others may have added to it. */
  #removeFrom(first: number, isOver: IsOver): number {
    return this.#transact(() => {
      const row = this.#db.prepare(READ).get(first);
      if (row === undefined) return 0;
      const pack = new HeadPack(row["first"], row["heads"]);
      const runs = runsOf(pack, isOver);
      const gone = runs.filter((run) => run.isOver);
      if (gone.length > 0) this.#replace(pack, runs);
      return gone.reduce((sum, { from, to }) => sum + to - from, 0);
    });
  }

  /** By a pack for each run of calls that stay. */
  #replace(pack: HeadPack, runs: readonly Run[]): void {
    const { first, count } = pack;
    const isNewest = readNumber(this.#db, "SELECT max(first) FROM head") === first;
    this.#db.prepare("DELETE FROM head WHERE first = ?").run(first);
    for (const { from, to, isOver } of runs) {
      if (isOver) {
        this.#db.prepare("DELETE FROM workflow WHERE call >= ? AND call < ?").run(first + from, first + to);
      } else {
        this.#writer.startWith(pack, from, to);
        this.#put();
      }
    }
    if (isNewest && runs.at(-1)?.isOver === true) {
      this.#writer.start(first + count);
      this.#put();
    }
    this.#db.prepare(REMOVE_PAYLOADS).run(first, first + count);
  }

  #put(): void {
    const { first, earliest, latest, bytes } = this.#writer;
    this.#db.prepare(PUT).run(first, earliest, latest, bytes);
  }

  #removeRoutes(): void {
    if (readNumber(this.#db, "SELECT count(*) FROM route") <= MANY_ROUTES) return;
    this.#transact(() => {
      const used = new Set<number>();
      for (let row = this.#db.prepare(READ).get(0); row !== undefined;) {
        const pack = new HeadPack(row["first"], row["heads"]);
        for (let index = 0; index < pack.count; index++) used.add(pack.route(index));
        row = this.#db.prepare(READ).get(pack.first + 1);
      }
      this.#db.prepare(REMOVE_ROUTES).run(JSON.stringify([...used]));
    });
    this.#onRoutesRemoved();
  }

  /** How many calls are too many, by their number or by the room that they take on average. */
  #excess(): number {
    const pages = readNumber(this.#db, "PRAGMA page_count") - readNumber(this.#db, "PRAGMA freelist_count");
    const bytes = pages * readNumber(this.#db, "PRAGMA page_size");
    const calls = readNumber(this.#db, SPAN);
    const excessShare = Math.max(0, 1 - this.#retention.maxBytes / bytes);
    return Math.max(0, calls - this.#retention.maxRows, Math.ceil(calls * excessShare));
  }

  #transact<T>(work: () => T): T {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      rollBack(this.#db);
      throw error;
    }
  }
}

/** Calls of a pack that follow one another and all go, or all stay. */
interface Run {
  readonly from: number;
  readonly to: number;
  readonly isOver: boolean;
}

function runsOf(pack: HeadPack, isOver: IsOver): Run[] {
  const runs: Run[] = [];
  let from = 0;
  for (let to = 1; to <= pack.count; to++) {
    const state = isOver(pack, from);
    if (to < pack.count && isOver(pack, to) === state) continue;
    runs.push({ from, to, isOver: state });
    from = to;
  }
  return runs;
}

/** Leaves the event loop to others for as long as they had to wait. */
class Pace {
  #since = performance.now();

  async keep(): Promise<void> {
    const tookMs = performance.now() - this.#since;
    if (tookMs < STEP_MS) return;
    await sleep(tookMs);
    this.#since = performance.now();
  }
}
