// Brings one server back after it went down, again and again until it is up or no longer wanted.

import type { ErrorKind } from "../errors.ts";
import { nextAttempt, RESTED, type Backoff } from "./backoff.ts";
import type { RestartRule } from "./resilience.ts";

export interface RestartsOptions {
  rule(): RestartRule;
  /** Tries once. Where it fails, the server says `down` again. */
  start(): void;
}

/** What is known about the next try, for people. */
export interface NextTry {
  /** How often it went down or did not come up, in a row. */
  readonly tries: number;
  /** Wall clock. */
  readonly at: number;
  /** The same on the clock that nobody sets. */
  readonly dueAt: number;
  readonly crashLoop: boolean;
}

export class Restarts {
  readonly #options: RestartsOptions;
  #backoff: Backoff = RESTED;
  #upSince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #next: NextTry | undefined;
  readonly #counts = new Map<ErrorKind, number>();

  constructor(options: RestartsOptions) {
    this.#options = options;
  }

  /** The next try, where one is planned. */
  get next(): NextTry | undefined {
    return this.#next;
  }

  /** How many tries there were, ever, by why it had gone down. */
  get counts(): ReadonlyMap<ErrorKind, number> {
    return this.#counts;
  }

  up(): void {
    this.cancel();
    this.#upSince = performance.now();
  }

  /** Plans the next try, where none is planned: a call that found the server down too does not put it off. */
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

  /** No try is planned any more: it is up, or not wanted. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#next = undefined;
  }

  /** Somebody decided anew: what went wrong before does not count. */
  forget(): void {
    this.cancel();
    this.#backoff = RESTED;
    this.#upSince = undefined;
  }
}
