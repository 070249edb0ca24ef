// What a user may write about how a server is kept alive and how its failures are met. What is left out gets its default
// in servers/resilience.ts.

import * as z from "zod";
import * as limits from "./limits.ts";

const count = z.number().int().min(1).max(100_000);
const ms = z.number().int().min(1).max(limits.TIMEOUT_MAX_MS);

const retryRule = z.enum(["auto", "always", "never"], { error: 'retry is "auto", "always" or "never"' });
const toolRule = z.enum(["safe", "never"], { error: 'The retry rule of a tool is "safe" or "never"' });

/** Strict, unlike the entry around it: no other client has such a part, so an unknown word in it is a typing error. */
export const resilienceEntry = z.strictObject({
  /** Believe what its tools say of themselves: readOnlyHint, idempotentHint. */
  trusted: z.boolean().optional(),
  retry: retryRule.optional(),
  tool_retry: z.record(z.string().max(limits.TOOL_NAME_MAX), toolRule).optional(),
  breaker_failures: count.optional(),
  breaker_cooldown_ms: ms.optional(),
  /** 0: never. */
  health_check_ms: z.union([z.literal(0), ms]).optional(),
  restart: z.boolean().optional(),
  /** Started by the first call, stopped when nobody calls it. */
  on_demand: z.boolean().optional(),
  idle_ms: ms.optional(),
  /** Where callers have instances of their own. */
  max_instances: count.optional(),
  instance_idle_ms: ms.optional(),
  restart_first_ms: ms.optional(),
  restart_max_ms: ms.optional(),
  max_calls: count.optional(),
  max_queued_calls: z.union([z.literal(0), count]).optional(),
});

export type ResilienceEntry = z.infer<typeof resilienceEntry>;
