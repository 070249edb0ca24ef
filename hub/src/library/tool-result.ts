// The result of a tool call as text, with an error flag.

import { HubError } from "../errors.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { rpcErrorIn, type Reply } from "../protocol/rpc/jsonrpc.ts";
import { withContent } from "../protocol/revisions/tool-era.ts";

export interface ToolResult {
  /** Text blocks joined by newlines. */
  readonly content: string;
  readonly isError: boolean;
  /** The complete result of the server; empty if it is not an object. */
  readonly raw: JsonObject;
}

/** Throws a JSON-RPC error of the server with the server's message. */
export function toToolResult(reply: Reply): ToolResult {
  if (!reply.ok) throw serverError(reply.error.value);
  const { value } = withContent(reply.result);
  const raw = isObject(value) ? value : {};
  const blocks: unknown[] = Array.isArray(raw["content"]) ? raw["content"] : [];
  const texts = blocks.flatMap((block) =>
    isObject(block) && typeof block["text"] === "string" ? [block["text"]] : [],
  );
  return { content: texts.join("\n"), isError: raw["isError"] === true, raw };
}

function serverError(error: unknown): HubError {
  const rpcError = rpcErrorIn(error);
  const { message } = isObject(error) ? error : {};
  const text = typeof message === "string" && message !== "" ? message : "The server answered with an error";
  return new HubError("ToolFailed", text, { cause: error, ...(rpcError === undefined ? {} : { rpcError }) });
}
