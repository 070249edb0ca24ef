// How many calls there were in the last 24 hours, and how many of them failed. In memory, and so since the hub's start.

const SLOT_MS = 15 * 60_000;
const SLOTS = 96;

export class RecentCounts {
  readonly #calls = new Uint32Array(SLOTS);
  readonly #errors = new Uint32Array(SLOTS);
  #slot = 0;

  /** `now` never goes back. */
  record(ok: boolean, now: number): void {
    const at = this.#advance(now);
    this.#calls[at] = (this.#calls[at] ?? 0) + 1;
    if (!ok) this.#errors[at] = (this.#errors[at] ?? 0) + 1;
  }

  totals(now: number): { calls: number; errors: number } {
    this.#advance(now);
    return { calls: sum(this.#calls), errors: sum(this.#errors) };
  }

  /** Empties the slots that were passed since the last time; gives the one that is now. */
  #advance(now: number): number {
    const slot = Math.floor(now / SLOT_MS);
    for (let passed = Math.max(this.#slot + 1, slot - SLOTS + 1); passed <= slot; passed++) {
      this.#calls[passed % SLOTS] = 0;
      this.#errors[passed % SLOTS] = 0;
    }
    this.#slot = Math.max(this.#slot, slot);
    return this.#slot % SLOTS;
  }
}

function sum(counts: Uint32Array): number {
  return counts.reduce((total, count) => total + count, 0);
}
