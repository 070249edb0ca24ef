// Says what a start is waiting for when it takes long: a stuck disk or a machine without time for anybody looks like a hang
// otherwise. A start that is as quick as it should be says nothing.

import type { Io } from "./io.ts";

const FIRST_MS = 5000;

export class StartSteps {
  readonly #io: Io;

  constructor(io: Io) {
    this.#io = io;
  }

  /** Waits for a step, and says so after 5 s, 10 s, 20 s and so on. `what` follows «still waiting for». */
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

  /** The same for a step that the start can do without: after `limitMs` it goes on by itself. */
  async waitAtMost(limitMs: number, what: string, step: Promise<unknown>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    await this.wait(what, Promise.race([step, limit])).finally(() => clearTimeout(timer));
  }
}
