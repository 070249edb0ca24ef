// The stored form of a call: its columns, what is redacted or cut before it is stored, and the row that the API shows.
// Every adapter of the call log goes through these functions, so that none can forget the redaction.

import { parseJson } from "@plugboard/shared/lenient";
import { isObject } from "../lib/json/json.ts";
import { reasonIn, toOutcome, type Outcome } from "./outcome.ts";
import type { CallEnd, CallRow, CallStart, CallSummary } from "./port.ts";
import { previewOf } from "./preview.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { shapeOf } from "./json-shape.ts";

const MAX_NAME = 256;
/** The largest time of a JavaScript Date. */
const MAX_DATE = 8_640_000_000_000_000;
/** Eleven days. */
const MAX_DURATION_US = 999_999_999_999;

/** Everything about a call except its payload. A member added here needs an entry in COLUMNS and a column in the schema. */
export interface CallHead {
  /** Whole milliseconds since the epoch. */
  readonly at: number;
  readonly server: string;
  readonly tool: string;
  readonly group: string;
  readonly client: string | null;
  readonly workflowId: string | null;
  readonly outcome: Outcome;
  readonly durationUs: number;
  readonly errorCode: string | null;
  readonly truncated: boolean;
  readonly session: string | null;
  /** Version of the client and revision of MCP that it uses, as `version|revision`. */
  readonly about: string | null;
  /** JSON of an Origin; null if it has no members. */
  readonly origin: string | null;
  /** JSON of Facts; null if they have no members. */
  readonly facts: string | null;
  /** Who called, if the caller had credentials of the hub. */
  readonly principal: string | null;
  /** The access token by its name, or the OAuth client. */
  readonly token: string | null;
}

/** JSON texts. */
export interface CallPayload {
  readonly params: string | null;
  readonly result: string | null;
}

export type StoredCall = CallHead & CallPayload;

/** The part of a head that is known before the call is forwarded; `truncated` is about the parameters. */
export type StoredStart = Pick<
  CallHead,
  | "at"
  | "server"
  | "tool"
  | "group"
  | "client"
  | "workflowId"
  | "truncated"
  | "session"
  | "about"
  | "origin"
  | "principal"
  | "token"
>;
/** The rest of the head; `truncated` is about the result. */
export type StoredEnd = Omit<CallHead, keyof StoredStart> & Pick<CallHead, "truncated">;

interface Column<T> {
  /** Its name in the table. */
  readonly name: string;
  /** Accepts any value: a damaged file may contain anything. */
  readonly read: (value: unknown) => T;
}

const text = (name: string): Column<string> => ({ name, read: (value) => readText(value) ?? "" });
const optionalText = (name: string): Column<string | null> => ({ name, read: readText });
const integer = (name: string, max: number): Column<number> => ({
  name,
  read: (value) => toInteger(Number(value), max),
});

/** One entry for each member of a head. The insert, the checksum and the readers go by it. */
export const COLUMNS: { readonly [K in keyof CallHead]: Column<CallHead[K]> } = {
  at: integer("at", MAX_DATE),
  durationUs: integer("duration_us", MAX_DURATION_US),
  server: text("server"),
  tool: text("tool"),
  outcome: { name: "outcome", read: toOutcome },
  group: text("group_name"),
  client: optionalText("client"),
  workflowId: optionalText("workflow_id"),
  errorCode: optionalText("error_code"),
  truncated: { name: "truncated", read: (value) => value === true || value === 1 },
  session: optionalText("session"),
  about: optionalText("about"),
  origin: optionalText("origin"),
  facts: optionalText("facts"),
  principal: optionalText("principal"),
  token: optionalText("token"),
};

/** A line of the journal or a row of the table, with a value of any type under each key. */
export type RawHead = Readonly<Record<string, unknown>>;

export function readStart(raw: RawHead): StoredStart {
  return {
    at: COLUMNS.at.read(raw["at"]),
    server: COLUMNS.server.read(raw["server"]),
    tool: COLUMNS.tool.read(raw["tool"]),
    group: COLUMNS.group.read(raw["group"]),
    client: COLUMNS.client.read(raw["client"]),
    workflowId: COLUMNS.workflowId.read(raw["workflowId"]),
    truncated: COLUMNS.truncated.read(raw["truncated"]),
    session: COLUMNS.session.read(raw["session"]),
    about: COLUMNS.about.read(raw["about"]),
    origin: COLUMNS.origin.read(raw["origin"]),
    principal: COLUMNS.principal.read(raw["principal"]),
    token: COLUMNS.token.read(raw["token"]),
  };
}

