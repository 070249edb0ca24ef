// Limits concurrent requests and the duration of each, and waits for active ones at shutdown.

import { ChatError } from "./errors.ts";

export interface Limits {
  readonly concurrent: number;
  readonly requestMs: number;
  /** After this time a search returns what it has found. */
  readonly searchMs: number;
}

export const LIMITS: Limits = { concurrent: 100, requestMs: 60_000, searchMs: 10_000 };

export class RequestLimiter {
  readonly #limits: Limits;
  readonly #closing = new AbortController();
  #active = 0;
  #idle: (() => void) | undefined;

  constructor(limits: Limits = LIMITS) {
    this.#limits = limits;
  }

  /** Aborts at shutdown, so that waiting requests return at once. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Throws BUSY at the limit, TIMEOUT after the time. The work's signal aborts with the client's, or at the timeout. */
  async run<T>(client: AbortSignal, work: (signal: AbortSignal) => Promise<T> | T): Promise<T> {
    if (this.#closing.signal.aborted) throw busy("The server is shutting down");
    if (this.#active >= this.#limits.concurrent) {
      throw busy(`At most ${this.#limits.concurrent} requests are handled at once`);
    }
    this.#active += 1;
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
      this.#active -= 1;
      if (this.#active === 0) this.#idle?.();
    }
  }

  /** Refuses new requests; resolves when the last active one has ended. */
  async drain(): Promise<void> {
    this.#closing.abort();
    if (this.#active === 0) return;
    await new Promise<void>((resolve) => (this.#idle = resolve));
  }
}

function busy(message: string): ChatError {
  return new ChatError("BUSY", message, { hint: "Try again in a moment", retry_after_s: 1 });
}
