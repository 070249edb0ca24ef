// So many places and no more, for what is kept for one caller each: in a full house the one that nobody has asked for the
// longest time makes room.

import { HubError } from "../errors.ts";

export interface Occupant {
  /** Since when it is asked nothing; not while somebody waits for it. */
  readonly idleSince: number | undefined;
  /** It leaves its places at once; resolves when nothing of it is left. */
  end(): Promise<void>;
}

export class Places {
  /** Whose places they are, for the error. */
  readonly #owner: string;
  readonly #max: () => number;
  readonly #staying = new Set<Occupant>();
  /** What is left of those that left: each still is a process. */
  readonly #leaving = new Set<Promise<void>>();

  constructor(owner: string, max: () => number) {
    this.#owner = owner;
    this.#max = max;
  }

  /** Takes a place, at once, or throws Overloaded where everybody is at work. Resolves when whoever had it has gone. */
  take(newcomer: Occupant): Promise<void> {
    const max = this.#max();
    while (this.#staying.size >= max) void this.#longestIdle().end();
    this.#staying.add(newcomer);
    return this.#untilFree();
  }

  /** Its place is free when `gone` resolves, which must never reject. */
  leave(occupant: Occupant, gone: Promise<void>): void {
    if (!this.#staying.delete(occupant)) return;
    this.#leaving.add(gone);
    void gone.then(() => this.#leaving.delete(gone));
  }

  /** Whether somebody could come without anybody leaving. */
  get hasRoom(): boolean {
    return this.#staying.size + this.#leaving.size < this.#max();
  }

  get #isFull(): boolean {
    return this.#leaving.size > 0 && this.#staying.size + this.#leaving.size > this.#max();
  }

  async #untilFree(): Promise<void> {
    while (this.#isFull) await Promise.race(this.#leaving);
  }

  #longestIdle(): Occupant {
    let found: Occupant | undefined;
    for (const occupant of this.#staying) {
      if ((occupant.idleSince ?? Infinity) < (found?.idleSince ?? Infinity)) found = occupant;
    }
    if (found !== undefined) return found;
    throw new HubError("Overloaded", `${this.#owner} has no room for another caller's own instance`, {
      detail: `All ${this.#staying.size} are at work`,
      hint: "Try again a little later",
    });
  }
}
