// How long calls took in the last hour, for percentiles. Our own histogram and not perf_hooks': with a window per minute
// for each of 2,000 tools, those take gigabytes (5 to 23 KB each), and 60 of them a millisecond to add up.

import { BUCKETS, bucketOf, percentilesOf } from "./duration-buckets.ts";

const WINDOW_MS = 60_000;
const WINDOWS = 60;

/** The calls of a minute that is over: pairs of a bucket and how many are in it. */
interface Window {
  readonly minute: number;
  readonly pairs: readonly number[];
}

export class RecentDurations {
  /** The sum of all windows, the present minute's included. */
  readonly #counts = new Uint32Array(BUCKETS);
  #total = 0;
  /** Oldest first. */
  readonly #windows: Window[] = [];
  readonly #present = new Map<number, number>();
  #minute = 0;

  /** `now` never goes back. */
  record(durationMs: number, now: number): void {
    this.#advance(now);
    const bucket = bucketOf(durationMs * 1000);
    this.#present.set(bucket, (this.#present.get(bucket) ?? 0) + 1);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#total++;
  }

  /** In milliseconds, for shares that grow; 0 each where there was never a call. */
  percentiles(shares: readonly number[], now: number): number[] {
    this.#advance(now);
    return percentilesOf(this.#counts, this.#total, shares);
  }

  #advance(now: number): void {
    const minute = Math.floor(now / WINDOW_MS);
    if (minute === this.#minute) return;
    if (this.#present.size > 0) this.#windows.push({ minute: this.#minute, pairs: [...this.#present].flat() });
    this.#present.clear();
    this.#minute = minute;
    // The last calls are kept however old they are: old figures say more than none.
    while (this.#windows.length > 1 && (this.#windows[0]?.minute ?? 0) <= minute - WINDOWS) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const pairs = this.#windows.shift()?.pairs ?? [];
    for (let at = 0; at < pairs.length; at += 2) {
      const [bucket = 0, count = 0] = pairs.slice(at, at + 2);
      this.#counts[bucket] = (this.#counts[bucket] ?? 0) - count;
      this.#total -= count;
    }
  }
}
