// Limits the calls of one server, or of the hub as a whole: how many at once, how many waiting, how many a second. A call beyond
// that fails at once with the name of the setting.

import { HubError } from "../../errors.ts";
import type { Cancellation } from "../../lib/cancellation.ts";
import { Semaphore, type SemaphoreLimits } from "../../lib/semaphore.ts";
import { TokenBucket, type Rate } from "../../lib/token-bucket.ts";

interface Limits {
  slots(): SemaphoreLimits;
  rate(): Rate | undefined;
}

export class CallLimits {
  readonly #owner: string;
  /** The section of the config that has the settings. */
  readonly #section: string;
  readonly #limits: Limits;
  readonly #slots: Semaphore;
  readonly #rate: TokenBucket;
  #tooFast = 0;

  constructor(owner: string, section: string, limits: Limits) {
    this.#owner = owner;
    this.#section = section;
    this.#limits = limits;
    const settings = { max: `${section}.max_calls`, maxWaiting: `${section}.max_queued_calls` };
    this.#slots = new Semaphore(owner, () => limits.slots(), settings);
    this.#rate = new TokenBucket(() => limits.rate());
  }

  get taken(): number {
    return this.#slots.taken;
  }

  get waiting(): number {
    return this.#slots.waiting;
  }

  /** Refused calls so far, by the limit that they met. */
  get refused(): ReadonlyMap<string, number> {
    return new Map([
      ["max_calls", this.#slots.refused],
      ["calls_per_second", this.#tooFast],
    ]);
  }

  /** Like `Semaphore.acquire`. The caller releases the slot. Throws RateLimited. */
  acquire(wait: { signal?: Cancellation | undefined; limitMs: number }): Promise<void> | undefined {
    if (this.#limits.rate() !== undefined) this.#requireToken();
    return this.#slots.acquire(wait);
  }

  release(): void {
    this.#slots.release();
  }

  idle(): Promise<void> {
    return this.#slots.idle();
  }

  #requireToken(): void {
    const waitMs = this.#rate.take(performance.now());
    if (waitMs === undefined) return;
    this.#tooFast++;
    const { perSecond, burst } = this.#limits.rate() ?? { perSecond: 0, burst: 0 };
    const limit = `${this.#section}.calls_per_second ${perSecond}, ${this.#section}.calls_burst ${burst}`;
    throw new HubError("RateLimited", `${this.#owner} is called too often (limits: ${limit})`, {
      hint: `Try again in ${Math.max(1, Math.ceil(waitMs / 1000))} s`,
      retryAfterMs: waitMs,
    });
  }
}
