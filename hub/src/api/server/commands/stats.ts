// Statistics of recorded calls, also of servers that have been removed.

import type { CallFigures, ServerStats, ToolStats } from "../../../call-log/stats.ts";
import type { Managed } from "../core.ts";

export interface StatsQuery {
  /** Id or name. */
  readonly server?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since?: number | undefined;
}

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

  /** The last 24 hours of all configured servers, or of one server with its tools. */
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
    // Neither configured nor recorded: throw ServerNotFound instead of returning nothing.
    if (configured === undefined && stats.length === 0) hub.supervisor.get(server);
    return stats;
  }
}
