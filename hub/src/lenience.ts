// When slow clients are not to be timed out: after the hub itself stood still (a stopped process, a sleeping or overloaded
// machine), for what they sent meanwhile has not been read yet.

export interface LenienceOptions {
  /** How often it is asked, in milliseconds. */
  readonly everyMs: number;
  /** Standing still for longer than this counts. */
  readonly stallMs: number;
  /** Clients get as much time as they have lost, but no more than this. */
  readonly mostMs: number;
  readonly now?: () => number;
}

export class Lenience {
  readonly #options: LenienceOptions;
  readonly #now: () => number;
  #askedAt: number;
  #until = 0;

  constructor(options: LenienceOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#askedAt = this.#now();
  }

  /** Whether nobody is to be timed out now. It must be asked at its interval: that it was not is how it knows. */
  isDue(): boolean {
    const { everyMs, stallMs, mostMs } = this.#options;
    const now = this.#now();
    const lostMs = now - this.#askedAt - everyMs;
    this.#askedAt = now;
    if (lostMs > stallMs) this.#until = now + Math.min(lostMs, mostMs);
    return now < this.#until;
  }
}
