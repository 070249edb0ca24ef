// Limits how fast one server is read, so that a flood of notifications does not starve the others: yields to the event loop every
// few messages, and has a token bucket. While the bucket is empty the connection is not read, and the full pipe slows the server
// down. Nothing is lost. Replies to open requests are free.

/** This many bytes cost as much as a message. */
const BYTES_PER_MESSAGE = 16_384;
/** Messages between two yields. A call to another server needs several loop iterations, so each must be short. */
const YIELD_AFTER = 10;
/** Short enough for small bursts, long enough to read more than one line at a time. */
const MIN_PAUSE_MS = 5;
const MAX_PAUSE_MS = 200;
/**
 * Size of the bucket, in seconds of the rate. A tool that sends 100,000 progress notifications and then replies is not a flood,
 * and its call must not time out because they were read slowly.
 */
const BURST_S = 25;

export const MESSAGES_PER_SECOND = 4000;

export interface ReadLimiterOptions {
  /** Sustained rate of unsolicited messages. */
  readonly perSecond: number;
  /** Called once for each flood. */
  readonly onFlood?: () => void;
}

export class ReadLimiter {
  readonly #perSecond: number;
  readonly #onFlood: (() => void) | undefined;
  readonly #burst: number;
  #tokens: number;
  #filledAt = 0;
  #sinceYield = 0;
  #isFlood = false;

  constructor({ perSecond, onFlood }: ReadLimiterOptions) {
    this.#perSecond = perSecond;
    this.#onFlood = onFlood;
    this.#burst = Math.max(1, perSecond * BURST_S);
    this.#tokens = this.#burst;
  }

  /** Counts a message. */
  note(bytes: number, { isAnswer }: { readonly isAnswer: boolean }): void {
    if (isAnswer) return;
    const cost = 1 + bytes / BYTES_PER_MESSAGE;
    this.#sinceYield += cost;
    this.#tokens -= cost;
  }

  /** How long to stop reading; 0: yield to the event loop once. Undefined: read on. */
  pauseMs(now: number): number | undefined {
    if (this.#sinceYield === 0) return undefined;
    if (this.#tokens < 0) {
      const waitMs = this.#refill(now);
      if (waitMs > 0) return waitMs;
    }
    if (this.#sinceYield < YIELD_AFTER) return undefined;
    this.#sinceYield = 0;
    return 0;
  }

  #refill(now: number): number {
    const tokens = this.#tokens + ((now - this.#filledAt) * this.#perSecond) / 1000;
    this.#tokens = Math.min(this.#burst, tokens);
    this.#filledAt = now;
    if (this.#tokens >= this.#burst) this.#isFlood = false;
    if (this.#tokens >= 0) return 0;
    if (!this.#isFlood) this.#onFlood?.();
    this.#isFlood = true;
    this.#sinceYield = 0;
    return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, (-this.#tokens * 1000) / this.#perSecond));
  }
}

/** Limits the rate at which a connection is read. */
export function atRate(options: ReadLimiterOptions) {
  const inflow = new ReadLimiter(options);
  return {
    receive: (take: (bytes: Buffer, via?: number) => boolean) => (bytes: Buffer, via?: number) =>
      inflow.note(bytes.length, { isAnswer: take(bytes, via) }),
    pauseMs: () => inflow.pauseMs(performance.now()),
  };
}
