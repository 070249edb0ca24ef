// A token bucket for each key: an address, a client, a person.

import { TokenBucket, type Rate } from "./token-bucket.ts";

export class KeyedBuckets {
  readonly #rate: Rate;
  readonly #max: number;
  /** The one that was not used for the longest time comes first. */
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(rate: Rate, { max = 10_000 }: { readonly max?: number } = {}) {
    this.#rate = rate;
    this.#max = max;
  }

  /** Like `TokenBucket.take`. Beyond the maximum, the key that was not used for the longest time is forgotten. */
  take(key: string, now: number): number | undefined {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(() => this.#rate);
    this.#buckets.delete(key);
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined && this.#buckets.size >= this.#max) this.#buckets.delete(oldest);
    this.#buckets.set(key, bucket);
    return bucket.take(now);
  }
}
