// Limits failed attempts by source in a fixed time window.

export interface FailureLimitOptions {
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number;
  readonly limit?: number;
  readonly windowMs?: number;
  readonly maxSources?: number;
}

interface Window {
  readonly endsAt: number;
  failures: number;
}

export class FailureLimit {
  readonly #now: () => number;
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #maxSources: number;
  /** Oldest first. All windows have the same length, so they also end in this order. */
  readonly #windows = new Map<string, Window>();

  constructor({
    now = () => performance.now(),
    limit = 10,
    windowMs = 60_000,
    maxSources = 10_000,
  }: FailureLimitOptions = {}) {
    this.#now = now;
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#maxSources = maxSources;
  }

  /** Records a failure. Returns how long the source has to wait if it is over its limit. */
  fail(source: string): number | undefined {
    const now = this.#now();
    this.#removeExpired(now);
    const window = this.#windows.get(source) ?? this.#open(source, now);
    if (window.failures >= this.#limit) return window.endsAt - now;
    window.failures++;
    return undefined;
  }

  /** Evicts the oldest entry when full, so that failed attempts cannot exhaust memory. */
  #open(source: string, now: number): Window {
    const [oldest] = this.#windows.keys();
    if (oldest !== undefined && this.#windows.size >= this.#maxSources) this.#windows.delete(oldest);
    const window = { endsAt: now + this.#windowMs, failures: 0 };
    this.#windows.set(source, window);
    return window;
  }

  #removeExpired(now: number): void {
    for (const [source, { endsAt }] of this.#windows) {
      if (endsAt > now) return;
      this.#windows.delete(source);
    }
  }
}
