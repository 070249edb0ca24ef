// What a tool says about its failure.

import { isObject, type JsonObject } from "../../lib/json/json.ts";

const MAX_TEXT = 2000;

/** Undefined if the result has no text. */
export function reasonOf({ content }: JsonObject): string | undefined {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const texts = blocks.flatMap((block) =>
    isObject(block) && typeof block["text"] === "string" ? [block["text"]] : [],
  );
  return texts.join("\n").slice(0, MAX_TEXT) || undefined;
}
