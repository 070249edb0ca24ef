// What a tool call came back with, in the plain view: text, and whether it is an error.

import { HubError } from "../errors.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import type { Reply } from "../wire/jsonrpc.ts";
import { withContent } from "../wire/tool-era.ts";

export interface ToolResult {
  /** Text blocks joined by newlines. */
  readonly content: string;
  readonly isError: boolean;
  /** The server's whole answer, unchanged. */
  readonly raw: JsonObject;
}

export function toToolResult(reply: Reply): ToolResult {
  if (!reply.ok) {
    const message = isObject(reply.error.value) ? String(reply.error.value["message"]) : "";
    throw new HubError("ToolFailed", "The server answered with an error", {
      detail: message,
      cause: reply.error.value,
    });
  }
  const { value } = withContent(reply.result);
  const raw = isObject(value) ? value : {};
  const blocks: unknown[] = Array.isArray(raw["content"]) ? raw["content"] : [];
  const texts = blocks.flatMap((block) =>
    isObject(block) && typeof block["text"] === "string" ? [block["text"]] : [],
  );
  return { content: texts.join("\n"), isError: raw["isError"] === true, raw };
}
