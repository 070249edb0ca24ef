// The hub itself.

import { z } from "@hono/zod-openapi";
import { errorBody } from "./error.ts";

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
    config_error: errorBody
      .nullable()
      .openapi({ description: "Why the config files as they are now are not in force; the last good config is" }),
    degraded: z.array(z.string()).openapi({ description: "What does not work as it should, right now" }),
  })
  .openapi("Status");
export type HubStatus = z.infer<typeof status>;
