// A call of a tool over REST as a request to a group's endpoint, and its reply as JSON for programs.

import { reasonOf } from "./reason.ts";
import { fromErrorBody, HubError, ERRORS, type ErrorBody } from "../../errors.ts";
import type { Cancellation } from "../../lib/cancellation.ts";
import { isObject, membersOf, valueOf, type JsonObject } from "../../lib/json/json.ts";
import { META, MODERN_VERSION } from "../../protocol/revisions/era.ts";
import { rawParams, type Reply, type RequestMessage } from "../../protocol/rpc/jsonrpc.ts";
import type { IncomingRequest, Requester } from "../../protocol/serve/service.ts";
import { ERROR_META } from "../errors.ts";

export interface RestCall {
  readonly tool: string;
  /** A JSON object, as the client sent it. */
  readonly args: Buffer;
  /** What the client calls itself. */
  readonly client: string;
  readonly headers: IncomingRequest["headers"];
  readonly requester: Requester | undefined;
  readonly signal: Cancellation;
}

/** A modern request of a client that supports no requests of servers. */
export function toIncoming({ tool, args, client, headers, requester, signal }: RestCall): IncomingRequest {
  const _meta = {
    [META.version]: MODERN_VERSION,
    [META.clientInfo]: { name: client, version: "" },
    [META.clientCapabilities]: {},
  };
  const head = Buffer.from(`{"name":${JSON.stringify(tool)},"_meta":${JSON.stringify(_meta)},"arguments":`);
  const value: JsonObject = { name: tool, _meta, arguments: JSON.parse(args.toString()) };
  const params = rawParams(value, Buffer.concat([head, args, Buffer.from("}")]));
  const request: RequestMessage = { kind: "request", id: 1, method: "tools/call", params };
  return {
    request,
    era: "modern",
    transport: "http",
    session: undefined,
    connection: undefined,
    capabilities: {},
    logLevel: undefined,
    requester,
    headers,
    signal,
    notify: () => undefined,
  };
}

/**
 * The structured content if there is some; the JSON of a single text, or the text itself; otherwise the blocks. Throws the error of
 * the hub, the server or the tool.
 */
export function toAnswer(reply: Reply): Buffer {
  if (!reply.ok) throw toError(reply.error.value);
  const { value, bytes } = reply.result;
  const result = isObject(value) ? value : {};
  if (result["isError"] === true) {
    const meta = isObject(result["_meta"]) ? result["_meta"][ERROR_META] : undefined;
    throw errorIn(meta) ?? new HubError("ToolFailed", reasonOf(result) ?? "The tool reported an error");
  }
  const members = membersOf(bytes) ?? [];
  if (result["structuredContent"] !== undefined) return valueOf(bytes, members, "structuredContent") ?? EMPTY;
  const blocks: readonly unknown[] = Array.isArray(result["content"]) ? result["content"] : [];
  const [only] = blocks;
  const text = isObject(only) && only["type"] === "text" ? only["text"] : undefined;
  if (blocks.length !== 1 || typeof text !== "string") return valueOf(bytes, members, "content") ?? EMPTY;
  return isJson(text) ? Buffer.from(text) : Buffer.from(JSON.stringify(text));
}

const EMPTY = Buffer.from("[]");

function toError(error: unknown): HubError {
  const { message, data } = isObject(error) ? error : {};
  const detail = typeof message === "string" ? { detail: message } : {};
  return errorIn(data) ?? new HubError("ToolFailed", "The server answered with an error", detail);
}

/** The hub's own error, which knows its status. */
function errorIn(data: unknown): HubError | undefined {
  return isErrorBody(data) ? fromErrorBody(data) : undefined;
}

function isErrorBody(data: unknown): data is ErrorBody {
  if (!isObject(data)) return false;
  const { kind, message } = data;
  return typeof kind === "string" && Object.hasOwn(ERRORS, kind) && typeof message === "string";
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
