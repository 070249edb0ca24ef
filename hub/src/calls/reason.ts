// Why a call is not ok, in words, as its result says it: a tool's own text, or the message of an error.

import { isObject } from "../wire/json.ts";

/** Null where it says nothing, as one that was under way when the hub was killed. */
export function reasonIn(result: unknown): string | null {
  if (!isObject(result)) return null;
  const { content, message } = result;
  if (typeof message === "string") return message;
  return textOf(content) || null;
}

/** The text blocks of a result, joined by newlines. */
function textOf(content: unknown): string {
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  const texts = blocks.flatMap((block) =>
    isObject(block) && typeof block["text"] === "string" ? [block["text"]] : [],
  );
  return texts.join("\n");
}
