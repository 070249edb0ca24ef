// The part of the client about calls: the call log, its figures, and calls that are under way.

import type {
  ActiveCall,
  Call,
  CallCount,
  CallDeletion,
  CallNeighbours,
  CallPage,
  CallSeriesQuery,
  CallsQuery,
  CallSummaryPage,
  LatencyMetrics,
  Series,
  Stats,
} from "../schemas/call.ts";
import type { Connection } from "./connection.ts";

/** Default: all recorded calls. */
export type StatsQuery = Pick<CallsQuery, "server" | "since">;

export class CallsClient {
  readonly #hub: Connection;

  constructor(hub: Connection) {
    this.#hub = hub;
  }

  list(query: CallsQuery = {}): Promise<CallPage> {
    return this.#hub.request("/calls", { query: { ...query } });
  }

  /** Like `list`, with a preview of the arguments instead of arguments and result. */
  summaries(query: CallsQuery = {}): Promise<CallSummaryPage> {
    return this.#hub.request("/calls", { query: { ...query, fields: "summary" } });
  }

  count(query: CallsQuery = {}): Promise<CallCount> {
    return this.#hub.request("/calls/count", { query: { ...query } });
  }

  /** The calls that match, newest first, as the bytes of a file. */
  async *export(query: CallsQuery = {}, format: "ndjson" | "csv" = "ndjson"): AsyncGenerator<Buffer> {
    const body = await this.#hub.open("/calls/export", { query: { ...query, format } });
    for await (const chunk of body) yield Buffer.from(chunk);
  }

  deleteBefore(time: string | number): Promise<CallDeletion> {
    return this.#hub.request("/calls", { method: "DELETE", query: { before: time } });
  }

  /** Ids of the calls of the same session before and after a call. */
  neighbours(id: number): Promise<CallNeighbours> {
    return this.#hub.request(`/calls/${id}/neighbours`);
  }

  /** Figures over time. */
  series(query: CallSeriesQuery = {}): Promise<Series> {
    return this.#hub.request("/stats/series", { query: { ...query } });
  }

  get(id: number): Promise<Call> {
    return this.#hub.request(`/calls/${id}`);
  }

  /** Calls that are under way. */
  active(): Promise<ActiveCall[]> {
    return this.#hub.request("/calls/active");
  }

  /** Its caller gets an error. */
  cancel(id: string): Promise<void> {
    return this.#hub.request(`/calls/active/${encodeURIComponent(id)}`, { method: "DELETE" });
  }

  /** Of the last 24 hours. */
  latency(name?: string): Promise<LatencyMetrics[]> {
    return this.#hub.request("/metrics/latency", { query: { server: name } });
  }

  /** By server and tool, from the call log; also of removed servers. */
  stats(query: StatsQuery = {}): Promise<Stats[]> {
    return this.#hub.request("/stats", { query: { ...query } });
  }
}
