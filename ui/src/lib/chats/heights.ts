// Rows of different heights, most of which are not in the document: the height of a row is estimated until it has been measured.

import type { Span } from "../window.ts";

const ESTIMATE = 48;
/** Rows around the visible part that are drawn too. */
const OVERSCAN_PX = 600;

export class Heights {
  readonly #measured = new Map<string, number>();

  /** How much taller the row is than it was thought to be. */
  measure(key: string, height: number): number {
    const before = this.of(key);
    this.#measured.set(key, height);
    return height - before;
  }

  of(key: string): number {
    return this.#measured.get(key) ?? ESTIMATE;
  }

  /** Where each row begins, and after the last one the height of all. */
  offsets(keys: readonly string[]): readonly number[] {
    const offsets = [0];
    let at = 0;
    for (const key of keys) offsets.push((at += this.of(key)));
    return offsets;
  }
}

/** The rows to draw. `offsets` has one entry more than there are rows. */
export function spanOf(offsets: readonly number[], top: number, height: number): Span {
  const rows = offsets.length - 1;
  const from = Math.max(0, firstAfter(offsets, top - OVERSCAN_PX) - 1);
  const to = Math.min(rows, firstAfter(offsets, top + height + OVERSCAN_PX));
  return { from: Math.min(from, rows), to };
}

/** The index of the first offset beyond `value`. */
function firstAfter(offsets: readonly number[], value: number): number {
  let [low, high] = [0, offsets.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] ?? Infinity) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