export function readEnd(raw: RawHead): StoredEnd {
  return {
    outcome: COLUMNS.outcome.read(raw["outcome"]),
    durationUs: COLUMNS.durationUs.read(raw["durationUs"]),
    errorCode: COLUMNS.errorCode.read(raw["errorCode"]),
    truncated: COLUMNS.truncated.read(raw["truncated"]),
    facts: COLUMNS.facts.read(raw["facts"]),
  };
}

export function joinCall(start: StoredStart, end: StoredEnd, { params, result }: CallPayload): StoredCall {
  // Member by member: spreading both took as long as inserting the row.
  return {
    at: start.at,
    server: start.server,
    tool: start.tool,
    group: start.group,
    client: start.client,
    workflowId: start.workflowId,
    outcome: end.outcome,
    durationUs: end.durationUs,
    errorCode: end.errorCode,
    truncated: start.truncated || end.truncated,
    session: start.session,
    about: start.about,
    origin: start.origin,
    facts: end.facts,
    principal: start.principal,
    token: start.token,
    params,
    result,
  };
}

export interface CaptureOptions {
  readonly redactor: Redactor;
  /** Whether the payloads of a server are stored, or only their shape. Default `all`. */
  readonly keep?: ((server: string) => "all" | "shape") | undefined;
  /** A payload cannot be redacted; the call is recorded without it. */
  readonly onPayloadError?: ((server: string, error: unknown) => void) | undefined;
}

/** With undefined for null and false, so that JSON leaves them out; readStart and readEnd restore them. */
export type Sparse<Head> = { readonly [K in keyof Head]: Exclude<Head[K], null | false> | undefined };

/** One half of a call, ready to be stored. */
export interface Captured<Head> {
  readonly head: Sparse<Head>;
  /** Valid JSON on one line. */
  readonly payload: Buffer | undefined;
}

export function captureStart(start: CallStart, options: CaptureOptions): Captured<StoredStart> {
  const { payload, truncated } = capturePayload(start.server, start.params, options);
  const head: Sparse<StoredStart> = {
    at: toInteger(start.at, MAX_DATE),
    server: shorten(start.server),
    tool: shorten(start.tool),
    group: shorten(start.group),
    client: start.client === undefined ? undefined : shorten(start.client),
    workflowId: start.workflowId === undefined ? undefined : shorten(start.workflowId),
    truncated: truncated || undefined,
    session: start.session,
    about: aboutOf(start),
    origin: originOf(start),
    principal: start.principal === undefined ? undefined : shorten(start.principal),
    token: start.token === undefined ? undefined : shorten(start.token),
  };
  return { head, payload };
}

export function captureEnd(end: CallEnd, server: string, options: CaptureOptions): Captured<StoredEnd> {
  const { payload, truncated } = capturePayload(server, end.result, options);
  const head: Sparse<StoredEnd> = {
    outcome: end.outcome,
    durationUs: toInteger(end.durationMs * 1000, MAX_DURATION_US),
    errorCode: end.errorCode === undefined ? undefined : shorten(end.errorCode),
    truncated: truncated || undefined,
    facts: factsOf(end),
  };
  return { head, payload };
}

export function toCallRow(id: number, call: StoredCall): CallRow {
  const { params, result, ...head } = call;
  const shown = parsePayload(result);
  const reason = head.outcome === "ok" ? null : reasonIn(shown);
  const row = toHeadRow(id, head, { reason, sizes: sizesOf(call) });
  return { ...row, params: parsePayload(params), result: shown };
}

/** With the beginning of the parameters, and the result unless the outcome is `ok`. */
export function toSummary(id: number, call: StoredCall, sizes: PayloadSizes): CallSummary {
  const { params, result, ...head } = call;
  const reason = head.outcome === "ok" ? null : reasonIn(parsePayload(result));
  return { ...toHeadRow(id, head, { reason, sizes }), preview: previewOf(params) };
}

/** In bytes; null: there is none. */
export interface PayloadSizes {
  readonly params: number | null;
  readonly result: number | null;
}

export function sizesOf({ params, result }: CallPayload): PayloadSizes {
  return { params: sizeOf(params), result: sizeOf(result) };
}

function sizeOf(json: string | null): number | null {
  return json === null ? null : Buffer.byteLength(json);
}

interface Derived {
  readonly reason: string | null;
  readonly sizes: PayloadSizes;
}

