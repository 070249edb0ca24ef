// The data of events, for programs that read the event stream.

import type { Call, ActiveCall } from "./call.ts";
import type { ServerLogLine } from "./server.ts";
import type { Session } from "./session.ts";

export interface CallStarted extends Omit<ActiveCall, "started_at"> {
  readonly at: string;
}

export interface CallFinished {
  /** As in call.started. Null for a call that was refused before it started. */
  readonly id: string | null;
  readonly server: string;
  readonly tool: string;
  readonly group: string;
  readonly client: string | null;
  readonly session: string | null;
  readonly success: boolean;
  readonly outcome: Call["outcome"];
  readonly duration_ms: number;
  /** Why the outcome is not `ok`; at most 500 characters. */
  readonly message: string | null;
  /** An error of the hub. */
  readonly error: object | null;
}

/** The event `server.log`. */
export interface ServerLogged extends ServerLogLine {
  readonly server: string;
}

export interface SessionOpened {
  readonly session: Session;
}

export interface SessionClosed {
  readonly id: string;
}

export interface GroupChanged {
  /** Names of the groups that were added, changed or removed. */
  readonly groups: readonly string[];
}

export interface SecretChanged {
  readonly name: string;
}
