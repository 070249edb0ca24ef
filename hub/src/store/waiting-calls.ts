// Calls on their way into the file, oldest first. Those of a turn are many and gone at once; those that wait for a file
// that cannot be written are few, and do not hold on to the messages they came in.

import { sizeBytes, type StoredCall } from "../calls/stored-call.ts";

const MAX_KEPT = 10_000;
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

export class WaitingCalls {
  #calls: StoredCall[] = [];
  #bytes = 0;

  get length(): number {
    return this.#calls.length;
  }

  first(count: number): readonly StoredCall[] {
    return count >= this.#calls.length ? this.#calls : this.#calls.slice(0, count);
  }

  /** For a moment. */
  add(call: StoredCall): void {
    this.#calls.push(call);
    this.#bytes += sizeBytes(call);
  }

  /** For an unknown time; false where there are too many already. */
  keep(call: StoredCall): boolean {
    if (this.#calls.length >= MAX_KEPT || this.#bytes + sizeBytes(call) > MAX_KEPT_BYTES) return false;
    this.add(copyOf(call));
    return true;
  }

  /** Takes the first ones away; returns their size. */
  remove(count: number): number {
    const isAll = count >= this.#calls.length;
    const removed = isAll ? this.#bytes : this.first(count).reduce((sum, call) => sum + sizeBytes(call), 0);
    this.#calls = isAll ? [] : this.#calls.slice(count);
    this.#bytes -= removed;
    return removed;
  }
}

/** With bytes of its own: those given may be a small part of a large message, which would be kept as a whole. */
export function copyOf(call: StoredCall): StoredCall {
  return {
    ...call,
    params: call.params && Uint8Array.from(call.params),
    result: call.result && Uint8Array.from(call.result),
  };
}
