// Limits of one caller, and of one address: requests per second, and how many at once. They stop a program in a loop before it takes
// the hub from others.

import { HubError } from "../errors.ts";
import { KeyedBuckets } from "../lib/keyed-buckets.ts";
import { TokenBucket, type Rate } from "../lib/token-bucket.ts";
import type { Grant } from "./grant.ts";

export interface GrantLimitSettings extends Rate {
  readonly maxAtOnce: number;
  /** Of one address, whoever its callers are. */
  readonly address?: Rate | undefined;
}

/** Far above what an agent does, far below what a loop does. */
export const DEFAULT_GRANT_LIMITS: GrantLimitSettings = { perSecond: 50, burst: 100, maxAtOnce: 100 };

/** From `auth.limits` of hub.json. */
export function toGrantLimits(entry: LimitsEntry = {}): GrantLimitSettings {
  const perSecond = entry.requests_per_second ?? DEFAULT_GRANT_LIMITS.perSecond;
  const burst = entry.requests_burst ?? Math.max(DEFAULT_GRANT_LIMITS.burst, Math.ceil(perSecond));
  const { address_requests_per_second: ofAddress } = entry;
  const address =
    ofAddress === undefined
      ? undefined
      : { perSecond: ofAddress, burst: entry.address_requests_burst ?? Math.max(1, Math.ceil(2 * ofAddress)) };
  return { perSecond, burst, maxAtOnce: entry.max_requests ?? DEFAULT_GRANT_LIMITS.maxAtOnce, address };
}

interface LimitsEntry {
  readonly requests_per_second?: number | undefined;
  readonly requests_burst?: number | undefined;
  readonly max_requests?: number | undefined;
  readonly address_requests_per_second?: number | undefined;
  readonly address_requests_burst?: number | undefined;
}

type LimitName = "requests_per_second" | "max_requests" | "address_requests_per_second";

export class GrantLimits {
  readonly #settings: GrantLimitSettings;
  readonly #limits = new WeakMap<Grant, GrantLimit>();
  readonly #ofAddresses: KeyedBuckets | undefined;
  readonly #refused: Record<LimitName, number> = {
    requests_per_second: 0,
    max_requests: 0,
    address_requests_per_second: 0,
  };

  constructor(settings: GrantLimitSettings = DEFAULT_GRANT_LIMITS) {
    this.#settings = settings;
    this.#ofAddresses = settings.address === undefined ? undefined : new KeyedBuckets(settings.address);
  }

  /** Requests refused so far, by the limit that they met. */
  get refused(): ReadonlyMap<string, number> {
    return new Map(Object.entries(this.#refused));
  }

  /** Counts a request of a caller, and of the address that it comes from. Throws RateLimited if there were too many. */
  take(grant: Grant, address: string | undefined, now = performance.now()): void {
    this.of(grant)?.take(now);
    if (this.#ofAddresses === undefined || address === undefined || grant.kind === "owner") return;
    const waitMs = this.#ofAddresses.take(address, now);
    if (waitMs === undefined) return;
    this.#refused.address_requests_per_second++;
    const { perSecond = 0, burst = 0 } = this.#settings.address ?? {};
    throw tooMany(
      "address_requests_per_second",
      `from this address (limit: ${perSecond} a second, ${burst} at once)`,
      waitMs,
    );
  }

  /** Undefined: the owner, and the programs of this machine where the endpoints are open to them. */
  of(grant: Grant): GrantLimit | undefined {
    if (grant.kind === "owner" || grant.kind === "anonymous") return undefined;
    const known = this.#limits.get(grant);
    if (known !== undefined) return known;
    const limit = new GrantLimit(this.#settings, (name) => this.#refused[name]++);
    this.#limits.set(grant, limit);
    return limit;
  }
}

export class GrantLimit {
  readonly #settings: GrantLimitSettings;
  readonly #onRefused: (limit: LimitName) => void;
  readonly #bucket: TokenBucket;
  #open = 0;

  constructor(settings: GrantLimitSettings, onRefused: (limit: LimitName) => void) {
    this.#settings = settings;
    this.#onRefused = onRefused;
    this.#bucket = new TokenBucket(() => settings);
  }

  /** Counts a request. Throws RateLimited if there were too many. */
  take(now = performance.now()): void {
    const waitMs = this.#bucket.take(now);
    if (waitMs === undefined) return;
    const { perSecond, burst } = this.#settings;
    throw this.#refuse("requests_per_second", `${perSecond} a second, ${burst} at once`, waitMs);
  }

  /** Begins a request, which `leave` ends. Throws RateLimited if too many are open. */
  enter(): void {
    const { maxAtOnce } = this.#settings;
    if (this.#open >= maxAtOnce) throw this.#refuse("max_requests", `${maxAtOnce} open requests`, 1000);
    this.#open++;
  }

  leave(): void {
    this.#open--;
  }

  #refuse(name: LimitName, limit: string, waitMs: number): HubError {
    this.#onRefused(name);
    return tooMany(name, `with these credentials (limit: ${limit})`, waitMs);
  }
}

function tooMany(name: LimitName, which: string, waitMs: number): HubError {
  return new HubError("RateLimited", `Too many requests ${which}`, {
    hint: `Try again in ${Math.max(1, Math.ceil(waitMs / 1000))} s. The limit is auth.limits.${name} in hub.json`,
    retryAfterMs: waitMs,
  });
}
