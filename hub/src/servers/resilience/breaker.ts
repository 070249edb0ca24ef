// The circuit breaker of one server (RS-2): a pure state machine, and the class that lets calls through or not and probes the
// server after the cooldown, so that recovery waits neither for a caller nor for the next health check.

import { HubError } from "../../errors.ts";
import type { BreakerLimits } from "./resilience.ts";

export type Breaker =
  /** Calls are let through. `failures`: in a row. */
  | { readonly state: "closed"; readonly failures: number }
  /** Calls fail at once until the cooldown is over. */
  | { readonly state: "open"; readonly until: number }
  /** A probe is in progress. Calls still fail. */
  | { readonly state: "half-open" };

export type BreakerEvent =
  | { readonly type: "success" }
  | { readonly type: "failure"; readonly at: number }
  | { readonly type: "cooled"; readonly at: number };

export const CLOSED: Breaker = { state: "closed", failures: 0 };

/** The breaker after an event. The same object if nothing changes. Time is passed in, never read. */
export function nextBreaker(breaker: Breaker, event: BreakerEvent, limits: BreakerLimits): Breaker {
  switch (event.type) {
    case "success":
      return breaker.state === "closed" && breaker.failures === 0 ? breaker : CLOSED;
    case "failure":
      // Results of calls that were open when the breaker opened do not count.
      if (breaker.state === "open") return breaker;
      if (breaker.state === "closed" && breaker.failures + 1 < limits.failures) {
        return { state: "closed", failures: breaker.failures + 1 };
      }
      return { state: "open", until: event.at + limits.cooldownMs };
    case "cooled":
      return breaker.state === "open" && event.at >= breaker.until ? { state: "half-open" } : breaker;
  }
}

export interface CircuitBreakerOptions {
  readonly server: string;
  /** Read each time: the config may change while the server runs. */
  limits(): BreakerLimits;
  /** Sends a real request to the server. */
  probe(): Promise<void>;
  onChange(breaker: Breaker): void;
}

export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #breaker: Breaker = CLOSED;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  get breaker(): Breaker {
    return this.#breaker;
  }

  /** Throws CircuitOpen while calls are not let through. */
  admit(): void {
    if (this.#breaker.state === "closed") return;
    const leftMs = this.#breaker.state === "open" ? Math.max(0, this.#breaker.until - performance.now()) : 0;
    const when = leftMs > 0 ? `in ${Math.ceil(leftMs / 1000)} s` : "right now";
    throw new HubError("CircuitOpen", `Server unavailable; next attempt ${when}`, {
      detail: `Server "${this.#options.server}" failed ${this.#options.limits().failures} times in a row`,
      retryAfterMs: leftMs,
    });
  }

  succeeded(): void {
    // On the path of every call: usually there is nothing to do.
    if (this.#breaker !== CLOSED) this.#apply({ type: "success" });
  }

  failed(): void {
    this.#apply({ type: "failure", at: performance.now() });
  }

  /** Closes it, and cancels its timer. */
  reset(): void {
    this.#apply({ type: "success" });
  }

  #apply(event: BreakerEvent): void {
    const previous = this.#breaker;
    this.#breaker = nextBreaker(previous, event, this.#options.limits());
    if (this.#breaker === previous) return;
    clearTimeout(this.#timer);
    if (this.#breaker.state === "open") this.#coolDown(this.#breaker.until);
    if (this.#breaker.state === "half-open") void this.#probe();
    if (this.#breaker.state !== previous.state) this.#options.onChange(this.#breaker);
  }

  #coolDown(until: number): void {
    // A timer may fire a little early.
    const wait = () => {
      this.#apply({ type: "cooled", at: performance.now() });
      if (this.#breaker.state === "open") this.#coolDown(until);
    };
    this.#timer = setTimeout(wait, Math.max(1, until - performance.now())).unref();
  }

  async #probe(): Promise<void> {
    try {
      await this.#options.probe();
      this.succeeded();
    } catch {
      this.failed();
    }
  }
}
