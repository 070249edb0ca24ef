// What happens inside the hub, for whoever wants to know: the edges, later the call log and the live view.

import { EventEmitter } from "node:events";
import type { Outcome } from "./calls/outcome.ts";
import type { Catalog } from "./catalog/catalog.ts";
import type { ToolChange } from "./catalog/tool-changes.ts";
import type { ConfigChanges } from "./config/diff.ts";
import type { ErrorBody } from "./errors.ts";
import type { Breaker } from "./servers/breaker.ts";
import type { Status } from "./servers/status.ts";
import type { NotificationMessage } from "./wire/jsonrpc.ts";

export interface CallRecord {
  readonly server: string;
  readonly tool: string;
  readonly group: string;
  readonly durationMs: number;
  readonly outcome: Outcome;
  /** A failure of the hub itself; the server's own errors are in its answer. */
  readonly error?: ErrorBody | undefined;
}

/** What a server printed. */
export interface ServerLine {
  readonly server: string;
  readonly at: number;
  readonly text: string;
}

interface HubEventMap {
  "server.status": [{ readonly server: string; readonly status: Status }];
  "server.log": [ServerLine];
  /** Calls are let through to a server again, or no longer. */
  "server.circuit": [{ readonly server: string; readonly breaker: Breaker }];
  /** A server says how a task is doing. */
  "server.task": [{ readonly server: string; readonly news: NotificationMessage }];
  /** Tools that a server offered before are no longer what they were. */
  "server.tools": [{ readonly server: string; readonly changes: readonly ToolChange[] }];
  "catalog.changed": [{ readonly catalog: Catalog; readonly previous: Catalog }];
  "call.finished": [CallRecord];
  "config.reloaded": [{ readonly changes: ConfigChanges; readonly description: string }];
  /** The files cannot be used as they are now; the config in force stays. */
  "config.rejected": [{ readonly error: ErrorBody }];
  /** About one server, where it is named. */
  warning: [{ readonly message: string; readonly server?: string }];
  /** Something that nobody foresaw, and where it came with a request of the API, which one: for the log alone. */
  unexpected: [{ readonly requestId?: string | undefined; readonly error: string }];
}

export class HubEvents extends EventEmitter<HubEventMap> {}
