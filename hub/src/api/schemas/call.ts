// Recorded calls and their latency.

import * as z from "zod/mini";
import { OUTCOMES } from "../../call-log/outcome.ts";
import type { CallRow } from "../../call-log/port.ts";
import { component, describe } from "./docs.ts";
import { flag, integer, number, time } from "./query.ts";

export const outcome = describe(
  z.enum(OUTCOMES),
  "`ok`; `tool_error`: the tool reported an error; `failed`: no usable answer; `cancelled` by the caller; `refused` before the tool ran",
);

const text = z.optional(z.string());

const filters = {
  server: text,
  tool: text,
  group: text,
  client: text,
  session: text,
  principal: describe(z.optional(z.string()), "Who called: a principal, or the email address of a user"),
  token: describe(z.optional(z.string()), "The access token by its name, or the OAuth client"),
  workflow_id: text,
  outcome: z.optional(outcome),
  success: z.optional(flag()),
  since: z.optional(time),
  until: z.optional(time),
  slower_than_ms: z.optional(number({ min: 0 })),
  q: describe(
    z.optional(z.string().check(z.minLength(1), z.maxLength(256))),
    "Text in the tool's name, the arguments or the result; ASCII letters of either case. A page may be short or empty, with a cursor, if the search takes long",
  ),
};

export const callFilters = z.strictObject(filters);
export type CallFilters = z.output<typeof callFilters>;

export const callExport = z.strictObject({
  ...filters,
  format: z._default(z.enum(["ndjson", "csv"]), "ndjson"),
});

export const callQuery = z.strictObject({
  ...filters,
  fields: describe(
    z._default(z.enum(["all", "summary"]), "all"),
    "`summary`: a preview of the arguments instead of `params` and `result`",
  ),
  after: z.optional(integer({ min: 0, description: "Only calls recorded after the call with this id" })),
  limit: z._default(integer({ min: 1, max: 1000 }), 50),
  cursor: describe(z.optional(z.string()), "`next_cursor` of the previous page"),
});

type ParsedCallQuery = z.output<typeof callQuery>;
type Time = "since" | "until";

/** The query as a client gives it. Times are ISO 8601, or milliseconds since the epoch. */
export type CallsQuery = Partial<Omit<ParsedCallQuery, Time>> & { readonly [K in Time]?: string | number };

export const call = component(
  "Call",
  z.object({
    id: z.int(),
    timestamp: z.string(),
    server_name: describe(z.string(), "Empty for a refused call that named no server"),
    tool_name: z.string(),
    exposed_name: describe(z.nullable(z.string()), "Name of the tool in the group, if the group has renamed it"),
    group_name: z.string(),
    client: z.nullable(z.string()),
    principal: describe(z.nullable(z.string()), "Who called; null: a caller without credentials of the hub"),
    token: describe(z.nullable(z.string()), "The access token by its name, or the OAuth client"),
    workflow_id: z.nullable(z.string()),
    params: z.unknown(),
    result: z.unknown(),
    outcome,
    success: describe(z.boolean(), "Whether the outcome is `ok`"),
    duration_ms: describe(z.number(), "Time of the server, without the time in which its client was asked something"),
    error_code: z.nullable(z.string()),
    error: describe(z.nullable(z.string()), "The reason, in words, unless the outcome is `ok`"),
    truncated: z.boolean(),
    session: describe(z.nullable(z.string()), "Session of the client; null if it has none"),
    client_version: z.nullable(z.string()),
    request_id: describe(z.nullable(z.string()), "Id of the HTTP request, as in X-Request-Id"),
    trace_id: z.nullable(z.string()),
    protocol: describe(
      z.object({ client: z.nullable(z.string()), server: z.nullable(z.string()) }),
      "Revisions of MCP on both sides",
    ),
    queue_ms: describe(z.nullable(z.number()), "Wait for a free slot, before `duration_ms`"),
    asked_ms: describe(z.nullable(z.number()), "Time in which the client was asked something"),
    attempts: describe(z.nullable(z.int()), "How often the call was sent to the server"),
    bytes: describe(
      z.object({ in: z.nullable(z.int()), out: z.nullable(z.int()) }),
      "Size of the recorded arguments and result; null if they are cut",
    ),
  } satisfies Record<keyof CallRow, z.ZodMiniType>),
);
export type Call = z.infer<typeof call>;

