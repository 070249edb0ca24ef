// What a user may write about how a server is kept alive and how its failures are met. What is left out gets its default
// in servers/resilience.ts.

import * as z from "zod/mini";
import { callLimits, count } from "./call-limits.ts";
import * as limits from "./limits.ts";

const ms = z.int().check(z.gte(1), z.lte(limits.TIMEOUT_MAX_MS));

const retryRule = z.enum(["auto", "never", "safe", "always"], {
  error: 'A retry rule is "never", "safe" or "always", or "auto" for the usual one',
});

/** Strict, unlike the entry around it: no other client has such a part, so an unknown word in it is a typing error. */
export const resilienceEntry = z.strictObject({
  /** Whether its tools are believed what they say of themselves: readOnlyHint, idempotentHint. */
  trusted: z.optional(z.boolean()),
  retry: z.optional(retryRule),
  tool_retry: z.optional(z.record(z.string().check(z.maxLength(limits.TOOL_NAME_MAX)), retryRule)),
  breaker_failures: z.optional(count),
  breaker_cooldown_ms: z.optional(ms),
  /** 0: never. */
  health_check_ms: z.optional(z.union([z.literal(0), ms])),
  restart: z.optional(z.boolean()),
  /** Started by the first call, stopped when nobody calls it. */
  on_demand: z.optional(z.boolean()),
  idle_ms: z.optional(ms),
  /** Where callers have instances of their own. */
  max_instances: z.optional(count),
  instance_idle_ms: z.optional(ms),
  restart_first_ms: z.optional(ms),
  restart_max_ms: z.optional(ms),
  ...callLimits,
  /** That it may send unasked: announcements, progress, log messages. */
  messages_per_second: z.optional(count),
});

/** Without one, or with `auto`: the usual rule. */
export type RetryRule = z.infer<typeof retryRule>;
export type ResilienceEntry = z.infer<typeof resilienceEntry>;
