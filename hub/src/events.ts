// The hub's internal events, for the edges, the log and the live view.

import { EventEmitter } from "node:events";
import type { PendingApproval } from "./calls/call-approval/waiting-call.ts";
import type { Outcome } from "./call-log/outcome.ts";
import type { Catalog } from "./catalog/catalog.ts";
import type { ToolChange } from "./approval/tool-changes.ts";
import type { ConfigChanges } from "./config/edit/diff.ts";
import type { ErrorBody } from "./errors.ts";
import type { Breaker } from "./servers/resilience/breaker.ts";
import type { LoginEvent } from "./servers/login/logins.ts";
import type { LogLine } from "./servers/server-log.ts";
import type { Status } from "./servers/status.ts";
import type { ConnectedClient } from "./live/sessions.ts";
import type { NotificationMessage } from "./protocol/rpc/jsonrpc.ts";

/** A tool call that is under way. */
export interface RunningCall {
  /** Unique in this run of the hub. */
  readonly activeId: string;
  readonly server: string;
  readonly tool: string;
  readonly group: string;
  readonly client: string | undefined;
  /** Public id of the client's session. */
  readonly session: string | undefined;
  /** When it began, in milliseconds since the epoch. */
  readonly at: number;
}

export interface CallRecord {
  /** The number of its activeId; undefined for a refused call, which never was under way. */
  readonly number?: number | undefined;
  readonly server: string;
  readonly tool: string;
  readonly group: string;
  readonly client?: string | undefined;
  /** Public id of the client's session. */
  readonly session?: string | undefined;
  readonly durationMs: number;
  readonly outcome: Outcome;
  /** Why the outcome is not `ok`, without secrets. */
  readonly message?: string | undefined;
  /** An error of the hub; the server's own errors are in its reply. */
  readonly error?: ErrorBody | undefined;
}

/** A line of a server's log. */
export interface ServerLine extends LogLine {
  readonly server: string;
}

interface HubEventMap {
  "server.status": [{ readonly server: string; readonly status: Status }];
  "server.log": [ServerLine];
  /** The circuit breaker of a server opened or closed. */
  "server.circuit": [{ readonly server: string; readonly breaker: Breaker }];
  /** A server reports the status of a task. */
  "server.task": [{ readonly server: string; readonly notification: NotificationMessage }];
  /** Tools are no longer as they were approved, or new. */
  "server.tools": [{ readonly server: string; readonly changes: readonly ToolChange[] }];
  /** A person has approved what a server runs, or some of its tools. */
  "server.approved": [{ readonly server: string; readonly by: string; readonly tools?: readonly string[] | undefined }];
  /** A login at a server begins, ends, or is renewed. */
  login: [LoginEvent];
  "catalog.changed": [{ readonly catalog: Catalog; readonly previous: Catalog }];
  /** The object is in use by the call: read it at once, and do not keep it. */
  "call.started": [RunningCall];
  "call.finished": [CallRecord];
  /** A call waits for the approval of a person; it no longer does. */
  "approval.pending": [PendingApproval];
  "approval.ended": [{ readonly id: string }];
  /** A client has connected; the object stays current. */
  "session.opened": [ConnectedClient];
  "session.closed": [{ readonly id: string }];
  /** A secret was stored or deleted. */
  "secret.changed": [{ readonly name: string }];
  /** With the id of the API request that caused it, if one did. */
  "config.reloaded": [
    { readonly changes: ConfigChanges; readonly description: string; readonly requestId?: string | undefined },
  ];
  /** The config files are invalid; the current config stays in force. */
  "config.rejected": [{ readonly error: ErrorBody }];
  /** With a server if it is about one. */
  warning: [{ readonly message: string; readonly server?: string }];
  /** An unexpected error, with the id of the API request that caused it, if any. For the log only. */
  unexpected: [{ readonly requestId?: string | undefined; readonly error: string }];
}

export class HubEvents extends EventEmitter<HubEventMap> {}
