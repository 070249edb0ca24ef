// What one server, or the hub as a whole, takes on: so many calls at once, so many that wait, so many a second. Whoever comes on
// top of that is turned away at once, and told which setting it was.

import type { Rate } from "../config/hub-limits.ts";
import { HubError } from "../errors.ts";
import type { Cancellation } from "../wire/cancellation.ts";
import { RateLimit } from "./rate-limit.ts";
import { Slots, type SlotLimits } from "./slots.ts";

interface Limits {
  slots(): SlotLimits;
  rate(): Rate | undefined;
}

export class CallLimits {
  readonly #owner: string;
  /** Where in the config the settings are. */
  readonly #section: string;
  readonly #limits: Limits;
  readonly #slots: Slots;
  readonly #rate: RateLimit;
  #tooFast = 0;

  constructor(owner: string, section: string, limits: Limits) {
    this.#owner = owner;
    this.#section = section;
    this.#limits = limits;
    const settings = { max: `${section}.max_calls`, maxWaiting: `${section}.max_queued_calls` };
    this.#slots = new Slots(owner, () => limits.slots(), settings);
    this.#rate = new RateLimit(() => limits.rate());
  }

  get taken(): number {
    return this.#slots.taken;
  }

  get waiting(): number {
    return this.#slots.waiting;
  }

  /** How many calls were turned away, ever, by the limit that they met. */
  get refused(): ReadonlyMap<string, number> {
    return new Map([
      ["max_calls", this.#slots.refused],
      ["calls_per_second", this.#tooFast],
    ]);
  }

  /** As Slots: whoever got a turn gives it back. Throws RateLimited. */
  take(wait: { signal?: Cancellation | undefined; limitMs: number }): Promise<void> | undefined {
    if (this.#limits.rate() !== undefined) this.#requireToken();
    return this.#slots.take(wait);
  }

  give(): void {
    this.#slots.give();
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
