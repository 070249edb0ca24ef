// Content of tools, resources and prompts as text. Other content is named, since a terminal cannot show it.

import { isObject } from "../../lib/json/json.ts";
import type { Output } from "./output.ts";

/** Text blocks joined by newlines. */
export function printContent(out: Output, content: unknown): void {
  const blocks: unknown[] = Array.isArray(content) ? content : [];
  out.printForeign(`${blocks.map(textOf).join("\n")}\n`);
}

export function textOf(block: unknown): string {
  if (!isObject(block)) return "[unreadable content]";
  if (typeof block["text"] === "string" && (block["type"] === "text" || block["type"] === undefined))
    return block["text"];
  if (isObject(block["resource"])) return textOf(block["resource"]);
  const what = [block["type"], block["mimeType"], block["uri"]].filter((part) => typeof part === "string");
  return `[${what.join(" ")}]`;
}
