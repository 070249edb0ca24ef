// Reads and writes JSON-RPC 2.0 messages. Payloads keep the bytes they were read from.

import { isUtf8 } from "node:buffer";
import { HubError, type RpcError } from "../../errors.ts";
import { findExcess, MIN_EXCESS_BYTES } from "../../lib/json/json-limits.ts";
import { isObject, membersOf, valueOf, type JsonObject, type Member } from "../../lib/json/json.ts";

export type Id = string | number;

export type { RpcError };

export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedVersion: -32022,
  /** Of the hub, as in errors.ts. */
  rateLimited: -31429,
} as const;

/** A JSON value together with the bytes it was read from. */
export interface Raw {
  readonly bytes: Buffer;
  readonly value: unknown;
}

export interface RequestMessage {
  readonly kind: "request";
  readonly id: Id;
  readonly method: string;
  readonly params: RawParams | undefined;
}

export interface NotificationMessage {
  readonly kind: "notification";
  readonly method: string;
  readonly params: RawParams | undefined;
}

export interface RawParams extends Raw {
  readonly value: JsonObject;
  /** Their offsets in the bytes, found once when the message is read. */
  readonly members: readonly Member[];
}

export interface ResponseMessage {
  readonly kind: "response";
  readonly id: Id;
  readonly reply: Reply;
}

/** The result or error of a request. A peer's error is passed on unchanged. */
export type Reply =
  | { readonly ok: true; readonly result: Raw }
  /** `isOurs`: the hub made the error, so a transport may map it to its own (an HTTP status). */
  | { readonly ok: false; readonly error: Raw; readonly isOurs?: boolean };

export type Message = RequestMessage | NotificationMessage | ResponseMessage;

/** Why bytes are not a message, as the error to reply with. `id` if it could be read. */
export interface Malformed {
  readonly kind: "malformed";
  readonly code: typeof RPC.parseError | typeof RPC.invalidRequest;
  readonly message: string;
  readonly id?: Id;
}

export interface ReadOptions {
  readonly maxDepth?: number;
  /** Accept a message without `jsonrpc: "2.0"`, and a response without a result: some servers omit them. */
  readonly lenient?: boolean;
  /** Parse only the outline of a large response: its parts are passed on as bytes. */
  readonly outline?: boolean;
}

/** Reads one message. Never throws: anything else is `malformed`. */
export function readMessage(bytes: Buffer, options: ReadOptions = {}): Message | Malformed {
  const { maxDepth = 256, lenient = false, outline = false } = options;
  if (!isUtf8(bytes)) return malformed(RPC.parseError, "The message is not valid UTF-8");
  const members = membersOf(bytes, maxDepth);
  let value: unknown;
  // No members: not an object, or nested too deeply. Parsing a short one distinguishes invalid JSON from other values.
  if (members !== undefined || bytes.length < 1024) {
    try {
      const isOutlined = outline && bytes.length > OUTLINED_BYTES && members?.some(({ key }) => key === "result");
      value =
        isOutlined === true && members !== undefined ? outlineOf(bytes, members, 2) : JSON.parse(bytes.toString());
    } catch {
      return malformed(RPC.parseError, "The message is not valid JSON");
    }
  }
  if (members === undefined || !isObject(value)) {
    return malformed(RPC.invalidRequest, `A message must be one JSON object, nested at most ${maxDepth} levels deep`);
  }
  const id = isId(value["id"]) ? value["id"] : undefined;
  if (repeats(members)) return malformed(RPC.invalidRequest, "Duplicate member in message", id);
  if (value["jsonrpc"] !== "2.0" && !lenient) {
    return malformed(RPC.invalidRequest, 'The message lacks "jsonrpc": "2.0"', id);
  }
  return classify({ bytes, members, value, id, lenient });
}

/** Below this size, parsing all is faster. */
const OUTLINED_BYTES = 32 << 10;
const LARGE_MEMBER_BYTES = 4 << 10;

/**
 * An object whose large members are parsed on first access, which is rare: their bytes are passed on. The members are known to be
 * complete; that each is valid JSON is only checked when it is parsed.
 */
function outlineOf(bytes: Buffer, members: readonly Member[], levels: number): JsonObject {
  const outline: Record<string, unknown> = {};
  for (const { key, valueStart, valueEnd } of members) {
    const part = bytes.subarray(valueStart, valueEnd);
    const isLarge = part.length > LARGE_MEMBER_BYTES;
    const inner = isLarge && levels > 1 ? membersOf(part) : undefined;
    const read = () => (inner === undefined ? parsePart(part) : outlineOf(part, inner, levels - 1));
    const isLazy = isLarge && levels === 1;
    // Defined, not assigned: `__proto__` is an ordinary member here.
    Object.defineProperty(outline, key, isLazy ? lazily(read) : { ...PLAIN, value: read() });
  }
  return outline;
}

const PLAIN = { enumerable: true, configurable: true, writable: true } as const;

function lazily(read: () => unknown): PropertyDescriptor {
  let known: { readonly value: unknown } | undefined;
  return { get: () => (known ??= { value: read() }).value, enumerable: true, configurable: true };
}

function parsePart(part: Buffer): unknown {
  try {
    return JSON.parse(part.toString());
  } catch (error) {
    throw new HubError("ProtocolError", "A part of the server's reply is not valid JSON", { cause: error });
  }
}

interface Parsed {
  readonly bytes: Buffer;
  readonly members: readonly Member[];
  readonly value: JsonObject;
  readonly id: Id | undefined;
  readonly lenient: boolean;
}

