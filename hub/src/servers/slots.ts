// So many at once, so many more that wait for their turn, and no more: for calls, and for processes that are starting.

import { HubError } from "../errors.ts";
import type { Cancellation } from "../wire/cancellation.ts";

export interface SlotLimits {
  readonly max: number;
  readonly maxWaiting: number;
}

interface Waiting {
  go(): void;
}

export class Slots {
  readonly #limits: () => SlotLimits;
  /** Whose slots they are, for the error. */
  readonly #owner: string;
  readonly #queue = new Set<Waiting>();
  readonly #onIdle = new Set<() => void>();
  #taken = 0;

  constructor(owner: string, limits: () => SlotLimits) {
    this.#owner = owner;
    this.#limits = limits;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Takes a slot: at once, and then nothing comes back, or when it is one's turn. Throws Overloaded where too many wait
   * already or the wait takes too long, and Cancelled where the caller has gone. Whoever got one gives it back.
   */
  take({ signal, limitMs }: { signal?: Cancellation | undefined; limitMs: number }): Promise<void> | undefined {
    const { max, maxWaiting } = this.#limits();
    if (this.#taken < max) {
      this.#taken++;
      return undefined;
    }
    if (this.#queue.size >= maxWaiting) throw this.#overloaded(`${this.#queue.size} wait already`);
    return this.#wait(signal, limitMs);
  }

  /** Resolves when none is taken. */
  idle(): Promise<void> {
    return this.#taken === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.add(resolve));
  }

  give(): void {
    this.#taken--;
    if (this.#taken === 0 && this.#queue.size === 0) {
      for (const resolve of this.#onIdle) resolve();
      this.#onIdle.clear();
    }
    if (this.#taken >= this.#limits().max) return;
    const [next] = this.#queue;
    next?.go();
  }

  #wait(signal: Cancellation | undefined, limitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        this.#queue.delete(waiting);
      };
      const onAbort = () => {
        leave();
        reject(new HubError("Cancelled", "The caller no longer waits"));
      };
      const timer = setTimeout(() => {
        leave();
        reject(this.#overloaded(`no turn within ${limitMs} ms`));
      }, limitMs);
      const waiting: Waiting = {
        go: () => {
          leave();
          this.#taken++;
          resolve();
        },
      };
      this.#queue.add(waiting);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  #overloaded(why: string): HubError {
    return new HubError("Overloaded", `${this.#owner} has too much to do`, {
      detail: `${this.#taken} under way, ${why}`,
      hint: "Try again a little later",
    });
  }
}
