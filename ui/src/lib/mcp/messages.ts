// JSON-RPC messages of MCP, as the browser sends and receives them.

import { isObject, parseJson, toJsonText, type Json, type JsonObject } from "../text/json.ts";

export type RequestId = string | number;

/** A message and the text that it had on the wire. */
export interface Received {
  readonly message: JsonObject;
  readonly text: string;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

/** The answer to a request of ours. */
export type Answer =
  | { readonly kind: "result"; readonly result: JsonObject; readonly text: string }
  | { readonly kind: "error"; readonly error: RpcError; readonly text: string };

/** A request that the server makes to this client. */
export interface ServerRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  /** Aborted when the server takes the request back, or when its call has ended. */
  readonly signal: AbortSignal;
}

export const CANCELLED = "notifications/cancelled";
export const PROGRESS = "notifications/progress";

/** The server refuses a request, or this client one of the server. */
export class McpError extends Error {
  readonly code: number;
  readonly data: Json | undefined;
  constructor(code: number, message: string, data?: Json) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The connection failed: there is no answer, and it is unknown whether the server did the work. */
export class ConnectionError extends Error {
  readonly status: number | undefined;
  /** The hub's problem document, if it sent one. */
  readonly problem: JsonObject | undefined;
  constructor(message: string, options: { status?: number; problem?: JsonObject | undefined } = {}) {
    super(message);
    this.status = options.status;
    this.problem = options.problem;
  }
}

/** Messages of a body or an event: one, or a batch. Whatever is not a message is left out. */
export function readMessages(text: string): Received[] {
  let value: Json;
  try {
    value = parseJson(text);
  } catch {
    return [];
  }
  if (Array.isArray(value)) {
    return value.filter((item) => isObject(item)).map((message) => ({ message, text: toJsonText(message) }));
  }
  return isObject(value) ? [{ message: value, text }] : [];
}

export function idOf(message: JsonObject): RequestId | undefined {
  const { id } = message;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

export function paramsOf(message: JsonObject): JsonObject {
  return isObject(message["params"]) ? message["params"] : {};
}

/** The answer in a message, if it is one. */
export function toAnswer({ message, text }: Received): Answer | undefined {
  if (typeof message["method"] === "string") return undefined;
  if (isObject(message["result"])) return { kind: "result", result: message["result"], text };
  if (!isObject(message["error"])) return undefined;
  const { code, message: words, data } = message["error"];
  const error = {
    code: typeof code === "number" ? code : 0,
    message: typeof words === "string" ? words : "The server gives no reason",
    ...(data === undefined ? {} : { data }),
  };
  return { kind: "error", error, text };
}
