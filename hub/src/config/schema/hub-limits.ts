// The limits of the whole hub: `limits` in the server file, beside `mcpServers`.

import * as z from "zod/mini";
import type { Rate } from "../../lib/token-bucket.ts";
import { callLimits } from "./call-limits.ts";

/** Strict: other clients do not have `limits`, so an unknown key is a typing error. */
export const hubLimitsEntry = z.strictObject(callLimits);

export interface HubLimits {
  /** Concurrent and queued requests of all clients together. */
  readonly maxCalls: number;
  readonly maxQueuedCalls: number;
  readonly rate: Rate | undefined;
}

/** High enough for busy clients: these stop a client in a loop. */
export const DEFAULT_HUB_LIMITS: HubLimits = { maxCalls: 2000, maxQueuedCalls: 2000, rate: undefined };

export function toHubLimits(entry: z.infer<typeof hubLimitsEntry>): HubLimits {
  return {
    maxCalls: entry.max_calls ?? DEFAULT_HUB_LIMITS.maxCalls,
    maxQueuedCalls: entry.max_queued_calls ?? DEFAULT_HUB_LIMITS.maxQueuedCalls,
    rate: toRate(entry),
  };
}

/** Undefined without a rate. The default burst is the number of calls in one second, at least one. */
export function toRate(entry: {
  calls_per_second?: number | undefined;
  calls_burst?: number | undefined;
}): Rate | undefined {
  const { calls_per_second: perSecond, calls_burst: burst } = entry;
  return perSecond === undefined ? undefined : { perSecond, burst: burst ?? Math.max(1, Math.ceil(perSecond)) };
}
