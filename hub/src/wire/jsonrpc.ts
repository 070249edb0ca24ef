// JSON-RPC 2.0 messages: reading them from bytes, and writing them. Payloads are carried as the bytes they came in.

import { isUtf8 } from "node:buffer";
import { HubError } from "../errors.ts";
import { findExcess, MIN_EXCESS_BYTES } from "./json-limits.ts";
import { isObject, membersOf, valueOf, type JsonObject, type Member } from "./json.ts";

export type Id = string | number;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedVersion: -32022,
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
  /** Where they stand in the bytes: found once, when the message is read. */
  readonly members: readonly Member[];
}

export interface ResponseMessage {
  readonly kind: "response";
  readonly id: Id;
  readonly reply: Reply;
}

/** What a request came back with. An error is the peer's own and is passed on unchanged. */
export type Reply =
  | { readonly ok: true; readonly result: Raw }
  /** `isOurs` where no server said it: only then may a transport show it in its own way. */
  | { readonly ok: false; readonly error: Raw; readonly isOurs?: boolean };

export type Message = RequestMessage | NotificationMessage | ResponseMessage;

/** Why bytes are no message, as the error a server answers with. `id` where it could still be read. */
export interface Malformed {
  readonly kind: "malformed";
  readonly code: typeof RPC.parseError | typeof RPC.invalidRequest;
  readonly message: string;
  readonly id?: Id;
}

export interface ReadOptions {
  readonly maxDepth?: number;
  /** Accept a message without `jsonrpc: "2.0"`: some servers leave it out. */
  readonly lenient?: boolean;
  /** Of a large answer only the outline is read: what is passed on as bytes need not be parsed first. */
  readonly outline?: boolean;
}

/** Reads one message. Everything that is not one comes back as `malformed`, never as an exception. */
export function readMessage(bytes: Buffer, options: ReadOptions = {}): Message | Malformed {
  const { maxDepth = 256, lenient = false, outline = false } = options;
  if (!isUtf8(bytes)) return malformed(RPC.parseError, "The message is not valid UTF-8");
  const members = membersOf(bytes, maxDepth);
  let value: unknown;
  // Without members the bytes are no object or nest too deep; only a short look is worth a parse then.
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
    return malformed(RPC.invalidRequest, `A message is one JSON object, nested at most ${maxDepth} levels deep`);
  }
  const id = isId(value["id"]) ? value["id"] : undefined;
  if (repeats(members)) return malformed(RPC.invalidRequest, "A member of the message stands there twice", id);
  if (value["jsonrpc"] !== "2.0" && !lenient) {
    return malformed(RPC.invalidRequest, 'The message lacks "jsonrpc": "2.0"', id);
  }
  return classify(bytes, members, value, id);
}

/** Below it, parsing costs less than looking. */
const OUTLINED_BYTES = 32 << 10;
const LARGE_MEMBER_BYTES = 4 << 10;

/**
 * An object whose large members are parsed when somebody asks for them, which is hardly ever: their bytes are passed on.
 * That they are all there, and end where they should, is known; the rest is for whoever reads them.
 */
function outlineOf(bytes: Buffer, members: readonly Member[], levels: number): JsonObject {
  const outline: Record<string, unknown> = {};
  for (const { key, valueStart, valueEnd } of members) {
    const part = bytes.subarray(valueStart, valueEnd);
    const isLarge = part.length > LARGE_MEMBER_BYTES;
    const inner = isLarge && levels > 1 ? membersOf(part) : undefined;
    const read = () => (inner === undefined ? parsePart(part) : outlineOf(part, inner, levels - 1));
    const isPutOff = isLarge && levels === 1;
    // Defined, not assigned: `__proto__` is a name like any other.
    Object.defineProperty(outline, key, isPutOff ? lazily(read) : { ...PLAIN, value: read() });
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
    throw new HubError("ProtocolError", "A part of the server's answer is not valid JSON", { cause: error });
  }
}

function classify(
  bytes: Buffer,
  members: readonly Member[],
  value: JsonObject,
  id: Id | undefined,
): Message | Malformed {
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
      return malformed(RPC.invalidRequest, "A member of `params` stands there twice", id);
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
  return malformed(RPC.invalidRequest, "The message is neither a request nor an answer", id);
}

/** A larger integer would come back as another one. */
export function isId(value: unknown): value is Id {
  return typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value));
}

/**
 * Two parsers may each take another of two such members: the one that checks and the one that acts. Some ignore case,
 * by the rules of Unicode (U+017F is an s, U+212A a k).
 */
function repeats(members: readonly Member[]): boolean {
  if (members.length > FEW) return repeatsInAnyCase(members);
  // Names in small letters, which almost all messages have, are the same only where they are equal.
  for (let index = 0; index < members.length; index++) {
    const key = members[index]?.key ?? "";
    if (!isPlain(key)) return repeatsInAnyCase(members);
    for (let other = 0; other < index; other++) if (members[other]?.key === key) return true;
  }
  return false;
}

/** Up to here comparing all with all costs less than a set. */
const FEW = 16;

function repeatsInAnyCase(members: readonly Member[]): boolean {
  return new Set(members.map(({ key }) => key.toLowerCase().toUpperCase())).size !== members.length;
}

/** Letter by letter: on so short a text that costs less than an expression. */
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

/** A value that we made ourselves, in the form that answers are carried in. */
export function raw(value: unknown): Raw {
  return { bytes: Buffer.from(JSON.stringify(value)), value };
}

/** The bytes are what the value was read from, where it was read. */
export function rawParams(value: JsonObject, bytes: Buffer = Buffer.from(JSON.stringify(value))): RawParams {
  return { bytes, value, members: membersOf(bytes) ?? [] };
}

export function success(value: unknown): Reply {
  return { ok: true, result: raw(value) };
}

export function failure(error: RpcError): Reply {
  return { ok: false, error: raw(error), isOurs: true };
}

/** What somebody is told who sent what is no message. */
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

/** The same in parts, for who can send them so, and a brace at the end: a large answer is then not copied. */
export function replyParts(id: Id | null, reply: Reply): { readonly head: string; readonly body: Buffer } {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"${reply.ok ? "result" : "error"}":`;
  return { head, body: reply.ok ? reply.result.bytes : reply.error.bytes };
}

function withParams(head: string, params: Buffer | undefined): Buffer {
  if (params === undefined) return Buffer.from(`${head}}`);
  return Buffer.concat([Buffer.from(`${head},"params":`), params, CLOSE]);
}

const CLOSE = Buffer.from("}");
