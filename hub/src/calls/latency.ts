// How long calls take: percentiles of the last hour and totals since the start, per server and per tool, and the same as a
// histogram for Prometheus. All in memory; what must outlive the hub is in the call log.

import { Histogram, histograms } from "../telemetry/prometheus.ts";
import { RecentCounts } from "./recent-counts.ts";
import { RecentDurations } from "./recent-durations.ts";

const MAX_SERVERS = 500;
const MAX_TOOLS = 2000;
const MAX_MS = 24 * 3_600_000;
/** Stands for all that is beyond the bound. */
const OTHER = "_other";
const SHARES = [0.5, 0.95, 0.99] as const;
const METRIC = "mcp_client_operation_duration_seconds";
const HELP = "Time that servers took to answer a call.";

export interface LatencyMetrics {
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly p99_ms: number;
  /** Since the hub started. */
  readonly total_calls: number;
  /** Those of them that failed. */
  readonly errors: number;
}

export interface MCPLatencyMetrics extends LatencyMetrics {
  readonly server_name: string;
  /** In the last 24 hours, as far as the hub has been running. */
  readonly calls_24h: number;
  readonly errors_24h: number;
}

export interface ToolLatencyMetrics extends LatencyMetrics {
  readonly tool_name: string;
}

interface Series {
  readonly recent: RecentDurations;
  readonly success: Histogram;
  readonly error: Histogram;
}

interface Server {
  readonly recent: RecentDurations;
  readonly counts: RecentCounts;
  readonly tools: Map<string, Series>;
}

export class Latency {
  readonly #now: () => number;
  readonly #servers = new Map<string, Server>();
  #toolCount = 0;

  /** `now` in milliseconds, never going back. */
  constructor({ now = () => performance.now() }: { now?: () => number } = {}) {
    this.#now = now;
  }

  record(server: string, tool: string, durationMs: number, ok: boolean): void {
    const now = this.#now();
    // No number at all, or no end, would spoil every sum from then on.
    const ms = Math.min(Math.max(0, durationMs || 0), MAX_MS);
    const ofServer = this.#serverOf(server);
    const { recent, success, error } = this.#seriesOf(ofServer, tool);
    ofServer.recent.record(ms, now);
    ofServer.counts.record(ok, now);
    recent.record(ms, now);
    (ok ? success : error).record(ms);
  }

  forget(server: string): void {
    this.#toolCount -= this.#servers.get(server)?.tools.size ?? 0;
    this.#servers.delete(server);
  }

  /** Of every server that was called, or of one. */
  metrics(server?: string): MCPLatencyMetrics[] {
    return [...this.#servers]
      .filter(([name]) => server === undefined || name === server)
      .map(([server_name, { recent, counts, tools }]) => {
        const { calls, errors } = counts.totals(this.#now());
        const metrics = this.#metricsOf(recent, [...tools.values()]);
        return { server_name, ...metrics, calls_24h: calls, errors_24h: errors };
      });
  }

  /** Of every tool of a server that was called. */
  tools(server: string): ToolLatencyMetrics[] {
    return [...(this.#servers.get(server)?.tools ?? [])].map(([tool_name, series]) => ({
      tool_name,
      ...this.#metricsOf(series.recent, [series]),
    }));
  }

  /** The text that Prometheus reads. */
  prometheus(): string {
    const lines: string[] = [];
    for (const [server, { tools }] of this.#servers) {
      for (const [tool, { success, error }] of tools) {
        const labels = { server, method: "tools/call", tool };
        lines.push(...success.lines(METRIC, { ...labels, outcome: "success" }));
        lines.push(...error.lines(METRIC, { ...labels, outcome: "error" }));
      }
    }
    return histograms(METRIC, HELP, lines);
  }

  #serverOf(name: string): Server {
    const known = this.#servers.get(name);
    if (known !== undefined) return known;
    if (this.#servers.size >= MAX_SERVERS && name !== OTHER) return this.#serverOf(OTHER);
    const server = { recent: new RecentDurations(), counts: new RecentCounts(), tools: new Map<string, Series>() };
    this.#servers.set(name, server);
    return server;
  }

  #seriesOf(server: Server, tool: string): Series {
    const known = server.tools.get(tool);
    if (known !== undefined) return known;
    if (this.#toolCount >= MAX_TOOLS && tool !== OTHER) return this.#seriesOf(server, OTHER);
    const series = { recent: new RecentDurations(), success: new Histogram(), error: new Histogram() };
    server.tools.set(tool, series);
    this.#toolCount++;
    return series;
  }

  #metricsOf(recent: RecentDurations, series: readonly Series[]): LatencyMetrics {
    const [p50_ms = 0, p95_ms = 0, p99_ms = 0] = recent.percentiles(SHARES, this.#now());
    const errors = series.reduce((sum, { error }) => sum + error.count, 0);
    const successes = series.reduce((sum, { success }) => sum + success.count, 0);
    return { p50_ms, p95_ms, p99_ms, total_calls: successes + errors, errors };
  }
}
