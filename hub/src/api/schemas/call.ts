// What is recorded of calls: the log and the latency.

import { z } from "@hono/zod-openapi";
import { OUTCOMES } from "../../calls/outcome.ts";

export const outcome = z.enum(OUTCOMES).openapi({
  description:
    "`ok`; `tool_error`: the tool says that it failed; `failed`: no usable answer came; `cancelled` by the caller; `refused` before it ran",
});

export const call = z
  .object({
    id: z.number().int(),
    timestamp: z.string(),
    server_name: z.string().openapi({ description: "Empty for a refused call that named no server" }),
    tool_name: z.string(),
    group_name: z.string(),
    client: z.string().nullable(),
    workflow_id: z.string().nullable(),
    params: z.unknown(),
    result: z.unknown(),
    outcome,
    success: z.boolean().openapi({ description: "Whether the outcome is `ok`" }),
    duration_ms: z
      .number()
      .openapi({ description: "The server's time, without that in which its client was asked something" }),
    error_code: z.string().nullable(),
    error: z.string().nullable().openapi({ description: "Why it is not ok, in words" }),
    truncated: z.boolean(),
  })
  .openapi("Call");

export type Call = z.infer<typeof call>;

export const callPage = z.object({ items: z.array(call), next_cursor: z.string().nullable() }).openapi("CallPage");
export type CallPage = z.infer<typeof callPage>;

const figures = {
  p50_ms: z.number(),
  p95_ms: z.number(),
  p99_ms: z.number(),
  total_calls: z.number().int().openapi({ description: "Calls that reached the server: ok, tool_error and failed" }),
  errors: z.number().int().openapi({ description: "Those of them that failed" }),
  tool_errors: z.number().int().openapi({ description: "Those of them whose tool says that it failed" }),
  cancelled: z.number().int().openapi({ description: "Beside them: given up by their caller" }),
  refused: z.number().int().openapi({ description: "Beside them: turned away before they reached the server" }),
};

export const latency = z
  .object({
    server_name: z.string(),
    ...figures,
    calls_24h: z
      .number()
      .int()
      .openapi({ description: "The same as total_calls: all figures are of the last 24 hours" }),
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
