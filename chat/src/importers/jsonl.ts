// Imports event lines (JSONL), the format for converters and tests: one event per line.

import type { FileImporter, ImportLimits } from "../model/source.ts";
import { parseEventLine } from "./event-schema.ts";
import { isJson } from "./fields.ts";
import { lineTooLong } from "./import-limits.ts";
import { type Line, LineSplitter } from "./lines.ts";
import { TRUNCATED, type ImportCollector } from "./import-collector.ts";
import { readMember } from "./read-member.ts";

const FORMAT = "events (JSONL)";

export const jsonlImporter: FileImporter = {
  format: FORMAT,
  sourceKind: "import",
  changes: ["edits", "reactions", "deletions"],

  recognises: ({ head }) => {
    const line = head.toString("utf8").split("\n")[0] ?? "";
    // The head may end inside the first line, so it is not parsed.
    return /^\s*\{\s*"type"\s*:\s*"(chat|person|message|edit|delete|reaction|gap)"/.test(line);
  },

  read: (file) =>
    readMember(file, {
      format: FORMAT,
      choose: ([member]) => member,
      missing: { what: "file" },
      createReader: ({ collector, limits }) =>
        new LineSplitter(limits.line_bytes, (line) => {
          if (line.text.trim() !== "") add(collector, line, limits);
        }),
    }),
};

function add(
  collector: ImportCollector,
  { text, number, problem: trouble, isUnterminated: isOpen }: Line,
  limits: ImportLimits,
): void {
  const where = `line ${number}`;
  if (trouble === "too long") return collector.skip(where, lineTooLong(limits));
  const event = parseEventLine(text);
  if ("problem" in event) {
    if (isOpen === true && !isJson(text)) return collector.skipTruncated(where, TRUNCATED);
    return collector.skip(where, event.problem);
  }
  // Imported messages are never announced as new, whatever origin they claim.
  collector.add(event.type === "message" ? { ...event, origin: "import" } : event);
}
