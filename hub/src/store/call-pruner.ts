// Removes the oldest calls: what is too old, and what is too much. In steps of a few milliseconds, with pauses as long as
// the steps, so that calls go on meanwhile.

import { setTimeout as sleep } from "node:timers/promises";
import type { Database, Statement } from "./driver.ts";
import { readNumber, rollBack } from "./sqlite.ts";

export interface Retention {
  readonly maxAgeMs: number;
  /** Of the database file. */
  readonly maxBytes: number;
  readonly maxRows: number;
}

export const DEFAULT_RETENTION: Retention = {
  maxAgeMs: 30 * 24 * 3_600_000,
  maxBytes: 1024 ** 3,
  maxRows: 2_000_000,
};

/** A step should take this long; its size is adapted to it, because calls may be small or large. */
const STEP_MS = 4;
const MAX_STEP_ROWS = 4096;

export class CallPruner {
  readonly #db: Database;
  readonly #retention: Retention;
  readonly #deleteCalls: Statement;
  readonly #deletePayloads: Statement;
  #rows = 64;

  constructor(db: Database, retention: Retention) {
    this.#db = db;
    this.#retention = retention;
    const oldest = "SELECT id FROM call ORDER BY id LIMIT ?";
    this.#deletePayloads = db.prepare(
      `DELETE FROM payload WHERE id IN (SELECT id FROM call WHERE id IN (${oldest}) AND at < ?)`,
    );
    this.#deleteCalls = db.prepare(`DELETE FROM call WHERE id IN (${oldest}) AND at < ?`);
  }

  /** Returns how many calls were removed. Stops early where `isStopped`. */
  async prune(now: number, isStopped: () => boolean): Promise<number> {
    let removed = 0;
    while (!isStopped()) {
      const startedAt = performance.now();
      const count = this.#step(now);
      if (count === 0) break;
      removed += count;
      const tookMs = performance.now() - startedAt;
      if (tookMs > STEP_MS) this.#rows = Math.max(1, this.#rows >>> 1);
      else if (tookMs < STEP_MS / 2) this.#rows = Math.min(MAX_STEP_ROWS, this.#rows * 2);
      await sleep(tookMs);
    }
    return removed;
  }

  /** 0 where there is nothing left to remove among the oldest calls. */
  #step(now: number): number {
    const excess = this.#excessRows();
    const rows = excess === 0 ? this.#rows : Math.min(this.#rows, excess);
    const before = excess === 0 ? now - this.#retention.maxAgeMs : Number.MAX_SAFE_INTEGER;
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      this.#deletePayloads.run(rows, before);
      this.#deleteCalls.run(rows, before);
      const count = readNumber(this.#db, "SELECT changes()");
      this.#db.exec("COMMIT");
      return count;
    } catch (error) {
      rollBack(this.#db);
      throw error;
    }
  }

  /** How many calls are too many, by their number or by the room that they take on average. */
  #excessRows(): number {
    const pages = readNumber(this.#db, "PRAGMA page_count") - readNumber(this.#db, "PRAGMA freelist_count");
    const bytes = pages * readNumber(this.#db, "PRAGMA page_size");
    const rows =
      readNumber(this.#db, "SELECT max(id) FROM call") - readNumber(this.#db, "SELECT min(id) FROM call") + 1;
    const excessShare = Math.max(0, 1 - this.#retention.maxBytes / bytes);
    return Math.max(0, rows - this.#retention.maxRows, Math.ceil(rows * excessShare));
  }
}
