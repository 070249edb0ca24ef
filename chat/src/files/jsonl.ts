// Our own format: one event of a chat on each line. What a converter of somebody else writes, and what tests speak.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { FileImporter, ImportReport, SourceEvent } from "../source.ts";
import { parseEventLine } from "./event-schema.ts";

const BATCH = 1000;
const MAX_PROBLEMS = 10;

export const jsonlImporter: FileImporter = {
  format: "events (JSONL)",
  sourceKind: "import",
  recognises: ({ head }) => {
    const line = head.toString("utf8").split("\n")[0] ?? "";
    // The first line may be longer than what was read of it.
    return /^\s*\{\s*"type"\s*:\s*"(chat|person|message|edit|delete|reaction|gap)"/.test(line);
  },
  read: async function* ({ path, onProgress, signal }): AsyncGenerator<readonly SourceEvent[], ImportReport> {
    const { size: totalBytes } = await stat(path);
    const stream = createReadStream(path, { signal });
    const chats = new Set<string>();
    const problems: string[] = [];
    let batch: SourceEvent[] = [];
    let messages = 0;
    let skipped = 0;
    let lineNumber = 0;
    const progress = () => onProgress?.({ bytes: stream.bytesRead, totalBytes, messages });
    for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
      lineNumber += 1;
      if (line.trim() === "") continue;
      const event = parseEventLine(line);
      if ("problem" in event) {
        skipped += 1;
        if (problems.length < MAX_PROBLEMS) problems.push(`line ${lineNumber} ${event.problem}`);
        continue;
      }
      if (event.type === "message") {
        messages += 1;
        chats.add(event.message.chat);
      }
      // What is in a file is no news, whatever it says of itself.
      batch.push(event.type === "message" ? { ...event, origin: "import" } : event);
      if (batch.length >= BATCH) {
        yield batch;
        batch = [];
        progress();
      }
    }
    if (batch.length > 0) yield batch;
    progress();
    return { format: jsonlImporter.format, chats: chats.size, messages, skipped, problems, notes: [] };
  },
};
