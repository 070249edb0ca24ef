// What is kept of a call: redacted, cut to size, within bounds. The one way into every log, so that no adapter can
// forget it; and the one way out, as the row that people see.

import type { CallEnd, CallRow, CallStart } from "./log.ts";
import type { Outcome } from "./outcome.ts";
import type { Redacted, Redactor } from "./redact.ts";
import { reasonIn } from "./reason.ts";
import { shapeOf } from "./shape.ts";

const MAX_NAME = 256;
/** Beyond it JavaScript has no date; a damaged file may hold anything. */
const MAX_DATE = 8_640_000_000_000_000;
/** Twelve digits: eleven days. */
const MAX_DURATION_US = 999_999_999_999;

export interface StoredStart {
  /** Whole milliseconds since the epoch, not before it. */
  readonly at: number;
  readonly server: string;
  readonly tool: string;
  readonly group: string;
  readonly client: string | null;
  readonly workflowId: string | null;
  readonly params: Uint8Array | null;
  readonly truncated: boolean;
}

export interface StoredEnd {
  readonly result: Uint8Array | null;
  readonly outcome: Outcome;
  /** Whole microseconds, of twelve digits at most. */
  readonly durationUs: number;
  readonly errorCode: string | null;
  readonly truncated: boolean;
}

export type StoredCall = StoredStart & StoredEnd;

/** What every log is told about what it may keep. */
export interface Keeping {
  readonly redactor: Redactor;
  /** For each server: its calls' contents, or only their shape. All of it unless told. */
  readonly keep?: (server: string) => "all" | "shape";
}

/** Where a call goes, and who called: what many calls have in common. */
export type Route = Pick<StoredStart, "server" | "tool" | "group" | "client">;

/** The same, as it came. */
export type RawRoute = Pick<CallStart, "server" | "tool" | "group" | "client">;

/** What is special to one of them. */
export type StoredOpening = Omit<StoredStart, keyof Route>;

/** A call in its parts, as a log brings them together. */
export interface StoredParts {
  readonly route: Route;
  readonly opening: StoredOpening;
  readonly end: StoredEnd;
}

export function toStoredStart(start: CallStart, keeping: Keeping): StoredStart {
  return { ...toRoute(start), ...toStoredOpening(start, keeping) };
}

export function toRoute({ server, tool, group, client }: RawRoute): Route {
  return {
    server: short(server),
    tool: short(tool),
    group: short(group),
    client: client === undefined ? null : short(client),
  };
}

export function toStoredOpening(start: CallStart, keeping: Keeping): StoredOpening {
  const { json, truncated } = keptOf(start.server, start.params, keeping);
  return {
    at: whole(start.at, MAX_DATE),
    workflowId: start.workflowId === undefined ? null : short(start.workflowId),
    params: json ?? null,
    truncated,
  };
}

/** `server`: whose call it is, for what may be kept of it. */
export function toStoredEnd(end: CallEnd, server: string, keeping: Keeping): StoredEnd {
  const { json, truncated } = keptOf(server, end.result, keeping);
  return {
    result: json ?? null,
    outcome: end.outcome,
    durationUs: whole(end.durationMs * 1000, MAX_DURATION_US),
    errorCode: end.errorCode === undefined ? null : short(end.errorCode),
    truncated,
  };
}

export function joined(start: StoredStart, end: StoredEnd): StoredCall {
  // Member by member: spreading two objects into one took as long as writing the row.
  return {
    at: start.at,
    server: start.server,
    tool: start.tool,
    group: start.group,
    client: start.client,
    workflowId: start.workflowId,
    params: start.params,
    result: end.result,
    outcome: end.outcome,
    durationUs: end.durationUs,
    errorCode: end.errorCode,
    truncated: start.truncated || end.truncated,
  };
}

export function toCallRow(id: number, call: StoredCall): CallRow {
  const result = parsed(call.result);
  return {
    id,
    timestamp: new Date(Math.abs(call.at) <= MAX_DATE ? call.at : 0).toISOString(),
    server_name: call.server,
    tool_name: call.tool,
    group_name: call.group,
    client: call.client,
    workflow_id: call.workflowId,
    params: parsed(call.params),
    result,
    outcome: call.outcome,
    success: call.outcome === "ok",
    duration_ms: call.durationUs / 1000,
    error_code: call.errorCode,
    error: call.outcome === "ok" ? null : reasonIn(result),
    truncated: call.truncated,
  };
}

/** What a call takes in memory or on the disk, roughly. */
export function sizeBytes({ params, result }: StoredCall): number {
  return 64 + (params?.length ?? 0) + (result?.length ?? 0);
}

function keptOf(server: string, json: Buffer | undefined, { redactor, keep }: Keeping): Redacted {
  const redacted = redactor.redact(json);
  return keep?.(server) === "shape" ? shaped(redacted) : redacted;
}

function shaped({ json, truncated }: Redacted): Redacted {
  return { json: json && shapeOf(json), truncated };
}

/** Without NUL, at which some readers of a database take a text to end. */
function short(text: string): string {
  const name = text.length > MAX_NAME ? text.slice(0, MAX_NAME) : text;
  return name.includes("\0") ? name.replaceAll("\0", "\uFFFD") : name;
}

function whole(value: number, most: number): number {
  return Number.isFinite(value) ? Math.min(Math.max(0, Math.round(value)), most) : 0;
}

function parsed(json: Uint8Array | null): unknown {
  if (json === null) return null;
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString();
  try {
    return JSON.parse(text);
  } catch {
    return text; // a damaged file: shown as it is rather than not at all
  }
}
