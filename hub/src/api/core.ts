// What the management API is given to work with. Building it is hub.ts's.

import type { CallLog } from "../calls/log.ts";
import type { Calls } from "../calls/call.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { HubPaths } from "../config/paths.ts";
import type { Configuration } from "../configuration.ts";
import type { HubEvents } from "../events.ts";
import type { SecretStore } from "../secrets/store.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import type { LatencyMetrics } from "./schemas/call.ts";

/** The parts of a hub that are managed; a Hub is one. */
export interface Core {
  readonly supervisor: Supervisor;
  readonly configuration: Configuration;
  readonly calls: Calls;
  readonly secrets: SecretStore;
  readonly events: HubEvents;
  readonly catalog: Catalog;
  readonly warnings: readonly string[];
}

export interface Records {
  readonly callLog: Pick<CallLog, "query" | "degraded">;
  readonly latency: { metrics(server?: string): readonly LatencyMetrics[] };
}

export interface Managed extends Records {
  readonly hub: Core;
  readonly paths: Pick<HubPaths, "config" | "data">;
  /** The last lines that a server wrote to stderr; none where nobody keeps them. */
  readonly logs?: (server: string, tail: number) => string;
}
