// The port for recording calls: who called which tool, when, and with what outcome. Adapters: memory-call-log.ts and sqlite/.

import type { CallSeries, SeriesQuery } from "./series.ts";
import type { CallStatsQuery, ServerStats } from "./stats.ts";
import type { Outcome } from "./outcome.ts";

/** The facts about a call before it is forwarded. */
export interface CallStart {
  /** When the call began, in milliseconds since the epoch. */
  readonly at: number;
  readonly server: string;
  /** The tool's name on the server. */
  readonly tool: string;
  /** Its name in the group, if the group has renamed it. */
  readonly exposed?: string | undefined;
  readonly group: string;
  readonly client?: string | undefined;
  readonly workflowId?: string | undefined;
  /** Who calls, if the caller has credentials of the hub. */
  readonly principal?: string | undefined;
  /** The access token by its name, or the OAuth client. */
  readonly token?: string | undefined;
  /** Public id of the client's session. */
  readonly session?: string | undefined;
  readonly clientVersion?: string | undefined;
  /** Of the HTTP request. */
  readonly requestId?: string | undefined;
  readonly traceId?: string | undefined;
  /** Revision of MCP that the client uses. */
  readonly clientProtocol?: string | undefined;
  /** The tool's arguments, JSON as received; the log redacts them before it stores anything. */
  readonly params: Buffer | undefined;
}

/** How the call ended. */
export interface CallEnd {
  /** JSON of the result or of the error; redacted like the parameters. */
  readonly result: Buffer | undefined;
  readonly outcome: Outcome;
  /** The server's time, without the time in which it waited for an answer of its client. */
  readonly durationMs: number;
  readonly errorCode?: string | undefined;
  /** Revision of MCP that the server uses, if it differs from that of the client. */
  readonly serverProtocol?: string | undefined;
  /** Wait for a free slot. */
  readonly queueMs?: number | undefined;
  /** Time in which people were asked something, also for their approval. */
  readonly askedMs?: number | undefined;
  /** How often the call was sent. Default 1. */
  readonly attempts?: number | undefined;
}

/** The `error_code` of a call that was running when the hub was killed: it is unknown whether the tool ran. */
export const UNKNOWN_OUTCOME = "UNKNOWN";

/** A recorded call, in the shape of the management API. */
export interface CallRow {
  /** Increases with every call and is never reused. */
  readonly id: number;
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  /** Empty for a refused call that named no server. */
  readonly server_name: string;
  readonly tool_name: string;
  /** Its name in the group; null: the group has not renamed it. */
  readonly exposed_name: string | null;
  readonly group_name: string;
  readonly client: string | null;
  /** Null: the caller had no credentials of the hub. */
  readonly principal: string | null;
  /** The access token by its name, or the OAuth client. */
  readonly token: string | null;
  readonly workflow_id: string | null;
  readonly params: unknown;
  readonly result: unknown;
  readonly outcome: Outcome;
  /** Whether the outcome is `ok`. */
  readonly success: boolean;
  readonly duration_ms: number;
  readonly error_code: string | null;
  /** Why the outcome is not `ok`: the message of the tool, the server or the hub. */
  readonly error: string | null;
  /** The parameters or the result were too long, and only their beginning is stored. */
  readonly truncated: boolean;
  /** Of the client; null if it has none. */
  readonly session: string | null;
  readonly client_version: string | null;
  /** Of the HTTP request. */
  readonly request_id: string | null;
  readonly trace_id: string | null;
  /** Revisions of MCP on both sides. */
  readonly protocol: { readonly client: string | null; readonly server: string | null };
  readonly queue_ms: number | null;
  readonly asked_ms: number | null;
  readonly attempts: number | null;
  readonly bytes: { readonly in: number | null; readonly out: number | null };
}

