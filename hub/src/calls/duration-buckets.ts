// Durations as counts in buckets: how percentiles are kept of any number of calls in a few kilobytes. Which calls are
// counted, and for how long, is left to those who count.

const SUB_BITS = 5;
/** Buckets of one power of two: a value is known to 1.6 %. Below this many microseconds it is known exactly. */
const SUBS = 1 << SUB_BITS;
const MAX_US = 2 ** 31 - 1;
export const BUCKETS = (31 - SUB_BITS + 1) * SUBS;

export function bucketOf(durationUs: number): number {
  const value = durationUs > 0 ? Math.min(Math.round(durationUs), MAX_US) : 0;
  if (value < SUBS) return value;
  const shift = 31 - Math.clz32(value) - SUB_BITS;
  return shift * SUBS + (value >>> shift);
}

/** In milliseconds, for shares that grow; 0 each where nothing was counted. `total` is the sum of the counts. */
export function percentilesOf(counts: Uint32Array, total: number, shares: readonly number[]): number[] {
  const values: number[] = [];
  let seen = 0;
  let bucket = -1;
  for (const share of shares) {
    const rank = Math.max(1, Math.ceil(share * total));
    while (seen < rank && bucket < BUCKETS - 1) seen += counts[++bucket] ?? 0;
    values.push(total === 0 ? 0 : middleOf(bucket) / 1000);
  }
  return values;
}

/** The value in the middle of a bucket, in microseconds. */
function middleOf(bucket: number): number {
  if (bucket < SUBS * 2) return bucket;
  const shift = (bucket >>> SUB_BITS) - 1;
  return ((bucket & (SUBS - 1)) + SUBS) * 2 ** shift + (2 ** shift - 1) / 2;
}
