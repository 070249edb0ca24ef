// What is recorded: calls and their latency.

import { z } from "@hono/zod-openapi";
import type { Core, Records } from "../core.ts";
import { route, type Route } from "../route.ts";
import { callPage, latency } from "../schemas/call.ts";

const tag = "records";

/** ISO 8601, or milliseconds since the epoch. */
const time = z
  .string()
  .transform((text) => (/^\d+$/.test(text) ? Number(text) : Date.parse(text)))
  .refine((at) => Number.isFinite(at), "This is not a time: use ISO 8601, such as 2026-01-31T12:00:00Z")
  .openapi({ type: "string", description: "ISO 8601, or milliseconds since the epoch" });

const callQuery = z.strictObject({
  server: z.string().optional(),
  tool: z.string().optional(),
  group: z.string().optional(),
  client: z.string().optional(),
  workflow_id: z.string().optional(),
  success: z.stringbool({ truthy: ["true"], falsy: ["false"] }).optional().openapi({ type: "boolean" }),
  since: time.optional(),
  until: time.optional(),
  slower_than_ms: z.coerce.number().min(0).optional(),
  after: z.coerce.number().int().optional().openapi({ description: "Only calls recorded after the one with this id" }),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
  cursor: z.string().optional().openapi({ description: "`next_cursor` of the page before" }),
});

export function recordRoutes({ callLog, latency: latencies }: Records, { supervisor }: Pick<Core, "supervisor">): Route[] {
  return [
    route({
      method: "get",
      path: "/calls",
      tag,
      id: "listCalls",
      summary: "Recorded calls, newest first",
      query: callQuery,
      answer: callPage,
      run: async ({ query, url, setHeader }) => {
        const { workflow_id: workflowId, slower_than_ms: slowerThanMs, ...rest } = query;
        const page = await callLog.query({ ...rest, workflowId, slowerThanMs });
        if (page.next_cursor !== null) setHeader("link", `<${nextUrl(url, page.next_cursor)}>; rel="next"`);
        return page;
      },
    }),
    route({
      method: "get",
      path: "/metrics/latency",
      tag,
      id: "getLatency",
      summary: "Latency per server (get_mcp_latency_metrics)",
      query: z.strictObject({ server: z.string().optional().openapi({ description: "Only this one; its id or name" }) }),
      answer: z.array(latency),
      run: ({ query: { server } }) => [
        ...latencies.metrics(server === undefined ? undefined : supervisor.get(server).name),
      ],
    }),
  ];
}

/** The same query with another cursor, as a path. */
function nextUrl(url: string, cursor: string): string {
  const next = new URL(url);
  next.searchParams.set("cursor", cursor);
  return next.pathname + next.search;
}
