// Reports which step a slow start is waiting for: a stuck disk or an overloaded machine would otherwise look like a hang.

import type { Io } from "../io.ts";

const FIRST_MS = 5000;

export class StartSteps {
  readonly #io: Io;

  constructor(io: Io) {
    this.#io = io;
  }

  /** Waits for a step and reports it after 5 s, 10 s, 20 s and so on. `what` completes "still waiting for". */
  async wait<T>(what: string, step: Promise<T>): Promise<T> {
    let waitedMs = 0;
    let timer: NodeJS.Timeout | undefined;
    const sayLater = () => {
      const pauseMs = Math.max(FIRST_MS, waitedMs);
      timer = setTimeout(() => {
        waitedMs += pauseMs;
        this.#io.stderr.write(`still waiting for ${what} (${waitedMs / 1000} s)\n`);
        sayLater();
      }, pauseMs);
    };
    sayLater();
    try {
      return await step;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Like `wait`, but continues after `limitMs` without the step. */
  async waitAtMost(limitMs: number, what: string, step: Promise<unknown>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    await this.wait(what, Promise.race([step, limit])).finally(() => clearTimeout(timer));
  }
}
