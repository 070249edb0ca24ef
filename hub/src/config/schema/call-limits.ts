// Limits on calls. One server (`resilience`) and the whole hub (`limits`) use the same fields.

import * as z from "zod/mini";

export const count = z.int().check(z.gte(1), z.lte(100_000));

export const callLimits = {
  max_calls: z.optional(count),
  max_queued_calls: z.optional(z.union([z.literal(0), count])),
  calls_per_second: z.optional(z.number().check(z.gte(0.001), z.lte(1_000_000))),
  calls_burst: z.optional(count),
};
