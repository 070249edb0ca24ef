// What the management API is given to work with. Building it is hub.ts's.

import type { Calls } from "../calls/call.ts";
import type { CallLog } from "../calls/log.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { HubPaths } from "../config/paths.ts";
import type { Configuration } from "../configuration.ts";
import type { HubEvents } from "../events.ts";
import type { SecretStore } from "../secrets/store.ts";
import type { Supervisor } from "../servers/supervisor.ts";

/** The parts of a hub that are managed; a Hub is one. */
export interface Core {
  readonly supervisor: Supervisor;
  readonly configuration: Configuration;
  readonly calls: Calls;
  readonly secrets: SecretStore;
  readonly events: HubEvents;
  readonly catalog: Catalog;
  readonly warnings: readonly string[];
  readonly isStopping: boolean;
}

export interface Records {
  readonly callLog: Pick<CallLog, "query" | "stats" | "degraded">;
}

export interface Managed extends Records {
  readonly hub: Core;
  readonly paths: Pick<HubPaths, "config" | "data">;
}
