// The result of a search, as the model reads it: compact, within a budget of tokens.

import { signature } from "./signature.ts";
import { oneLine, count } from "../lib/text.ts";
import type { IndexedTool, ToolHits } from "./tool-index.ts";

const DESCRIPTION_LENGTH = 160;
const SIGNATURE_WIDTH = 240;
/** About 1,200 tokens. */
const MAX_BYTES = 4400;

/** @example searchText({ tools: [createIssue], unknown: ["gmail"] }, 137) */
export function searchText({ tools, unknown }: ToolHits<IndexedTool>, all: number): string {
  const notes = unknown.length === 0 ? [] : [`No tool mentions: ${unknown.map(oneLine).join(", ")}`];
  if (tools.length === 0) {
    return [`None of the ${count(all, "tool")} matches. Use other words, one action per search.`, ...notes].join("\n");
  }
  const entries: string[] = [];
  let bytes = 0;
  for (const tool of tools) {
    const entry = entryOf(tool);
    bytes += Buffer.byteLength(entry);
    if (bytes > MAX_BYTES && entries.length > 0) break;
    entries.push(entry);
  }
  return [`The best of ${count(all, "tool")}:`, "", ...entries, "", ...notes, HOW].join("\n");
}

const HOW = "Call them with call_tool. describe_tools shows whole schemas.";

function entryOf({ exposed, definition: { description, inputSchema } }: IndexedTool): string {
  const head = oneLine(signature(exposed, inputSchema, SIGNATURE_WIDTH));
  const text = oneLine(typeof description === "string" ? description : "").trim();
  const shown = Array.from(text);
  const cut = shown.length > DESCRIPTION_LENGTH ? `${shown.slice(0, DESCRIPTION_LENGTH - 1).join("")}…` : text;
  return cut === "" ? head : `${head}\n  ${cut}`;
}
