// How fast one server is read. What it says unasked takes the hub's time from all others, so they have a turn after every few
// messages, and there is a token bucket: once that is empty its connection is left unread for a moment, and a server that
// floods is slowed down by its own full pipe. Nothing is lost. Answers that somebody waits for are free.

/** So much costs as much as a message. */
const BYTES_PER_MESSAGE = 16_384;
/** So many in a row, then everybody else has a turn: a call of another server needs several, so each must be short. */
const PER_TURN = 10;
/** Short enough that a burst is soon over, long enough to read more than a line at a time. */
const MIN_PAUSE_MS = 5;
const MAX_PAUSE_MS = 200;
/**
 * How much may come at once, in seconds of the rate. A tool that reports 100,000 steps and then answers is no flood, and its
 * caller must not run into a timeout because the reports were read slowly.
 */
const BURST_S = 25;

export const MESSAGES_PER_SECOND = 4000;

export interface InflowOptions {
  /** Messages a second that nobody asked for, in the long run. */
  readonly perSecond: number;
  /** It is read more slowly than it writes. Called once a flood. */
  readonly onFlood?: () => void;
}

export class Inflow {
  readonly #perSecond: number;
  readonly #onFlood: (() => void) | undefined;
  readonly #burst: number;
  #tokens: number;
  #filledAt = 0;
  #sinceTurn = 0;
  #isFlood = false;

  constructor({ perSecond, onFlood }: InflowOptions) {
    this.#perSecond = perSecond;
    this.#onFlood = onFlood;
    this.#burst = Math.max(1, perSecond * BURST_S);
    this.#tokens = this.#burst;
  }

  /** A message came. */
  note(bytes: number, { isAnswer }: { readonly isAnswer: boolean }): void {
    if (isAnswer) return;
    const cost = 1 + bytes / BYTES_PER_MESSAGE;
    this.#sinceTurn += cost;
    this.#tokens -= cost;
  }

  /** For how long nothing more is to be read; 0: only until everybody else had a turn. Undefined: go on. */
  pauseMs(now: number): number | undefined {
    if (this.#sinceTurn === 0) return undefined;
    if (this.#tokens < 0) {
      const waitMs = this.#refill(now);
      if (waitMs > 0) return waitMs;
    }
    if (this.#sinceTurn < PER_TURN) return undefined;
    this.#sinceTurn = 0;
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
    this.#sinceTurn = 0;
    return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, (-this.#tokens * 1000) / this.#perSecond));
  }
}
