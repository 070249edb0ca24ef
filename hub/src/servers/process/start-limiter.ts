// Limits how many processes start at the same time: fifty at once take longer than a few at a time, and block the machine.

import { availableParallelism } from "node:os";
import { Semaphore } from "../../lib/semaphore.ts";

const PER_CORE = 4;
/** After this time a start frees its slot: it downloads something, or hangs. */
const SLOW_MS = 3000;

export class StartLimiter {
  readonly #semaphore: Semaphore;

  constructor(max = PER_CORE * availableParallelism()) {
    this.#semaphore = new Semaphore("The hub", () => ({ max, maxWaiting: Infinity }));
  }

  /** Resolves when the server may start. The returned function frees the slot. */
  async acquire(wait: { readonly signal: AbortSignal; readonly limitMs: number }): Promise<() => void> {
    const slot = this.#semaphore.acquire(wait);
    if (slot !== undefined) await slot;
    let isReleased = false;
    const release = () => {
      clearTimeout(timer);
      if (!isReleased) this.#semaphore.release();
      isReleased = true;
    };
    const timer = setTimeout(release, SLOW_MS).unref();
    return release;
  }
}
