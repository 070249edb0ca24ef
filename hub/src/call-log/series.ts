// Figures of recorded calls over time, in equal steps, in all or by server, tool or client.

import { isServersOwn, type Outcome } from "./outcome.ts";

const MAX_SERIES = 12;
const OTHER = "other";
const SHARES = [0.5, 0.95, 0.99] as const;

/** `since` is inclusive, `until` exclusive, in milliseconds since the epoch. */
export interface SeriesQuery {
  readonly since: number;
  readonly until: number;
  readonly buckets: number;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly client?: string | undefined;
  readonly group?: string | undefined;
  readonly by: "none" | "server" | "tool" | "client";
}

export interface CallSeries {
  readonly step_ms: number;
  /** Biggest first. */
  readonly series: OneSeries[];
}

interface OneSeries {
  /** Null: all calls, or calls without a client. */
  readonly key: string | null;
  readonly calls: number[];
  readonly errors: number[];
  readonly tool_errors: number[];
  /** Null: no calls in the step. */
  readonly p50_ms: (number | null)[];
  readonly p95_ms: (number | null)[];
  readonly p99_ms: (number | null)[];
}

/** The bounds of each step. */
export function stepsOf({ since, until, buckets }: SeriesQuery): { readonly from: number; readonly to: number }[] {
  const stepMs = (until - since) / buckets;
  return Array.from({ length: buckets }, (_, index) => ({
    from: Math.ceil(since + index * stepMs),
    to: Math.ceil(since + (index + 1) * stepMs),
  }));
}

/** Collects counts, and durations of all calls or of a sample of them. */
export class SeriesBuilder {
  readonly #buckets: number;
  readonly #keys = new Map<string | null, Bucket[]>();

  constructor(buckets: number) {
    this.#buckets = buckets;
  }

  count(key: string | null, bucket: number, outcome: Outcome, count: number): void {
    if (isServersOwn(outcome)) this.#bucketOf(key, bucket).count(outcome, count);
  }

  duration(key: string | null, bucket: number, us: number): void {
    this.#bucketOf(key, bucket).durations.push(us);
  }

  get series(): OneSeries[] {
    const sorted = [...this.#keys].toSorted(([, a], [, b]) => total(b) - total(a));
    const isTooMany = sorted.length > MAX_SERIES;
    const shown = isTooMany ? sorted.slice(0, MAX_SERIES - 1) : sorted;
    const rest = sorted.slice(shown.length).map(([, buckets]) => buckets);
    const series = shown.map(([key, buckets]) => toSeries(key, buckets));
    return isTooMany ? [...series, toSeries(OTHER, this.#merge(rest))] : series;
  }

  #merge(all: readonly (readonly Bucket[])[]): Bucket[] {
    const merged = this.#newBuckets();
    for (const [index, bucket] of merged.entries()) for (const buckets of all) bucket.add(buckets[index]);
    return merged;
  }

  #bucketOf(key: string | null, index: number): Bucket {
    let buckets = this.#keys.get(key);
    if (buckets === undefined) this.#keys.set(key, (buckets = this.#newBuckets()));
    const bucket = buckets[index];
    if (bucket === undefined) throw new RangeError(`There is no step ${index}`);
    return bucket;
  }

  #newBuckets(): Bucket[] {
    return Array.from({ length: this.#buckets }, () => new Bucket());
  }
}

class Bucket {
  calls = 0;
  errors = 0;
  toolErrors = 0;
  readonly durations: number[] = [];

  count(outcome: Outcome, count: number): void {
    this.calls += count;
    if (outcome === "failed") this.errors += count;
    if (outcome === "tool_error") this.toolErrors += count;
  }

  add(other: Bucket | undefined): void {
    if (other === undefined) return;
    this.calls += other.calls;
    this.errors += other.errors;
    this.toolErrors += other.toolErrors;
    for (const us of other.durations) this.durations.push(us);
  }

  /** In milliseconds. */
  percentiles(): (number | null)[] {
    const sorted = Float64Array.from(this.durations).toSorted();
    return SHARES.map((share) => {
      const us = sorted[Math.ceil(share * sorted.length) - 1];
      return us === undefined ? null : us / 1000;
    });
  }
}

function toSeries(key: string | null, buckets: readonly Bucket[]): OneSeries {
  const percentiles = buckets.map((bucket) => bucket.percentiles());
  const share = (index: number) => percentiles.map((all) => all[index] ?? null);
  return {
    key,
    calls: buckets.map(({ calls }) => calls),
    errors: buckets.map(({ errors }) => errors),
    tool_errors: buckets.map(({ toolErrors }) => toolErrors),
    p50_ms: share(0),
    p95_ms: share(1),
    p99_ms: share(2),
  };
}

function total(buckets: readonly Bucket[]): number {
  return buckets.reduce((sum, { calls }) => sum + calls, 0);
}