/** All conditions must hold. `since` is inclusive, `until` and `slowerThanMs` are exclusive. */
export interface CallQuery {
  readonly id?: number | undefined;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly group?: string | undefined;
  readonly client?: string | undefined;
  readonly session?: string | undefined;
  readonly principal?: string | undefined;
  readonly token?: string | undefined;
  readonly workflowId?: string | undefined;
  readonly outcome?: Outcome | undefined;
  readonly success?: boolean | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly slowerThanMs?: number | undefined;
  /** Text in the tool's name, the parameters or the result; ASCII letters of either case. */
  readonly text?: string | undefined;
  /** Default 50, at most 1,000. A page of very large calls may hold fewer. */
  readonly limit?: number | undefined;
  /** `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** Only calls with a larger id: what a follower has not seen yet. */
  readonly after?: number | undefined;
}

export interface CallPage {
  /** Newest first. */
  readonly items: CallRow[];
  readonly next_cursor: string | null;
}

/** A call without its payload. */
export type CallSummary = Omit<CallRow, "params" | "result"> & {
  /** The beginning of the parameters, for people. */
  readonly preview: string;
};

export interface CallSummaryPage {
  readonly items: CallSummary[];
  readonly next_cursor: string | null;
}

export interface CallCount {
  readonly total: number;
  /** False: counting took too long, and there are at least so many. */
  readonly exact: boolean;
}

/** Ids of the calls of the same session before and after a call. */
export interface CallNeighbours {
  readonly previous: number | null;
  readonly next: number | null;
}

/** A call that is under way. */
export interface OpenCall {
  /** Settled when the start of the call survives a kill of the hub. Never rejects. */
  readonly begun?: Promise<void> | undefined;
  /** The result settles when the end of the call survives a kill of the hub. Never rejects. */
  finish(end: CallEnd): Promise<void> | undefined;
}

/** How long calls are stored; the oldest are removed first. */
export interface Retention {
  readonly maxAgeMs: number;
  /** Of the database file, or of the payloads in memory. */
  readonly maxBytes: number;
  readonly maxRows: number;
}

/** How much is stored. */
export interface CallLogUsage {
  /** As the retention counts them. */
  readonly bytes: number;
  /** When the oldest call began, in milliseconds since the epoch; undefined if there is none. */
  readonly oldestAt: number | undefined;
}

export interface CallLog {
  /**
   * Records the start of a call. If the hub is killed before `finish`, the call has an unknown outcome.
   * Never fails: calls continue if nothing can be written, and `degraded` has the reason.
   */
  begin(start: CallStart): OpenCall;
  /** Finds every finished call. A page of a search for text may be short. Pages are stable while calls arrive. Throws InvalidArgument for an invalid cursor or limit. */
  query(query: CallQuery): Promise<CallPage>;
  /** Like `query`. A page of a search for text may be short or empty, and have a cursor, if searching took too long. */
  summaries(query: CallQuery): Promise<CallSummaryPage>;
  /** Ignores the members about pages. */
  count(query: CallQuery): Promise<CallCount>;
  /** Undefined if there is no call with this id. */
  neighbours(id: number): Promise<CallNeighbours | undefined>;
  /** Figures over time. */
  series(query: SeriesQuery): Promise<CallSeries>;
  /** Deletes the calls that began before a time, and returns their number. */
  deleteBefore(at: number): Promise<number>;
  /** Durations and errors by server and tool. Servers without calls are left out. */
  stats(query: CallStatsQuery): Promise<ServerStats[]>;
  usage(): Promise<CallLogUsage>;
  /** In force now. */
  readonly retention: Retention;
  /** Puts another retention into force and begins to remove what is beyond it. Missing members have the log's defaults. */
  retain(retention: Partial<Retention>): void;
  /** Applies the retention now and returns the number of removed calls. Logs also prune by themselves. */
  prune(now?: number): Promise<number>;
  /** Ingests the journals of hubs that were killed. */
  recover(): void;
  /** Why calls cannot be recorded at the moment. */
  readonly degraded: string | undefined;
  /** Calls that were not recorded since the start. */
  readonly lost: number;
  close(): Promise<void>;
}
