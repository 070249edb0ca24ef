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

/** The settings that the limits come from, for the error. */
export interface SlotSettings {
  readonly max: string;
  readonly maxWaiting: string;
}

/** When to try again: nobody knows when a slot will be free. */
const RETRY_MS = 1000;

export class Slots {
  readonly #limits: () => SlotLimits;
  /** Whose slots they are, for the error. */
  readonly #owner: string;
  readonly #settings: SlotSettings | undefined;
  readonly #queue = new Set<Waiting>();
  readonly #onIdle = new Set<() => void>();
  #taken = 0;
  #refused = 0;

  constructor(owner: string, limits: () => SlotLimits, settings?: SlotSettings) {
    this.#owner = owner;
    this.#limits = limits;
    this.#settings = settings;
  }

  /** How many were turned away, ever. */
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
   * Takes a slot: at once, and then nothing comes back, or when it is one's turn. Throws RateLimited where too many wait
   * already or the wait takes too long, and Cancelled where the caller has gone. Whoever got one gives it back.
   */
  take({ signal, limitMs }: { signal?: Cancellation | undefined; limitMs: number }): Promise<void> | undefined {
    const { max, maxWaiting } = this.#limits();
    if (this.#taken < max) {
      this.#taken++;
      return undefined;
    }
    if (this.#queue.size >= maxWaiting) throw this.#tooMany(`${this.#queue.size} more wait already`);
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
        reject(this.#tooMany(`this one got no turn within ${Math.round(limitMs)} ms`));
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

  #tooMany(why: string): HubError {
    this.#refused++;
    const { max, maxWaiting } = this.#limits();
    const settings =
      this.#settings === undefined
        ? ""
        : ` (limits: ${this.#settings.max} ${max}, ${this.#settings.maxWaiting} ${maxWaiting})`;
    return new HubError(
      "RateLimited",
      `${this.#owner} has too many calls: ${this.#taken} under way, ${why}${settings}`,
      {
        hint: "Try again a little later",
        retryAfterMs: RETRY_MS,
      },
    );
  }
}