function toHeadRow(id: number, head: CallHead, { reason, sizes }: Derived): Omit<CallRow, "params" | "result"> {
  const { at, server, tool, group, client, workflowId, outcome, durationUs, errorCode, truncated, ...rest } = head;
  const { session, about, origin, facts, principal, token, ...forgotten } = rest;
  // Fails to compile when a member of CallHead is not mapped.
  forgotten satisfies Record<string, never>;
  const [clientVersion, clientProtocol] = about?.split("|").map((part) => part || null) ?? [];
  const known: Readonly<Record<string, unknown>> = { ...toObject(origin), ...toObject(facts) };
  // Written only if it differs from that of the client.
  const serverProtocol = known["serverProtocol"] ?? (outcome === "refused" ? null : clientProtocol);
  return {
    id,
    timestamp: new Date(at).toISOString(),
    server_name: server,
    tool_name: tool,
    exposed_name: readText(known["exposed"]),
    group_name: group,
    client,
    principal,
    token,
    workflow_id: workflowId,
    outcome,
    success: outcome === "ok",
    duration_ms: durationUs / 1000,
    error_code: errorCode,
    error: reason,
    truncated,
    session,
    client_version: clientVersion ?? null,
    request_id: readText(known["requestId"]),
    trace_id: readText(known["traceId"]),
    protocol: { client: clientProtocol ?? null, server: readText(serverProtocol) },
    queue_ms: readNumber(known["queueMs"]),
    asked_ms: readNumber(known["askedMs"]),
    attempts: readNumber(known["attempts"]),
    bytes: truncated ? { in: null, out: null } : { in: sizes.params, out: sizes.result },
  };
}

/** Approximate size of a call in memory or on disk. */
export function sizeBytes({ params, result }: CallPayload): number {
  return 64 + (params?.length ?? 0) + (result?.length ?? 0);
}

function capturePayload(
  server: string,
  json: Buffer | undefined,
  { redactor, keep, onPayloadError }: CaptureOptions,
): { readonly payload: Buffer | undefined; readonly truncated: boolean } {
  try {
    const { json: redacted, truncated } = redactor.redact(json);
    const isShape = redacted !== undefined && keep?.(server) === "shape";
    return { payload: isShape ? shapeOf(redacted) : redacted, truncated };
  } catch (error) {
    // The answer of a call must not fail because its payload cannot be recorded.
    onPayloadError?.(server, error);
    return { payload: undefined, truncated: false };
  }
}

/** Replaces NUL, at which some readers of a database end a text. */
function shorten(name: string): string {
  const short = name.length > MAX_NAME ? name.slice(0, MAX_NAME) : name;
  return short.includes("\0") ? short.replaceAll("\0", "\uFFFD") : short;
}

function toInteger(value: number, max: number): number {
  return Number.isFinite(value) ? Math.min(Math.max(0, Math.round(value)), max) : 0;
}

function aboutOf({ clientVersion = "", clientProtocol = "" }: CallStart): string | undefined {
  if (clientVersion === "" && clientProtocol === "") return undefined;
  return `${shorten(clientVersion).replaceAll("|", "/")}|${clientProtocol}`;
}

/** Most calls have none of these: they share one column, so that they cost nothing then. */
function originOf({ requestId, traceId, exposed }: CallStart): string | undefined {
  if (requestId === undefined && traceId === undefined && exposed === undefined) return undefined;
  return JSON.stringify({ requestId: requestId === undefined ? undefined : shorten(requestId), traceId, exposed });
}

/** Likewise. Times below a millisecond are not worth the space. */
function factsOf({ serverProtocol, queueMs = 0, askedMs = 0, attempts = 1 }: CallEnd): string | undefined {
  if (serverProtocol === undefined && queueMs < 1 && askedMs < 1 && attempts <= 1) return undefined;
  return JSON.stringify({
    serverProtocol: serverProtocol === undefined ? undefined : shorten(serverProtocol),
    queueMs: queueMs < 1 ? undefined : toMilliseconds(queueMs),
    askedMs: askedMs < 1 ? undefined : toMilliseconds(askedMs),
    attempts: attempts <= 1 ? undefined : attempts,
  });
}

function toMilliseconds(ms: number): number {
  return toInteger(ms * 1000, MAX_DURATION_US) / 1000;
}

/** Reads a text from a file, which may be damaged. */
function toObject(json: string | null): object {
  const value = json === null ? undefined : parseJson(json);
  return isObject(value) ? value : {};
}

function readNumber(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function readText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function parsePayload(json: string | null): unknown {
  if (json === null) return null;
  try {
    return JSON.parse(json);
  } catch {
    return json; // from a damaged file
  }
}
