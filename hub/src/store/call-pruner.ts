// Removes the oldest calls: what is too old, and what is too much. In steps of a few milliseconds, with pauses as long as
// the steps, so that calls go on meanwhile.

import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "./driver.ts";
import type { Retention } from "./retention.ts";
import { readNumber, rollBack } from "./sqlite.ts";

/** A step should take this long; its size is adapted to it, because calls may be small or large. */
const STEP_MS = 4;
const MAX_STEP_ROWS = 4096;
/** After so many calls that may stay, all that follow may: they are in the order of their time, but for a wrong clock. */
const MAX_YOUNG = 10_000;

/** Those of whose calls none is left: from the pack on that holds the first call that was looked at. */
const REMOVE_PAYLOADS = `DELETE FROM payload
  WHERE first >= coalesce((SELECT max(first) FROM payload WHERE first <= ?), 0) AND first <= ?
    AND NOT EXISTS (SELECT 1 FROM call WHERE id >= first AND id < first + json_array_length(sizes) / 2)`;

/** Up to so many it does not matter whether they are still wanted; to find out takes a look at every call. */
const MANY_ROUTES = 10_000;
const REMOVE_ROUTES = "DELETE FROM route WHERE id NOT IN (SELECT route FROM call)";

export class CallPruner {
  readonly #db: Database;
  readonly #retention: Retention;
  readonly #onRoutesRemoved: () => void;
  #stepRows = 64;

  constructor(db: Database, retention: Retention, onRoutesRemoved: () => void) {
    this.#db = db;
    this.#retention = retention;
    this.#onRoutesRemoved = onRoutesRemoved;
  }

  /** Returns how many calls were removed. Stops early where `isStopped`. */
  async prune(now: number, isStopped: () => boolean): Promise<number> {
    let removed = 0;
    while (!isStopped() && this.#excess() > 0) {
      const step = await this.#step(0, Math.min(this.#stepRows, this.#excess()), Number.MAX_SAFE_INTEGER);
      // Only a damaged file has calls that are older than no time at all.
      if (step.removed === 0) break;
      removed += step.removed;
    }
    let position = 0;
    let young = 0;
    while (!isStopped() && young < MAX_YOUNG) {
      const step = await this.#step(position, this.#stepRows, now - this.#retention.maxAgeMs);
      if (step.end === position) break;
      position = step.end;
      removed += step.removed;
      young = step.removed > 0 ? 0 : young + step.seen;
    }
    if (removed > 0 && !isStopped()) this.#removeRoutes();
    return removed;
  }

  #removeRoutes(): void {
    if (readNumber(this.#db, "SELECT count(*) FROM route") <= MANY_ROUTES) return;
    this.#db.exec(REMOVE_ROUTES);
    this.#onRoutesRemoved();
  }

  /** Removes those older than `before` among the next calls; then leaves the event loop to others for as long as it took. */
  async #step(after: number, rows: number, before: number): Promise<{ end: number; seen: number; removed: number }> {
    const startedAt = performance.now();
    const window = "SELECT id, at FROM call WHERE id > ? ORDER BY id LIMIT ?";
    const found = this.#db.prepare(`SELECT max(id) AS end, count(*) AS seen, sum(at < ?) AS old FROM (${window})`);
    const row = found.get(before, after, rows);
    const step = {
      end: Number(row?.["end"] ?? after),
      seen: Number(row?.["seen"]),
      removed: Number(row?.["old"] ?? 0),
    };
    if (step.removed > 0) this.#remove(after, step.end, before);
    const tookMs = performance.now() - startedAt;
    if (tookMs > STEP_MS) this.#stepRows = Math.max(1, this.#stepRows >>> 1);
    else if (tookMs < STEP_MS / 2) this.#stepRows = Math.min(MAX_STEP_ROWS, this.#stepRows * 2);
    await sleep(tookMs);
    return step;
  }

  #remove(after: number, end: number, before: number): void {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      this.#db.prepare("DELETE FROM call WHERE id > ? AND id <= ? AND at < ?").run(after, end, before);
      this.#db.prepare(REMOVE_PAYLOADS).run(after, end);
      this.#db.exec("COMMIT");
    } catch (error) {
      rollBack(this.#db);
      throw error;
    }
  }

  /** How many calls are too many, by their number or by the room that they take on average. */
  #excess(): number {
    const pages = readNumber(this.#db, "PRAGMA page_count") - readNumber(this.#db, "PRAGMA freelist_count");
    const bytes = pages * readNumber(this.#db, "PRAGMA page_size");
    const last = readNumber(this.#db, "SELECT max(id) FROM call");
    const rows = last === 0 ? 0 : last - readNumber(this.#db, "SELECT min(id) FROM call") + 1;
    const excessShare = Math.max(0, 1 - this.#retention.maxBytes / bytes);
    return Math.max(0, rows - this.#retention.maxRows, Math.ceil(rows * excessShare));
  }
}
