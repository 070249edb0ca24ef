// How long the hub took to answer its callers, by group, client and method, as a histogram for Prometheus. How long the
// servers took is in latency.ts.

import { Histogram, histograms } from "../telemetry/prometheus.ts";
import type { Outcome } from "./outcome.ts";

const METRIC = "mcp_server_operation_duration_seconds";
const HELP = "Time that the hub took to answer a request that it passed on to a server.";
const MAX_SERIES = 1000;
const MAX_NAME = 64;
/** Stands for all that is beyond the bound. */
const OTHER = "_other";
/** What a caller may ask of a server; it can make up others, and those are one. */
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

/** Who asked, and for what. */
export interface Served {
  readonly group?: string | undefined;
  /** What the caller calls itself. */
  readonly client?: string | undefined;
  readonly method: string;
}

type Series = Map<Outcome, Histogram>;

type ByName<V> = Map<string, V>;

export class ServedDurations {
  readonly #groups: ByName<ByName<ByName<Series>>> = new Map();
  #size = 0;

  record({ group = "", client = "", method }: Served, durationMs: number, outcome: Outcome): void {
    const known = METHODS.has(method) ? method : OTHER;
    const series = this.#seriesOf(group, client.length > MAX_NAME ? client.slice(0, MAX_NAME) : client, known);
    let histogram = series.get(outcome);
    if (histogram === undefined) series.set(outcome, (histogram = new Histogram()));
    histogram.record(durationMs);
  }

  /** The text that Prometheus reads. */
  prometheus(): string {
    const lines: string[] = [];
    for (const [group, clients] of this.#groups) {
      for (const [client, methods] of clients) {
        for (const [method, series] of methods) {
          for (const [outcome, histogram] of series) {
            lines.push(...histogram.lines(METRIC, { group, client, method, outcome }));
          }
        }
      }
    }
    return histograms(METRIC, HELP, lines);
  }

  #seriesOf(group: string, client: string, method: string): Series {
    const known = this.#groups.get(group)?.get(client)?.get(method);
    if (known !== undefined) return known;
    // Of each method there is one more then.
    if (this.#size >= MAX_SERIES && group !== OTHER) return this.#seriesOf(OTHER, OTHER, method);
    const series: Series = new Map();
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
