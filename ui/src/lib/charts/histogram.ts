// Geometry of a histogram over time: bars, and the part that a person selects on it.

export interface Bar {
  readonly x: number;
  readonly width: number;
  /** Height of all calls and of the failed ones, from 0 to 1. */
  readonly all: number;
  readonly failed: number;
}

/** Bars for a drawing area of `width` pixels. The highest bar has the height 1; a bucket with calls is never invisible. */
export function bars(calls: readonly number[], failed: readonly number[], width: number): Bar[] {
  const highest = Math.max(1, ...calls);
  const step = width / Math.max(1, calls.length);
  return calls.map((count, index) => ({
    x: index * step,
    width: Math.max(1, step - 1),
    all: heightOf(count, highest),
    failed: heightOf(failed[index] ?? 0, highest),
  }));
}

function heightOf(count: number, highest: number): number {
  return count === 0 ? 0 : Math.max(0.06, count / highest);
}

export interface Scale {
  readonly from: number;
  readonly stepMs: number;
  readonly buckets: number;
  readonly width: number;
}

/** The whole buckets that the pixels `x1` to `x2` touch, as times. */
export function brushed(scale: Scale, x1: number, x2: number): { from: number; until: number } {
  const bucket = (x: number): number => Math.floor((x / Math.max(1, scale.width)) * scale.buckets);
  const first = clamp(bucket(Math.min(x1, x2)), 0, scale.buckets - 1);
  const last = clamp(bucket(Math.max(x1, x2)), first, scale.buckets - 1);
  return { from: scale.from + first * scale.stepMs, until: scale.from + (last + 1) * scale.stepMs };
}

/** The next selection when a person moves one of its ends with the keyboard. */
export function moveBrush(
  buckets: number,
  selection: { first: number; last: number } | undefined,
  key: string,
  extend: boolean,
): { first: number; last: number } | undefined {
  if (key === "Escape") return undefined;
  const current = selection ?? { first: buckets - 1, last: buckets - 1 };
  const by = key === "ArrowLeft" ? -1 : key === "ArrowRight" ? 1 : 0;
  if (by === 0 || selection === undefined) return current;
  if (extend) return { first: current.first, last: clamp(current.last + by, current.first, buckets - 1) };
  const length = current.last - current.first;
  const first = clamp(current.first + by, 0, buckets - 1 - length);
  return { first, last: first + length };
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
