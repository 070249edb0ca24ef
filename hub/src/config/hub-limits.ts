// What a user may write about how much the hub takes on in all: `limits` in the server file, beside `mcpServers`.

import * as z from "zod/mini";
import { callLimits } from "./call-limits.ts";

/** Strict: nobody else has such a part, so an unknown word in it is a typing error. */
export const hubLimitsEntry = z.strictObject(callLimits);

export interface HubLimits {
  /** Requests of all clients under way at once, and those that wait for their turn. */
  readonly maxCalls: number;
  readonly maxQueuedCalls: number;
  readonly rate: Rate | undefined;
}

/** So many a second, and so many at once after a pause. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Generous: for a client that runs wild, not for one that is busy. */
export const DEFAULT_HUB_LIMITS: HubLimits = { maxCalls: 2000, maxQueuedCalls: 2000, rate: undefined };

export function hubLimitsOf(entry: z.infer<typeof hubLimitsEntry>): HubLimits {
  return {
    maxCalls: entry.max_calls ?? DEFAULT_HUB_LIMITS.maxCalls,
    maxQueuedCalls: entry.max_queued_calls ?? DEFAULT_HUB_LIMITS.maxQueuedCalls,
    rate: rateOf(entry),
  };
}

/** No rate, no limit of it. A burst is what a second brings, and at least one call. */
export function rateOf(entry: {
  calls_per_second?: number | undefined;
  calls_burst?: number | undefined;
}): Rate | undefined {
  const { calls_per_second: perSecond, calls_burst: burst } = entry;
  return perSecond === undefined ? undefined : { perSecond, burst: burst ?? Math.max(1, Math.ceil(perSecond)) };
}
