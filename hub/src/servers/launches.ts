// How many processes start at the same time: fifty servers that all load at once are ready later than in turns, and whatever
// else the machine does stands still meanwhile.

import { availableParallelism } from "node:os";
import { Slots } from "./slots.ts";

const PER_CORE = 4;
/** After so long a start no longer keeps others waiting: it downloads something, or hangs. */
const HEAVY_MS = 3000;

export class Launches {
  readonly #slots: Slots;

  constructor(max = PER_CORE * availableParallelism()) {
    this.#slots = new Slots("The hub", () => ({ max, maxWaiting: Infinity }));
  }

  /** Resolves when the next server may start, with what to call when it is up. */
  async next(wait: { readonly signal: AbortSignal; readonly limitMs: number }): Promise<() => void> {
    const turn = this.#slots.take(wait);
    if (turn !== undefined) await turn;
    let isOver = false;
    const over = () => {
      clearTimeout(timer);
      if (!isOver) this.#slots.give();
      isOver = true;
    };
    const timer = setTimeout(over, HEAVY_MS).unref();
    return over;
  }
}
