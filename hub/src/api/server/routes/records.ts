// Recorded calls, their latency and statistics.

import * as z from "zod/mini";
import {
  call,
  callCount,
  callDeletion,
  callExport,
  callFilters,
  callNeighbours,
  callPage,
  callQuery,
  callSummaryPage,
  latency,
  series,
  seriesQuery,
  stats,
} from "../../schemas/call.ts";
import { integer, serverFilter, time } from "../../schemas/query.ts";
import type { CallCommands } from "../commands/calls.ts";
import type { StatsCommands } from "../commands/stats.ts";
import type { Records } from "../core.ts";
import { rightsOf, routesOf, SENT, type Route } from "../route.ts";

const { get, remove } = routesOf("records");
const callParam = z.strictObject({ id: integer({ min: 1, description: "Id of a call" }) });

export function recordRoutes({ callLog }: Records, calls: CallCommands, commands: StatsCommands): Route[] {
  return [
    get("/calls", "listCalls", "Recorded calls, newest first", {
      query: callQuery,
      answer: z.union([callPage, callSummaryPage]),
      run: async (request) => {
        const { query, url, setHeader } = request;
        const { limit, cursor, after } = query;
        const wanted = { ...calls.filtersFor(rightsOf(request), query), limit, cursor, after };
        const page = query.fields === "summary" ? await callLog.summaries(wanted) : await callLog.query(wanted);
        if (page.next_cursor !== null) setHeader("link", `<${nextUrl(url, page.next_cursor)}>; rel="next"`);
        return page;
      },
    }),
    get("/calls/count", "countCalls", "Number of recorded calls that match the filters", {
      query: callFilters,
      answer: callCount,
      run: (request) => calls.count(rightsOf(request), request.query),
    }),
    get("/calls/export", "exportCalls", "All recorded calls that match the filters, newest first, as a file", {
      query: callExport,
      answer: z.string(),
      answerType: "application/x-ndjson",
      run: async (request): Promise<typeof SENT> => {
        const { format, ...filters } = request.query;
        await calls.export(calls.filtersFor(rightsOf(request), filters), format, request.response);
        return SENT;
      },
    }),
    remove("/calls", "deleteCalls", "Delete the recorded calls that began before a time", {
      query: z.strictObject({ before: time }),
      answer: callDeletion,
      run: ({ query }) => calls.deleteBefore(query.before),
    }),
    get("/calls/{id}", "getCall", "One recorded call", {
      params: callParam,
      answer: call,
      run: (request) => calls.get(rightsOf(request), request.params.id),
    }),
    get("/calls/{id}/neighbours", "getCallNeighbours", "The calls of the same session before and after a call", {
      params: callParam,
      answer: callNeighbours,
      run: (request) => calls.neighbours(rightsOf(request), request.params.id),
    }),
    get(
      "/metrics/latency",
      "getLatency",
      "Latency of the last 24 hours by server; of one server, also by tool (get_mcp_latency_metrics)",
      {
        query: z.strictObject({ server: serverFilter }),
        answer: z.array(latency),
        run: ({ query: { server } }) => commands.latency(server),
      },
    ),
    get("/stats", "getStats", "p50, p95, p99, calls and errors by server and tool, from the call log", {
      query: z.strictObject({ server: serverFilter, since: z.optional(time) }),
      answer: z.array(stats),
      run: ({ query }) => commands.of(query),
    }),
    get(
      "/stats/series",
      "getSeries",
      "Calls, errors and percentiles over time; percentiles of many calls are estimated",
      {
        query: seriesQuery,
        answer: series,
        run: ({ query }) => calls.series(query),
      },
    ),
  ];
}

/** The same query with another cursor, as a path. */
function nextUrl(url: string, cursor: string): string {
  const next = new URL(url);
  next.searchParams.set("cursor", cursor);
  return next.pathname + next.search;
}
