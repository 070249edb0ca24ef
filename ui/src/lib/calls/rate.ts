// How many calls end per second. Above a limit the list does not follow them: neither a person nor a browser could.

/** Above this rate the list stands still and only counters move. */
export const MAX_CALLS_PER_SECOND = 200;

const SECONDS = 10;

/** Counts events of the last ten seconds in a ring of ten numbers. */
export class RateMeter {
  readonly #counts = new Uint32Array(SECONDS);
  #second = 0;

  add(now: number): void {
    this.#advance(now);
    const index = this.#second % SECONDS;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  /** Events of the last ten seconds. */
  recent(now: number): number {
    this.#advance(now);
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /** The higher of this second's and the last second's events. */
  perSecond(now: number): number {
    this.#advance(now);
    const at = (second: number): number => this.#counts[(second + SECONDS) % SECONDS] ?? 0;
    return Math.max(at(this.#second), at(this.#second - 1));
  }

  #advance(now: number): void {
    const second = Math.floor(now / 1_000);
    const steps = Math.min(SECONDS, second - this.#second);
    for (let step = 1; step <= steps; step += 1) this.#counts[(this.#second + step) % SECONDS] = 0;
    this.#second = Math.max(this.#second, second);
  }
}
