// What is recorded: calls and their latency.

import { z } from "@hono/zod-openapi";
import type { Core, Records } from "../core.ts";
import { route, type Route } from "../route.ts";
import { callPage, latency } from "../schemas/call.ts";
import { flag, integer, number, time } from "../schemas/query.ts";

const tag = "records";

const callQuery = z.strictObject({
  server: z.string().optional(),
  tool: z.string().optional(),
  group: z.string().optional(),
  client: z.string().optional(),
  workflow_id: z.string().optional(),
  success: flag.optional(),
  since: time.optional(),
  until: time.optional(),
  slower_than_ms: number({ min: 0 }).optional(),
  after: integer({ min: 0, description: "Only calls recorded after the one with this id" }).optional(),
  limit: integer({ min: 1, max: 1000 }).default(50),
  cursor: z.string().optional().openapi({ description: "`next_cursor` of the page before" }),
});

export function recordRoutes(
  { callLog, latency: latencies }: Records,
  { supervisor }: Pick<Core, "supervisor">,
): Route[] {
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
      summary: "Latency per server; of one server, per tool too (get_mcp_latency_metrics)",
      query: z.strictObject({
        server: z.string().optional().openapi({ description: "Only this one; its id or name" }),
      }),
      answer: z.array(latency),
      run: ({ query: { server } }) => {
        if (server === undefined) return latencies.metrics();
        const { name } = supervisor.get(server);
        return latencies.metrics(name).map((metrics) => ({ ...metrics, tools: latencies.tools?.(name) }));
      },
    }),
  ];
}

/** The same query with another cursor, as a path. */
function nextUrl(url: string, cursor: string): string {
  const next = new URL(url);
  next.searchParams.set("cursor", cursor);
  return next.pathname + next.search;
}
