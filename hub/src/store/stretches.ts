// What is known of the older parts of the log, so that a query need not look at them again: the time that each covers, and
// which filters found nothing there. Calls are only ever added at the end, so none of it becomes wrong.

import type { Database } from "./driver.ts";

/** Ids of one stretch: a look at all of them takes a millisecond or two. */
export const STRETCH = 10_000;
/** Filters that are remembered, the last ones used: about what a few open pages ask for again and again. */
const MAX_FILTERS = 64;

interface Times {
  readonly first: number;
  readonly last: number;
}

export class Stretches {
  readonly #db: Database;
  readonly #times = new Map<number, Times>();
  /** By filter: the stretches in which it finds nothing. */
  readonly #empty = new Map<string, Set<number>>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** The stretch that an id belongs to; it ends with the id `(stretch + 1) * STRETCH`. */
  static of(id: number): number {
    return Math.floor((id - 1) / STRETCH);
  }

  /** Whether every call of a full stretch is older than `since`, or not older than `until`. */
  isOutside(stretch: number, since = -Infinity, until = Infinity): boolean {
    if (since === -Infinity && until === Infinity) return false;
    const { first, last } = this.#timesOf(stretch);
    return last < since || first >= until;
  }

  isEmptyFor(filter: string, stretch: number): boolean {
    return this.#empty.get(filter)?.has(stretch) === true;
  }

  rememberEmpty(filter: string, stretch: number): void {
    const stretches = this.#empty.get(filter) ?? new Set();
    stretches.add(stretch);
    this.#empty.delete(filter);
    this.#empty.set(filter, stretches);
    const [oldest] = this.#empty.keys();
    if (this.#empty.size > MAX_FILTERS && oldest !== undefined) this.#empty.delete(oldest);
  }

  #timesOf(stretch: number): Times {
    const known = this.#times.get(stretch);
    if (known !== undefined) return known;
    const sql = "SELECT min(at) AS first, max(at) AS last FROM call WHERE id > ? AND id <= ?";
    const row = this.#db.prepare(sql).get(stretch * STRETCH, (stretch + 1) * STRETCH);
    const times = { first: Number(row?.["first"] ?? Infinity), last: Number(row?.["last"] ?? -Infinity) };
    this.#times.set(stretch, times);
    return times;
  }
}
