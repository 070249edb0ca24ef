// A message's position in time as one 64-bit integer: milliseconds, then a sequence number within the millisecond. It is the
// rowid of the search index, so that a search yields its hits in time order even when several imports interleave. JavaScript
// numbers cannot hold it, so it is read as two numbers, `at` and `nth`.

/** Two million messages per millisecond, for dates from before 1900 up to 2109. */
const NTH_BITS = 21;
const MAX_AT = 2 ** 42 - 1;
export const MAX_NTH = 2 ** NTH_BITS - 1;

/** SQL of the milliseconds, and of the sequence number, of a time key. */
export const timeOf = (timeKey: string): string => `(${timeKey} >> ${NTH_BITS})`;
export const nthOf = (timeKey: string): string => `(${timeKey} & ${MAX_NTH})`;

export function toTimeKey(at: number, nth: number): bigint {
  return (BigInt(at) << BigInt(NTH_BITS)) + BigInt(nth);
}

export const FIRST_TIME_KEY = toTimeKey(-MAX_AT, 0);
export const LAST_TIME_KEY = toTimeKey(MAX_AT, MAX_NTH);

/** The nearest time that a time key can hold. */
export function clampTime(at: number): number {
  if (Number.isNaN(at)) return 0;
  return Math.trunc(Math.min(Math.max(at, -MAX_AT), MAX_AT));
}
