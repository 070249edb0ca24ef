// What is recorded of calls: the log and the latency.

import { z } from "@hono/zod-openapi";

export const call = z
  .object({
    id: z.number().int(),
    timestamp: z.string(),
    server_name: z.string(),
    tool_name: z.string(),
    group_name: z.string(),
    client: z.string().nullable(),
    workflow_id: z.string().nullable(),
    params: z.unknown(),
    result: z.unknown(),
    success: z.boolean(),
    duration_ms: z.number(),
    error_code: z.string().nullable(),
    truncated: z.boolean(),
  })
  .openapi("Call");

export const callPage = z.object({ items: z.array(call), next_cursor: z.string().nullable() }).openapi("CallPage");
export type CallPage = z.infer<typeof callPage>;

const figures = {
  p50_ms: z.number(),
  p95_ms: z.number(),
  p99_ms: z.number(),
  total_calls: z.number().int(),
  errors: z.number().int().openapi({ description: "Those of them that failed" }),
};

export const latency = z
  .object({
    server_name: z.string(),
    ...figures,
    calls_24h: z.number().int().openapi({ description: "In the last 24 hours, as far as the hub has been running" }),
    errors_24h: z.number().int(),
    tools: z
      .array(z.object({ tool_name: z.string(), ...figures }))
      .optional()
      .openapi({ description: "Where one server is asked for" }),
  })
  .openapi("MCPLatencyMetrics");
export type LatencyMetrics = z.infer<typeof latency>;

export const stats = z
  .object({
    server_name: z.string(),
    ...figures,
    tools: z.array(z.object({ tool_name: z.string(), ...figures })),
  })
  .openapi("CallStats");
export type Stats = z.infer<typeof stats>;
