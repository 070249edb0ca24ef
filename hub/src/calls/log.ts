// The port behind which calls are recorded: who called what, when, with what outcome. What is hidden from the record is
// left to redact.ts, where it is kept to store/.

import type { CallStatsQuery, ServerStats } from "./call-stats.ts";
import type { Outcome } from "./outcome.ts";

/** What is known of a call before it is forwarded. */
export interface CallStart {
  /** When the call began, in milliseconds since the epoch. */
  readonly at: number;
  readonly server: string;
  /** The name that the server knows. */
  readonly tool: string;
  readonly group: string;
  readonly client?: string | undefined;
  readonly workflowId?: string | undefined;
  /** The tool's arguments, JSON as it came; the log redacts it before anything is kept. */
  readonly params: Buffer | undefined;
}

/** How it came out. */
export interface CallEnd {
  /** JSON of the result or of the error; redacted like the parameters. */
  readonly result: Buffer | undefined;
  readonly outcome: Outcome;
  /** The server's time: without that in which its client was asked something. */
  readonly durationMs: number;
  readonly errorCode?: string | undefined;
}

/** The `error_code` of a call that was under way when the hub was killed: nobody knows whether it ran. */
export const UNKNOWN_OUTCOME = "UNKNOWN";

/** A recorded call, in the shape of the management API. */
export interface CallRow {
  /** Grows with every call, and is never given twice. */
  readonly id: number;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  /** Empty for a call that named no server, and was refused. */
  readonly server_name: string;
  readonly tool_name: string;
  readonly group_name: string;
  readonly client: string | null;
  readonly workflow_id: string | null;
  readonly params: unknown;
  readonly result: unknown;
  readonly outcome: Outcome;
  /** Whether the outcome is `ok`. */
  readonly success: boolean;
  readonly duration_ms: number;
  readonly error_code: string | null;
  /** Why it is not ok, in words: the tool's, the server's or the hub's. */
  readonly error: string | null;
  /** The parameters or the result were too long, and only their beginning is kept. */
  readonly truncated: boolean;
}

/** All conditions must hold. `since` is inclusive, `until` and `slowerThanMs` are not. */
export interface CallQuery {
  /** Only this one. */
  readonly id?: number | undefined;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly group?: string | undefined;
  readonly client?: string | undefined;
  readonly workflowId?: string | undefined;
  readonly outcome?: Outcome | undefined;
  readonly success?: boolean | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly slowerThanMs?: number | undefined;
  /** 50 unless told, 1,000 at most. A page of very large calls may hold fewer. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
  /** Only calls recorded after this id: what a follower has not seen yet. */
  readonly after?: number | undefined;
}

export interface CallPage {
  /** Newest first. */
  readonly items: CallRow[];
  readonly next_cursor: string | null;
}

/** A call that is under way. */
export interface OpenCall {
  /** Settled when no kill of the hub can undo the record that it has begun. Never rejects. */
  readonly begun?: Promise<void> | undefined;
  /** Settled when none can undo the record of how it ended. Never rejects. */
  finish(end: CallEnd): Promise<void> | undefined;
}

export interface CallLog {
  /**
   * Once it returns, the call is on record: should the hub be killed before it is finished, as one of unknown outcome.
   * Never fails: where nothing can be written calls go on, and `degraded` says why.
   */
  begin(start: CallStart): OpenCall;
  /** Every finished call is found. Pages stay stable while calls arrive. A bad cursor or limit throws InvalidConfig. */
  query(query: CallQuery): Promise<CallPage>;
  /** How long the calls of some time took, by server and tool; who was not called is not there. */
  stats(query: CallStatsQuery): Promise<ServerStats[]>;
  /** Removes what is older or more than the log may keep; returns how many calls that were. Logs also do it by themselves. */
  prune(now?: number): Promise<number>;
  /** Takes in what others left behind: calls of a hub that was killed. */
  recover(): void;
  /** Why calls cannot be recorded right now. Goes away by itself. */
  readonly degraded: string | undefined;
  /** Calls that were never recorded, since the start. */
  readonly lost: number;
  close(): Promise<void>;
}
