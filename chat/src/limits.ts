// How many requests at once, and how long each may take. Also the one who knows what is still under way when the server is
// told to stop.

import { ChatError } from "./errors.ts";

export interface Limits {
  readonly concurrent: number;
  readonly requestMs: number;
}

export const LIMITS: Limits = { concurrent: 100, requestMs: 60_000 };

export class Requests {
  readonly #limits: Limits;
  readonly #closing = new AbortController();
  #underWay = 0;
  #idle: (() => void) | undefined;

  constructor(limits: Limits = LIMITS) {
    this.#limits = limits;
  }

  /** Aborted when the server is told to stop: who only waits answers with what he has. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Refuses with BUSY at once, and with TIMEOUT later. The work gets a signal: the client's wish, or too late. */
  async run<T>(client: AbortSignal, work: (signal: AbortSignal) => Promise<T> | T): Promise<T> {
    if (this.#closing.signal.aborted) throw busy("The server is shutting down");
    if (this.#underWay >= this.#limits.concurrent) {
      throw busy(`${this.#limits.concurrent} requests are under way, and more are not taken`);
    }
    this.#underWay += 1;
    const late = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    try {
      const timeout = new Promise<never>((_, reject) => {
        timer = setTimeout(() => {
          late.abort();
          reject(new ChatError("TIMEOUT", `The request took longer than ${this.#limits.requestMs / 1000} s`));
        }, this.#limits.requestMs);
      });
      return await Promise.race([work(AbortSignal.any([client, late.signal])), timeout]);
    } finally {
      clearTimeout(timer);
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#idle?.();
    }
  }

  /** No new requests; resolves when the last one is answered. */
  async drain(): Promise<void> {
    this.#closing.abort();
    if (this.#underWay === 0) return;
    await new Promise<void>((resolve) => (this.#idle = resolve));
  }
}

function busy(message: string): ChatError {
  return new ChatError("BUSY", message, { hint: "Try again in a moment", retry_after_s: 1 });
}
