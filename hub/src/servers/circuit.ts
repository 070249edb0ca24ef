// The circuit breaker of one server at work: lets calls through or not, and probes the server when its cooldown is over, so
// that recovery waits neither for a caller nor for the next health check.

import { HubError } from "../errors.ts";
import { CLOSED, nextBreaker, type Breaker, type BreakerEvent } from "./breaker.ts";
import type { BreakerLimits } from "./resilience.ts";

export interface CircuitOptions {
  readonly server: string;
  /** Asked each time: the config may change while the server runs. */
  limits(): BreakerLimits;
  /** A real question to the server. */
  probe(): Promise<void>;
  onChange(breaker: Breaker): void;
}

export class Circuit {
  readonly #options: CircuitOptions;
  #breaker: Breaker = CLOSED;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: CircuitOptions) {
    this.#options = options;
  }

  get breaker(): Breaker {
    return this.#breaker;
  }

  /** Throws CircuitOpen where calls are not let through now. */
  admit(): void {
    if (this.#breaker.state === "closed") return;
    const leftMs = this.#breaker.state === "open" ? Math.max(0, this.#breaker.until - performance.now()) : 0;
    const when = leftMs > 0 ? `in ${Math.ceil(leftMs / 1000)} s` : "right now";
    throw new HubError("CircuitOpen", `Server unavailable; it is tried again ${when}`, {
      detail: `Server "${this.#options.server}" failed ${this.#options.limits().failures} times in a row`,
      retryAfterMs: leftMs,
    });
  }

  succeeded(): void {
    // On the path of every call: nothing to do, as a rule.
    if (this.#breaker !== CLOSED) this.#apply({ type: "success" });
  }

  failed(): void {
    this.#apply({ type: "failure", at: performance.now() });
  }

  /** Forgets what was. Nothing of it is left: no timer either. */
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
    // A timer may come a little early.
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
