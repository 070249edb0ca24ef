// A token bucket: so many a second on average, and a burst.

/** Refill rate and capacity. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** A token bucket. Time is passed in, never read. */
export class TokenBucket {
  readonly #rate: () => Rate | undefined;
  #tokens: number | undefined;
  #filledAt = 0;

  /** The rate is read each time: the config may change. Undefined: no limit. */
  constructor(rate: () => Rate | undefined) {
    this.#rate = rate;
  }

  /** Takes a token and returns nothing, or returns in how many milliseconds there will be one. */
  take(now: number): number | undefined {
    const rate = this.#rate();
    if (rate === undefined) return undefined;
    const { perSecond, burst } = rate;
    const gained = ((now - this.#filledAt) * perSecond) / 1000;
    const tokens = this.#tokens === undefined ? burst : Math.min(burst, this.#tokens + gained);
    this.#filledAt = now;
    if (tokens < 1) {
      this.#tokens = tokens;
      return ((1 - tokens) * 1000) / perSecond;
    }
    this.#tokens = tokens - 1;
    return undefined;
  }
}
