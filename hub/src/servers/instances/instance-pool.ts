// A bounded pool of instances. When it is full, the instance that has been idle for the longest time is evicted.

import { HubError } from "../../errors.ts";

export interface PooledInstance {
  /** Undefined while it has open requests. */
  readonly idleSince: number | undefined;
  /** Leaves its pools at once; resolves when nothing of it is left. */
  end(): Promise<void>;
}

export class InstancePool {
  /** For the error. */
  readonly #owner: string;
  readonly #max: () => number;
  readonly #members = new Set<PooledInstance>();
  /** Released, but their processes have not ended yet. */
  readonly #ending = new Set<Promise<void>>();

  constructor(owner: string, max: () => number) {
    this.#owner = owner;
    this.#max = max;
  }

  /** Adds it at once, or throws Overloaded if all are busy. Resolves when the evicted instance has ended. */
  acquire(instance: PooledInstance): Promise<void> {
    const max = this.#max();
    while (this.#members.size >= max) void this.#longestIdle().end();
    this.#members.add(instance);
    return this.#untilFree();
  }

  /** Its slot is free when `gone` resolves, which must never reject. */
  release(instance: PooledInstance, gone: Promise<void>): void {
    if (!this.#members.delete(instance)) return;
    this.#ending.add(gone);
    void gone.then(() => this.#ending.delete(gone));
  }

  /** Whether there is room without an eviction. */
  get hasRoom(): boolean {
    return this.#members.size + this.#ending.size < this.#max();
  }

  get #isFull(): boolean {
    return this.#ending.size > 0 && this.#members.size + this.#ending.size > this.#max();
  }

  async #untilFree(): Promise<void> {
    while (this.#isFull) await Promise.race(this.#ending);
  }

  #longestIdle(): PooledInstance {
    let found: PooledInstance | undefined;
    for (const instance of this.#members) {
      if ((instance.idleSince ?? Infinity) < (found?.idleSince ?? Infinity)) found = instance;
    }
    if (found !== undefined) return found;
    throw new HubError("Overloaded", `${this.#owner} has no room for another instance`, {
      detail: `All ${this.#members.size} are busy`,
      hint: "Try again a little later",
    });
  }
}
