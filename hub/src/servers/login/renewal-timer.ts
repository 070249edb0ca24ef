// Renews a login in the background: in time for a server in use, daily for an idle one.

import { isPast, msUntil, type Clock, type Deadlines } from "./clock.ts";

/** Many authorization servers end refresh tokens that are idle for a week or a month. */
const KEEP_ALIVE_MS = 86_400_000;
const JITTER_MAX_MS = 10_000;

/** Inputs for the time of the next renewal. */
export interface Renewable {
  readonly renewAt: Deadlines["renewAt"];
  /** When the tokens were received, on the wall clock. */
  readonly receivedAt: number;
  /** Not before this moment of the monotonic clock, after a failure. */
  readonly retryAt: number;
}

export interface RenewalTimerOptions {
  readonly clock: Clock;
  /** Undefined if there is nothing to renew. */
  readonly next: () => Renewable | undefined;
  readonly renew: () => Promise<void>;
}

export class RenewalTimer {
  readonly #options: RenewalTimerOptions;
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;
  #wasUsed = false;

  constructor(options: RenewalTimerOptions) {
    this.#options = options;
  }

  /** A request uses the login. */
  used(): void {
    this.#wasUsed = true;
  }

  run(): void {
    this.#isRunning = true;
    this.schedule();
  }

  stop(): void {
    this.#isRunning = false;
    clearTimeout(this.#timer);
  }

  /** After every change of the tokens, and after a failed renewal. */
  schedule(): void {
    clearTimeout(this.#timer);
    const { clock, next } = this.#options;
    const renewable = this.#isRunning ? next() : undefined;
    if (renewable === undefined) return;
    const { renewAt, receivedAt, retryAt } = renewable;
    const idleMs = receivedAt + KEEP_ALIVE_MS - clock.now();
    // Due, and no request has used it since: the next request renews it, or the daily renewal.
    const dueMs = isPast(renewAt, clock) && !this.#wasUsed ? idleMs : msUntil(renewAt, clock);
    const delayMs = Math.max(retryAt - clock.monotonic(), Math.min(dueMs, idleMs, KEEP_ALIVE_MS), 0);
    // Logins that were made together are not renewed together.
    const jitterMs = Math.random() * Math.min(JITTER_MAX_MS, delayMs / 10);
    this.#timer = setTimeout(() => this.#onTimer(receivedAt), delayMs + jitterMs);
    this.#timer.unref();
  }

  #onTimer(receivedAt: number): void {
    const { clock, renew } = this.#options;
    if (!this.#wasUsed && clock.now() - receivedAt < KEEP_ALIVE_MS) return this.schedule();
    this.#wasUsed = false;
    renew().catch(() => {
      // The state of the login has the reason. It is tried again as if it were in use.
      this.#wasUsed = true;
      this.schedule();
    });
  }
}