export const callPage = component("CallPage", z.object({ items: z.array(call), next_cursor: z.nullable(z.string()) }));
export type CallPage = z.infer<typeof callPage>;

export const callSummary = component(
  "CallSummary",
  z.object({
    ...z.omit(call, { params: true, result: true }).shape,
    preview: describe(z.string(), "The beginning of the arguments, at most 120 characters"),
  }),
);
export type CallSummary = z.infer<typeof callSummary>;

export const callSummaryPage = component(
  "CallSummaryPage",
  z.object({ items: z.array(callSummary), next_cursor: z.nullable(z.string()) }),
);
export type CallSummaryPage = z.infer<typeof callSummaryPage>;

export const callCount = component(
  "CallCount",
  z.object({ total: z.int(), exact: describe(z.boolean(), "False: there are at least so many") }),
);
export type CallCount = z.infer<typeof callCount>;

export const callDeletion = component("CallDeletion", z.object({ deleted: z.int() }));
export type CallDeletion = z.infer<typeof callDeletion>;

export const callNeighbours = component(
  "CallNeighbours",
  z.object({
    previous: describe(z.nullable(z.int()), "Id of the call of the same session before this one"),
    next: z.nullable(z.int()),
  }),
);
export type CallNeighbours = z.infer<typeof callNeighbours>;

export const activeCall = component(
  "ActiveCall",
  z.object({
    id: describe(z.string(), "Unique in this run of the hub"),
    server: z.string(),
    tool: z.string(),
    group: z.string(),
    client: z.nullable(z.string()),
    session: z.nullable(z.string()),
    started_at: z.string(),
  }),
);
export type ActiveCall = z.infer<typeof activeCall>;

const figures = {
  p50_ms: z.number(),
  p95_ms: z.number(),
  p99_ms: z.number(),
  total_calls: describe(z.int(), "Calls that reached the server: ok, tool_error and failed"),
  errors: describe(z.int(), "Of total_calls: failed"),
  tool_errors: describe(z.int(), "Of total_calls: the tool reported an error"),
  cancelled: describe(z.int(), "Not in total_calls: cancelled by the caller"),
  refused: describe(z.int(), "Not in total_calls: refused before they reached the server"),
};

const toolFigures = z.array(z.object({ tool_name: z.string(), ...figures }));

export const latency = component(
  "MCPLatencyMetrics",
  z.object({
    server_name: z.string(),
    ...figures,
    calls_24h: describe(z.int(), "Same as total_calls: all figures cover the last 24 hours"),
    errors_24h: z.int(),
    tools: describe(z.optional(toolFigures), "Present if one server is requested"),
  }),
);
export type LatencyMetrics = z.infer<typeof latency>;

export const stats = component("CallStats", z.object({ server_name: z.string(), ...figures, tools: toolFigures }));
export type Stats = z.infer<typeof stats>;

export const seriesQuery = z.strictObject({
  since: describe(z.optional(time), "Default: 24 hours before `until`"),
  until: describe(z.optional(time), "Default: now"),
  buckets: z._default(integer({ min: 1, max: 500 }), 96),
  server: text,
  tool: text,
  client: text,
  group: text,
  by: z._default(z.enum(["none", "server", "tool", "client"]), "none"),
});
export type SeriesQuery = z.output<typeof seriesQuery>;

/** As a client gives it. */
export type CallSeriesQuery = Partial<Omit<SeriesQuery, Time>> & { readonly [K in Time]?: string | number };

const times = z.array(z.nullable(z.number()));
const counts = z.array(z.int());

export const series = component(
  "CallSeries",
  z.object({
    from: z.string(),
    until: z.string(),
    step_ms: z.number(),
    series: describe(
      z.array(
        z.object({
          key: describe(
            z.nullable(z.string()),
            "Of `by`; null: all calls, or calls without it. `other` stands for all beyond the first eleven",
          ),
          calls: describe(counts, "Calls that reached the server, by bucket"),
          errors: counts,
          tool_errors: counts,
          p50_ms: describe(times, "Null: no calls in the bucket"),
          p95_ms: times,
          p99_ms: times,
        }),
      ),
      "Biggest first, at most 12",
    ),
  }),
);
export type Series = z.infer<typeof series>;
