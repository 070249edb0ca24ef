// The statistics of a run. Medians, because a shared machine has outliers in one direction only.

/** NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/** The quantile of a share. Sorts in place, because the lists are long. */
export function percentiles<const S extends readonly number[]>(values: Float64Array, shares: S) {
  values.sort();
  const at = (share: number) => values[Math.min(values.length - 1, Math.floor(share * values.length))] ?? NaN;
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- one for each share
  return shares.map(at) as { [K in keyof S]: number };
}
