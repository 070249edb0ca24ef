// How long servers took to answer calls, by tool and outcome, as a histogram for Prometheus: in memory, since the hub's start.
// Percentiles for people come from the call log (call-stats.ts), which outlives the hub.

import { Histogram, histograms } from "../telemetry/prometheus.ts";
import { isServersOwn, type Outcome } from "./outcome.ts";

const MAX_SERVERS = 500;
const MAX_TOOLS = 2000;
const MAX_MS = 24 * 3_600_000;
/** Stands for all that is beyond the bound. */
const OTHER = "_other";
const METRIC = "mcp_client_operation_duration_seconds";
const HELP = "Time that servers took to answer a call.";

type ByOutcome = Map<Outcome, Histogram>;
type ByTool = Map<string, ByOutcome>;

export class Latency {
  readonly #servers = new Map<string, ByTool>();
  #toolCount = 0;

  /** Calls that say nothing about their server are not counted. */
  record(server: string, tool: string, durationMs: number, outcome: Outcome): void {
    if (!isServersOwn(outcome)) return;
    const series = this.#seriesOf(this.#serverOf(server), tool);
    let histogram = series.get(outcome);
    if (histogram === undefined) series.set(outcome, (histogram = new Histogram()));
    // No number at all, or no end, would spoil every sum from then on.
    histogram.record(Math.min(Math.max(0, durationMs || 0), MAX_MS));
  }

  forget(server: string): void {
    this.#toolCount -= this.#servers.get(server)?.size ?? 0;
    this.#servers.delete(server);
  }

  /** The text that Prometheus reads. */
  prometheus(): string {
    const lines: string[] = [];
    for (const [server, tools] of this.#servers) {
      for (const [tool, series] of tools) {
        for (const [outcome, histogram] of series) {
          lines.push(...histogram.lines(METRIC, { server, method: "tools/call", tool, outcome }));
        }
      }
    }
    return histograms(METRIC, HELP, lines);
  }

  #serverOf(name: string): ByTool {
    const known = this.#servers.get(name);
    if (known !== undefined) return known;
    if (this.#servers.size >= MAX_SERVERS && name !== OTHER) return this.#serverOf(OTHER);
    const tools: ByTool = new Map();
    this.#servers.set(name, tools);
    return tools;
  }

  #seriesOf(server: ByTool, tool: string): ByOutcome {
    const known = server.get(tool);
    if (known !== undefined) return known;
    if (this.#toolCount >= MAX_TOOLS && tool !== OTHER) return this.#seriesOf(server, OTHER);
    const series: ByOutcome = new Map();
    server.set(tool, series);
    this.#toolCount++;
    return series;
  }
}
