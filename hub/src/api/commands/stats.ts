// What the call log says about the calls of some time. Of servers that are gone too: their calls are still recorded.

import type { CallFigures, ServerStats, ToolStats } from "../../calls/call-stats.ts";
import type { Managed } from "../core.ts";

export interface StatsQuery {
  /** Id or name. */
  readonly server?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since?: number | undefined;
}

/** S4's, with what people ask for beside it. */
export interface MCPLatencyMetrics extends CallFigures {
  readonly server_name: string;
  readonly calls_24h: number;
  readonly errors_24h: number;
  readonly tools?: ToolStats[];
}

const DAY_MS = 24 * 3_600_000;

export class StatsCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
  }

  /** The last 24 hours of the servers that are configured, or of one of them with its tools. */
  async latency(server?: string): Promise<MCPLatencyMetrics[]> {
    const { hub, callLog } = this.#managed;
    const name = server === undefined ? undefined : hub.supervisor.get(server).name;
    const found = await callLog.stats({ server: name, since: Date.now() - DAY_MS });
    return found
      .filter(({ server_name }) => hub.supervisor.has(server_name))
      .map(({ tools, ...figures }) => ({
        ...figures,
        calls_24h: figures.total_calls,
        errors_24h: figures.errors,
        ...(name === undefined ? {} : { tools }),
      }));
  }

  async of({ server, since }: StatsQuery): Promise<ServerStats[]> {
    const { hub, callLog } = this.#managed;
    if (server === undefined) return callLog.stats({ since });
    const { servers } = hub.supervisor;
    const configured =
      servers.find(({ name }) => name === server) ?? servers.find(({ config }) => config.id === server);
    const stats = await callLog.stats({ server: configured?.name ?? server, since });
    // Neither configured nor called: a mistake, which an empty answer would hide.
    if (configured === undefined && stats.length === 0) hub.supervisor.get(server);
    return stats;
  }
}
