// How often a source may be wrong before it has to wait. What counts as wrong, and what waiting means, is the caller's.

export interface FailureLimitOptions {
  /** Milliseconds that only ever grow. */
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
  /** Oldest first: windows are all of one length, so they also end in this order. */
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

  /** Notes one failure. How long the source has to wait, where this one was beyond its limit. */
  fail(source: string): number | undefined {
    const now = this.#now();
    this.#forget(now);
    const window = this.#windows.get(source) ?? this.#open(source, now);
    if (window.failures >= this.#limit) return window.endsAt - now;
    window.failures++;
    return undefined;
  }

  /** The oldest goes where there are too many: memory is not to be had by wrong guesses. */
  #open(source: string, now: number): Window {
    const [oldest] = this.#windows.keys();
    if (oldest !== undefined && this.#windows.size >= this.#maxSources) this.#windows.delete(oldest);
    const window = { endsAt: now + this.#windowMs, failures: 0 };
    this.#windows.set(source, window);
    return window;
  }

  #forget(now: number): void {
    for (const [source, { endsAt }] of this.#windows) {
      if (endsAt > now) return;
      this.#windows.delete(source);
    }
  }
}
