// How long calls took, in memory since the hub's start, as histograms for Prometheus: of servers by tool, and of callers by
// group, client and method. Percentiles for users come from the call log, which persists over restarts.

import { isServersOwn, type Outcome } from "../call-log/outcome.ts";
import { Histogram, histograms } from "../telemetry/prometheus.ts";

/** The label of everything beyond a bound. */
const OTHER = "_other";
const MAX_MS = 24 * 3_600_000;

type ByName<V> = Map<string, V>;
type ByOutcome = Map<Outcome, Histogram>;

const SERVER_METRIC = "mcp_client_operation_duration_seconds";
const SERVER_HELP = "Time that servers took to answer a call.";
const MAX_SERVERS = 500;
const MAX_TOOLS = 2000;

/** Of servers. */
export class Latency {
  readonly #servers = new Map<string, ByName<ByOutcome>>();
  #toolCount = 0;

  /** Cancelled and refused calls are not counted: they do not show how the server performs. */
  record(server: string, tool: string, durationMs: number, outcome: Outcome): void {
    if (!isServersOwn(outcome)) return;
    const series = this.#seriesOf(this.#serverOf(server), tool);
    let histogram = series.get(outcome);
    if (histogram === undefined) series.set(outcome, (histogram = new Histogram()));
    // NaN or Infinity would spoil every later sum.
    histogram.record(Math.min(Math.max(0, durationMs || 0), MAX_MS));
  }

  forget(server: string): void {
    this.#toolCount -= this.#servers.get(server)?.size ?? 0;
    this.#servers.delete(server);
  }

  /** In the text format of Prometheus. */
  prometheus(): string {
    const lines: string[] = [];
    for (const [server, tools] of this.#servers) {
      for (const [tool, series] of tools) {
        for (const [outcome, histogram] of series) {
          lines.push(...histogram.lines(SERVER_METRIC, { server, method: "tools/call", tool, outcome }));
        }
      }
    }
    return histograms(SERVER_METRIC, SERVER_HELP, lines);
  }

  #serverOf(name: string): ByName<ByOutcome> {
    const known = this.#servers.get(name);
    if (known !== undefined) return known;
    if (this.#servers.size >= MAX_SERVERS && name !== OTHER) return this.#serverOf(OTHER);
    const tools: ByName<ByOutcome> = new Map();
    this.#servers.set(name, tools);
    return tools;
  }

  #seriesOf(server: ByName<ByOutcome>, tool: string): ByOutcome {
    const known = server.get(tool);
    if (known !== undefined) return known;
    if (this.#toolCount >= MAX_TOOLS && tool !== OTHER) return this.#seriesOf(server, OTHER);
    const series: ByOutcome = new Map();
    server.set(tool, series);
    this.#toolCount++;
    return series;
  }
}

const CALLER_METRIC = "mcp_server_operation_duration_seconds";
const CALLER_HELP = "Time that the hub took to answer a request that it passed on to a server.";
const MAX_SERIES = 1000;
const MAX_NAME = 64;
/** Callers may send any other method: all of those share one label. */
const METHODS: ReadonlySet<string> = new Set([
  "tools/call",
  "prompts/get",
  "resources/read",
  "completion/complete",
  "tasks/get",
  "tasks/result",
  "tasks/update",
  "tasks/cancel",
]);

export interface CallerLabels {
  readonly group?: string | undefined;
  /** The client's name from its handshake. */
  readonly client?: string | undefined;
  readonly method: string;
}

/** Of callers. */
export class CallerDurations {
  readonly #groups: ByName<ByName<ByName<ByOutcome>>> = new Map();
  #size = 0;

  record({ group = "", client = "", method }: CallerLabels, durationMs: number, outcome: Outcome): void {
    const known = METHODS.has(method) ? method : OTHER;
    const series = this.#seriesOf(group, client.length > MAX_NAME ? client.slice(0, MAX_NAME) : client, known);
    let histogram = series.get(outcome);
    if (histogram === undefined) series.set(outcome, (histogram = new Histogram()));
    histogram.record(durationMs);
  }

  /** In the text format of Prometheus. */
  prometheus(): string {
    const lines: string[] = [];
    for (const [group, clients] of this.#groups) {
      for (const [client, methods] of clients) {
        for (const [method, series] of methods) {
          for (const [outcome, histogram] of series) {
            lines.push(...histogram.lines(CALLER_METRIC, { group, client, method, outcome }));
          }
        }
      }
    }
    return histograms(CALLER_METRIC, CALLER_HELP, lines);
  }

  #seriesOf(group: string, client: string, method: string): ByOutcome {
    const known = this.#groups.get(group)?.get(client)?.get(method);
    if (known !== undefined) return known;
    // One more series for each method.
    if (this.#size >= MAX_SERIES && group !== OTHER) return this.#seriesOf(OTHER, OTHER, method);
    const series: ByOutcome = new Map();
    entryOf(entryOf(this.#groups, group), client).set(method, series);
    this.#size++;
    return series;
  }
}

function entryOf<V>(map: ByName<ByName<V>>, key: string): ByName<V> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const entry = new Map<string, V>();
  map.set(key, entry);
  return entry;
}
