// Detects that the process has stalled (stopped, suspended or starved of CPU). After a stall, clients must not be timed out: their input
// has not been read yet.

export interface StallDetectorOptions {
  /** The interval at which `hasJustStalled` is called. */
  readonly everyMs: number;
  /** The shortest gap that counts as a stall. */
  readonly stallMs: number;
  /** The grace period after a stall is as long as the stall, but at most this. */
  readonly mostMs: number;
  readonly now?: () => number;
}

export class StallDetector {
  readonly #options: StallDetectorOptions;
  readonly #now: () => number;
  #calledAt: number;
  #until = 0;

  constructor(options: StallDetectorOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#calledAt = this.#now();
  }

  /** Whether timeouts are suspended. Has to be called at the interval: a late call means a stall. */
  hasJustStalled(): boolean {
    const { everyMs, stallMs, mostMs } = this.#options;
    const now = this.#now();
    const lostMs = now - this.#calledAt - everyMs;
    this.#calledAt = now;
    if (lostMs > stallMs) this.#until = now + Math.min(lostMs, mostMs);
    return now < this.#until;
  }
}
