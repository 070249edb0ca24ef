// What is known of the older parts of the log, so that a query need not look at them again: the time that each covers, and
// which filters found nothing there. Calls are only ever added at the end, so none of it becomes wrong.

import type { Database, SqlValue } from "./driver.ts";

/** Ids of one stretch: a look at all of them takes a millisecond or two. */
const SIZE = 10_000;
/** Filters that are remembered, the last ones used: about what a few open pages ask for again and again. */
const MAX_FILTERS = 64;
/** Of some hundred million calls. */
const MAX_TIMES = 10_000;

export interface CallFilter {
  /** Conditions on a row of `call`, besides its time. */
  readonly sql: string;
  readonly values: readonly SqlValue[];
  readonly since: number;
  readonly until: number;
  /** Names the conditions and their values. */
  readonly key: string;
}

/** The ids of one step of a query: a stretch, or the part of it that the query may see. */
export class Stretch {
  readonly index: number;
  /** The ids are larger than this. */
  readonly from: number;
  /** The largest of them. */
  readonly to: number;
  /** No call will be added to this stretch any more. */
  readonly isFull: boolean;
  /** The query sees all of it; then it is full, too. */
  readonly isWhole: boolean;

  constructor(newest: number, { oldest, last }: { readonly oldest: number; readonly last: number }) {
    this.index = Math.floor((newest - 1) / SIZE);
    this.from = Math.max(oldest, this.index * SIZE);
    this.to = newest;
    this.isFull = (this.index + 1) * SIZE <= last;
    this.isWhole = this.from === this.index * SIZE && this.to === this.from + SIZE;
  }
}

export class Stretches {
  readonly #db: Database;
  readonly #times = new Map<number, { readonly first: number; readonly last: number }>();
  /** By filter: the stretches in which it finds nothing. */
  readonly #empty = new Map<string, Set<number>>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** True only where it is certain that the filter finds nothing. */
  hasNone({ index, isFull }: Stretch, { since, until, key }: CallFilter): boolean {
    if (!isFull) return false;
    if (this.#empty.get(key)?.has(index) === true) return true;
    if (!hasTime({ since, until })) return false;
    const { first, last } = this.#timesOf(index);
    return last < since || first >= until;
  }

  /** The filter was tried, and found nothing. */
  learnNone({ index, isWhole }: Stretch, { since, until, key }: CallFilter): void {
    if (!isWhole || hasTime({ since, until })) return;
    const stretches = this.#empty.get(key) ?? new Set();
    stretches.add(index);
    // At the end: the one that was not asked for longest goes first.
    this.#empty.delete(key);
    this.#empty.set(key, stretches);
    const [oldest] = this.#empty.keys();
    if (this.#empty.size > MAX_FILTERS && oldest !== undefined) this.#empty.delete(oldest);
  }

  #timesOf(index: number): { readonly first: number; readonly last: number } {
    const known = this.#times.get(index);
    if (known !== undefined) return known;
    const find = this.#db.prepare("SELECT min(at) AS first, max(at) AS last FROM call WHERE id > ? AND id <= ?");
    const row = find.get(index * SIZE, (index + 1) * SIZE);
    const times = { first: Number(row?.["first"] ?? Infinity), last: Number(row?.["last"] ?? -Infinity) };
    if (this.#times.size >= MAX_TIMES) this.#times.clear();
    this.#times.set(index, times);
    return times;
  }
}

function hasTime({ since, until }: { readonly since: number; readonly until: number }): boolean {
  return since !== -Number.MAX_VALUE || until !== Number.MAX_VALUE;
}
