// How often what comes before any credentials may happen: by address, by OAuth client, by person. grant-limits.ts has the limits of
// callers that are known.

import { HubError } from "../errors.ts";
import { KeyedBuckets } from "../lib/keyed-buckets.ts";
import type { Rate } from "../lib/token-bucket.ts";

function perMinute(times: number): Rate {
  return { perSecond: times / 60, burst: times };
}

export const DEFAULT_RATES = {
  /** By address. */
  wrong_credentials: perMinute(10),
  client_registrations: { perSecond: 20 / 3600, burst: 20 },
  authorizations: perMinute(60),
  sign_ins: perMinute(10),
  /** By OAuth client. */
  token_requests: perMinute(60),
  /** By person or program. */
  server_logins: perMinute(5),
} as const satisfies Record<string, Rate>;

export type RateName = keyof typeof DEFAULT_RATES;

const TOO_MANY: Readonly<Record<RateName, string>> = {
  wrong_credentials: "Too many wrong tokens from this address",
  client_registrations: "Too many clients were registered from this address",
  authorizations: "Too many authorization requests from this address",
  sign_ins: "Too many sign-ins were begun from this address",
  token_requests: "Too many token requests of this client",
  server_logins: "Too many logins at servers were begun",
};

interface RatesEntry {
  readonly sign_ins_per_minute?: number | undefined;
  readonly server_logins_per_minute?: number | undefined;
}

/** From `auth.limits` of hub.json. */
export function toRates(entry: RatesEntry = {}): Partial<Record<RateName, Rate>> {
  const { sign_ins_per_minute: signIns, server_logins_per_minute: logins } = entry;
  return {
    ...(signIns === undefined ? {} : { sign_ins: perMinute(signIns) }),
    ...(logins === undefined ? {} : { server_logins: perMinute(logins) }),
  };
}

export class RequestRates {
  readonly #now: () => number;
  readonly #buckets: Readonly<Record<RateName, KeyedBuckets>>;
  readonly #refused = new Map<RateName, number>();

  /** `now`: a monotonic clock, in milliseconds. */
  constructor(rates: Partial<Record<RateName, Rate>> = {}, now: () => number = () => performance.now()) {
    this.#now = now;
    const bucketsOf = (name: RateName) => new KeyedBuckets(rates[name] ?? DEFAULT_RATES[name]);
    this.#buckets = {
      wrong_credentials: bucketsOf("wrong_credentials"),
      client_registrations: bucketsOf("client_registrations"),
      authorizations: bucketsOf("authorizations"),
      sign_ins: bucketsOf("sign_ins"),
      token_requests: bucketsOf("token_requests"),
      server_logins: bucketsOf("server_logins"),
    };
  }

  /** Refused so far, by the rate that they met. */
  get refused(): ReadonlyMap<string, number> {
    return this.#refused;
  }

  /** Counts one. Throws RateLimited if there were too many. */
  take(name: RateName, key: string): void {
    const error = this.count(name, key);
    if (error !== undefined) throw error;
  }

  /** Counts one. Gives the error to answer with if there were too many. */
  count(name: RateName, key: string): HubError | undefined {
    const waitMs = this.#buckets[name].take(key, this.#now());
    if (waitMs === undefined) return undefined;
    this.#refused.set(name, (this.#refused.get(name) ?? 0) + 1);
    const hint = `Wait ${Math.ceil(waitMs / 1000)} s, then try again`;
    return new HubError("RateLimited", TOO_MANY[name], { hint, retryAfterMs: waitMs });
  }
}
