// Restarts one server after a failure, with backoff, until it runs or is stopped.

import type { ErrorKind } from "../../errors.ts";
import { nextAttempt, NO_FAILURES, type Backoff } from "./backoff.ts";
import type { RestartRule } from "./resilience.ts";

export interface RestartsOptions {
  rule(): RestartRule;
  /** Tries once. After a failure the caller calls `down` again. */
  start(): void;
}

/** The next try, as shown to users. */
export interface NextTry {
  /** Failures in a row. */
  readonly tries: number;
  /** Wall clock. */
  readonly at: number;
  /** The same on the monotonic clock. */
  readonly dueAt: number;
  readonly crashLoop: boolean;
}

export class Restarts {
  readonly #options: RestartsOptions;
  #backoff: Backoff = NO_FAILURES;
  #upSince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #next: NextTry | undefined;
  readonly #counts = new Map<ErrorKind, number>();

  constructor(options: RestartsOptions) {
    this.#options = options;
  }

  /** The next attempt, if one is scheduled. */
  get next(): NextTry | undefined {
    return this.#next;
  }

  /** Attempts so far, by the reason of the failure. */
  get counts(): ReadonlyMap<ErrorKind, number> {
    return this.#counts;
  }

  up(): void {
    this.cancel();
    this.#upSince = performance.now();
  }

  /** Schedules the next try. One that is scheduled already is not postponed. */
  down(reason: ErrorKind): void {
    const rule = this.#options.rule();
    if (!rule.enabled || this.#timer !== undefined) return;
    const given = { at: performance.now(), upSince: this.#upSince, chance: Math.random() };
    const { backoff, delayMs, crashLoop } = nextAttempt(this.#backoff, given, rule);
    this.#backoff = backoff;
    this.#upSince = undefined;
    this.#next = { tries: backoff.failures, at: Date.now() + delayMs, dueAt: given.at + delayMs, crashLoop };
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
      this.#options.start();
    }, delayMs).unref();
  }

  /** The server runs, or is stopped. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#next = undefined;
  }

  /** A user started or stopped it: earlier failures no longer count. */
  reset(): void {
    this.cancel();
    this.#backoff = NO_FAILURES;
    this.#upSince = undefined;
  }
}
