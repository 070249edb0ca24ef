// `resilience` of a server entry: restarts, retries, breaker, health checks and call limits. servers/resilience/ has the defaults.

import * as z from "zod/mini";
import { callLimits, count } from "./call-limits.ts";
import * as limits from "./limits.ts";

const ms = z.int().check(z.gte(1), z.lte(limits.TIMEOUT_MAX_MS));

const toolName = z.string().check(z.maxLength(limits.TOOL_NAME_MAX));

const retryRule = z.enum(["auto", "never", "safe", "always"], {
  error: 'retry must be "auto", "never", "safe" or "always"',
});

/** Strict, unlike the entry: other clients do not have `resilience`, so an unknown key is a typing error. */
export const resilienceEntry = z.strictObject({
  /** Whether the hub trusts the annotations readOnlyHint and idempotentHint of its tools. */
  trusted: z.optional(z.boolean()),
  retry: z.optional(retryRule),
  tool_retry: z.optional(z.record(toolName, retryRule)),
  breaker_failures: z.optional(count),
  breaker_cooldown_ms: z.optional(ms),
  /** 0 disables health checks. */
  health_check_ms: z.optional(z.union([z.literal(0), ms])),
  restart: z.optional(z.boolean()),
  /** Start on the first call; stop when idle. */
  on_demand: z.optional(z.boolean()),
  idle_ms: z.optional(ms),
  /** For servers that are not shared: at most this many instances. */
  max_instances: z.optional(count),
  instance_idle_ms: z.optional(ms),
  restart_first_ms: z.optional(ms),
  restart_max_ms: z.optional(ms),
  ...callLimits,
  /** The same for single tools, for all callers together. */
  tool_limits: z.optional(z.record(toolName, z.strictObject(callLimits))),
  /** Limit of notifications from the server: list changes, progress, log messages. */
  messages_per_second: z.optional(count),
});

/** Undefined means `auto`. */
export type RetryRule = z.infer<typeof retryRule>;
export type ResilienceEntry = z.infer<typeof resilienceEntry>;
