// A semaphore with a bounded queue. Limits concurrent calls and process starts.

import { HubError } from "../errors.ts";
import type { Cancellation } from "./cancellation.ts";

export interface SemaphoreLimits {
  readonly max: number;
  readonly maxWaiting: number;
}

interface Waiter {
  go(): void;
}

/** The names of the settings, for the error message. */
export interface SemaphoreSettings {
  readonly max: string;
  readonly maxWaiting: string;
}

/** A guess: it is not known when a slot will be free. */
const RETRY_MS = 1000;

export class Semaphore {
  readonly #limits: () => SemaphoreLimits;
  /** For the error message. */
  readonly #owner: string;
  readonly #settings: SemaphoreSettings | undefined;
  readonly #queue = new Set<Waiter>();
  readonly #onIdle = new Set<() => void>();
  #taken = 0;
  #refused = 0;

  constructor(owner: string, limits: () => SemaphoreLimits, settings?: SemaphoreSettings) {
    this.#owner = owner;
    this.#limits = limits;
    this.#settings = settings;
  }

  /** Total of refused calls. */
  get refused(): number {
    return this.#refused;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Acquires a slot: at once (undefined), or later (a promise). Throws RateLimited if the queue is full or the wait takes too
   * long, and Cancelled if the signal aborts. Every acquired slot has to be released.
   */
  acquire({ signal, limitMs }: { signal?: Cancellation | undefined; limitMs: number }): Promise<void> | undefined {
    const { max, maxWaiting } = this.#limits();
    if (this.#taken < max) {
      this.#taken++;
      return undefined;
    }
    if (this.#queue.size >= maxWaiting) throw this.#tooMany(`${this.#queue.size} waiting`);
    return this.#wait(signal, limitMs);
  }

  /** Resolves when all slots are free. */
  idle(): Promise<void> {
    return this.#taken === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.add(resolve));
  }

  release(): void {
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
      const leaveQueue = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        this.#queue.delete(waiter);
      };
      const onAbort = () => {
        leaveQueue();
        reject(new HubError("Cancelled", "Cancelled by the caller"));
      };
      const timer = setTimeout(() => {
        leaveQueue();
        reject(this.#tooMany(`no slot was free within ${Math.round(limitMs)} ms`));
      }, limitMs);
      const waiter: Waiter = {
        go: () => {
          leaveQueue();
          this.#taken++;
          resolve();
        },
      };
      this.#queue.add(waiter);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  #tooMany(why: string): HubError {
    this.#refused++;
    const { max, maxWaiting } = this.#limits();
    const settings =
      this.#settings === undefined
        ? ""
        : ` (limits: ${this.#settings.max} ${max}, ${this.#settings.maxWaiting} ${maxWaiting})`;
    return new HubError("RateLimited", `${this.#owner} has too many calls: ${this.#taken} running, ${why}${settings}`, {
      hint: "Try again a little later",
      retryAfterMs: RETRY_MS,
    });
  }
}