function classify({ bytes, members, value, id, lenient }: Parsed): Message | Malformed {
  const { method } = value;
  if (typeof method === "string") {
    const params = value["params"];
    const excess = bytes.length < MIN_EXCESS_BYTES ? undefined : findExcess(bytes.toString());
    if (excess !== undefined) return malformed(RPC.invalidRequest, excess, id);
    if (params !== undefined && !isObject(params)) {
      return malformed(RPC.invalidRequest, "`params` must be an object", id);
    }
    const carried = params === undefined ? undefined : rawParams(params, slice(bytes, members, "params"));
    if (carried !== undefined && repeats(carried.members)) {
      return malformed(RPC.invalidRequest, "Duplicate member in `params`", id);
    }
    if (!Object.hasOwn(value, "id")) return { kind: "notification", method, params: carried };
    if (id === undefined)
      return malformed(RPC.invalidRequest, "`id` must be a string or an integer of at most 53 bits");
    return { kind: "request", id, method, params: carried };
  }
  if (method !== undefined) return malformed(RPC.invalidRequest, "`method` must be a string", id);
  if (id === undefined) return malformed(RPC.invalidRequest, "The message has neither a method nor a usable id");
  if (isObject(value["error"])) {
    const error = { bytes: slice(bytes, members, "error"), value: value["error"] };
    return { kind: "response", id, reply: { ok: false, error } };
  }
  if (Object.hasOwn(value, "result")) {
    const result = { bytes: slice(bytes, members, "result"), value: value["result"] };
    return { kind: "response", id, reply: { ok: true, result } };
  }
  if (lenient && isEmptyResponse(members, value)) return { kind: "response", id, reply: success(null) };
  return malformed(RPC.invalidRequest, "The message is neither a request nor a response", id);
}

/** Some servers omit an empty result. Any other JSON object that merely has an id is not a response. */
function isEmptyResponse(members: readonly Member[], { jsonrpc, error = null }: JsonObject): boolean {
  if (jsonrpc !== "2.0" || error !== null) return false;
  return members.every(({ key }) => key === "jsonrpc" || key === "id" || key === "error");
}

/** The `error` of a response, if it is well-formed. */
export function rpcErrorIn(error: unknown): RpcError | undefined {
  if (!isObject(error) || typeof error["code"] !== "number" || typeof error["message"] !== "string") return undefined;
  return { ...error, code: error["code"], message: error["message"] };
}

/** Larger integers lose precision and would be returned changed. */
export function isId(value: unknown): value is Id {
  return typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value));
}

/**
 * Of two equal members, the validating parser may use one and the executing parser the other. Some parsers ignore case by
 * Unicode rules (U+017F is an s, U+212A a k).
 */
function repeats(members: readonly Member[]): boolean {
  if (members.length > FEW) return repeatsInAnyCase(members);
  // Lower-case ASCII names, which almost all messages have, can be compared as they are.
  for (let index = 0; index < members.length; index++) {
    const key = members[index]?.key ?? "";
    if (!isPlain(key)) return repeatsInAnyCase(members);
    for (let other = 0; other < index; other++) if (members[other]?.key === key) return true;
  }
  return false;
}

/** Up to this many, comparing all pairs is faster than a Set. */
const FEW = 16;

function repeatsInAnyCase(members: readonly Member[]): boolean {
  return new Set(members.map(({ key }) => key.toLowerCase().toUpperCase())).size !== members.length;
}

/** A loop is faster than a regular expression for such short texts. */
function isPlain(key: string): boolean {
  if (key.length === 0 || key.length > 32) return false;
  for (let at = 0; at < key.length; at++) {
    const code = key.charCodeAt(at);
    if ((code < 0x61 || code > 0x7a) && code !== 0x5f) return false;
  }
  return true;
}

function slice(bytes: Buffer, members: readonly Member[], key: string): Buffer {
  return valueOf(bytes, members, key) ?? bytes.subarray(0, 0);
}

function malformed(code: Malformed["code"], message: string, id?: Id): Malformed {
  return { kind: "malformed", code, message, ...(id === undefined ? {} : { id }) };
}

/** A value created by the hub, with its bytes. */
export function raw(value: unknown): Raw {
  return { bytes: Buffer.from(JSON.stringify(value)), value };
}

/** `bytes`: what the value was read from, if it was read. */
export function rawParams(value: JsonObject, bytes: Buffer = Buffer.from(JSON.stringify(value))): RawParams {
  return { bytes, value, members: membersOf(bytes) ?? [] };
}

export function success(value: unknown): Reply {
  return { ok: true, result: raw(value) };
}

export function failure(error: RpcError): Reply {
  return { ok: false, error: raw(error), isOurs: true };
}

/** The reply to a malformed message. */
export function failureOf({ code, message }: Malformed): Reply {
  return failure({ code, message });
}

export function writeRequest(id: Id, method: string, params: Buffer | undefined): Buffer {
  return withParams(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":${JSON.stringify(method)}`, params);
}

export function writeNotification(method: string, params: Buffer | undefined): Buffer {
  return withParams(`{"jsonrpc":"2.0","method":${JSON.stringify(method)}`, params);
}

export function writeReply(id: Id | null, reply: Reply): Buffer {
  const { head, body } = replyParts(id, reply);
  return Buffer.concat([Buffer.from(head), body, CLOSE]);
}

/** The same in parts, followed by a closing brace, so that a large body need not be copied. */
export function replyParts(id: Id | null, reply: Reply): { readonly head: string; readonly body: Buffer } {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"${reply.ok ? "result" : "error"}":`;
  return { head, body: reply.ok ? reply.result.bytes : reply.error.bytes };
}

function withParams(head: string, params: Buffer | undefined): Buffer {
  if (params === undefined) return Buffer.from(`${head}}`);
  return Buffer.concat([Buffer.from(`${head},"params":`), params, CLOSE]);
}

const CLOSE = Buffer.from("}");
