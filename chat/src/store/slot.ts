// A message's place in time as one number: its milliseconds, then a number that grows among those of the same millisecond.
// It is the rowid of the search index, so that a search gives its hits in time order, however many imports interleave.
// SQLite counts in 64 bits; here such a number is only handed through, so it is read as two: `at` and `nth`.

/** Two million messages in one millisecond; with dates before 1900 and up to 2109. */
const NTH_BITS = 21;
const MAX_AT = 2 ** 42 - 1;
export const MAX_NTH = 2 ** NTH_BITS - 1;

/** SQL of the two numbers that a slot stands for. */
export const AT = (slot: string): string => `(${slot} >> ${NTH_BITS})`;
export const NTH = (slot: string): string => `(${slot} & ${MAX_NTH})`;

export function toSlot(at: number, nth: number): bigint {
  return (BigInt(at) << BigInt(NTH_BITS)) + BigInt(nth);
}

export const FIRST_SLOT = toSlot(-MAX_AT, 0);
export const LAST_SLOT = toSlot(MAX_AT, MAX_NTH);

/** A time that has a slot: what is beyond all dates that a message can have comes first or last. */
export function toTime(at: number): number {
  if (Number.isNaN(at)) return 0;
  return Math.trunc(Math.min(Math.max(at, -MAX_AT), MAX_AT));
}
