// The hub itself.

import { z } from "@hono/zod-openapi";

export const status = z
  .object({
    version: z.string(),
    pid: z.number().int(),
    started_at: z.string(),
    uptime_ms: z.number().int(),
    demo: z.boolean().openapi({ description: "No config yet: the built-in demo server stands in" }),
    revision: z.string(),
    servers: z.record(z.string(), z.number().int()).openapi({ description: "How many in each state, and `total`" }),
    groups: z.number().int(),
    tools: z.number().int(),
    event_streams: z.number().int(),
    warnings: z.array(z.string()),
    degraded: z.array(z.string()).openapi({ description: "What does not work as it should, right now" }),
  })
  .openapi("Status");
export type HubStatus = z.infer<typeof status>;
