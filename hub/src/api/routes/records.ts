// What is recorded: calls and their latency.

import { z } from "@hono/zod-openapi";
import { HubError } from "../../errors.ts";
import type { StatsCommands } from "../commands/stats.ts";
import type { Records } from "../core.ts";
import { route, type Route } from "../route.ts";
import { call, callPage, latency, outcome } from "../schemas/call.ts";
import { flag, integer, number, time } from "../schemas/query.ts";

const tag = "records";

const callQuery = z.strictObject({
  server: z.string().optional(),
  tool: z.string().optional(),
  group: z.string().optional(),
  client: z.string().optional(),
  workflow_id: z.string().optional(),
  outcome: outcome.optional(),
  success: flag.optional(),
  since: time.optional(),
  until: time.optional(),
  slower_than_ms: number({ min: 0 }).optional(),
  after: integer({ min: 0, description: "Only calls recorded after the one with this id" }).optional(),
  limit: integer({ min: 1, max: 1000 }).default(50),
  cursor: z.string().optional().openapi({ description: "`next_cursor` of the page before" }),
});

const callParam = z.strictObject({ id: integer({ min: 1, description: "The id of a call" }) });

export function recordRoutes({ callLog }: Records, stats: StatsCommands): Route[] {
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
      path: "/calls/{id}",
      tag,
      id: "getCall",
      summary: "One recorded call",
      params: callParam,
      answer: call,
      run: async ({ params: { id } }) => {
        const [found] = (await callLog.query({ id })).items;
        if (found !== undefined) return found;
        throw new HubError("CallNotFound", `There is no call ${id} in the log`, {
          field: "id",
          hint: "plugboard calls shows the ids of those that are kept",
        });
      },
    }),
    route({
      method: "get",
      path: "/metrics/latency",
      tag,
      id: "getLatency",
      summary: "Latency of the last 24 hours per server; of one server, per tool too (get_mcp_latency_metrics)",
      query: z.strictObject({
        server: z.string().optional().openapi({ description: "Only this one; its id or name" }),
      }),
      answer: z.array(latency),
      run: ({ query: { server } }) => stats.latency(server),
    }),
  ];
}

/** The same query with another cursor, as a path. */
function nextUrl(url: string, cursor: string): string {
  const next = new URL(url);
  next.searchParams.set("cursor", cursor);
  return next.pathname + next.search;
}
