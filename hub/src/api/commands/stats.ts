// What the call log says about the calls of some time. Of servers that are gone too: their calls are still recorded.

import type { ServerStats } from "../../calls/call-stats.ts";
import type { Managed } from "../core.ts";

export interface StatsQuery {
  /** Id or name. */
  readonly server?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since?: number | undefined;
}

export class StatsCommands {
  readonly #managed: Managed;

  constructor(managed: Managed) {
    this.#managed = managed;
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
