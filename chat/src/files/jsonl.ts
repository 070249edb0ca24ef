// Our own format: one event of a chat on each line. What a converter of somebody else writes, and what tests speak.

import type { FileImporter, ImportFile, ImportReport, SourceEvent } from "../source.ts";
import { type Member, openArchive, unreadable } from "./archive.ts";
import { parseEventLine } from "./event-schema.ts";
import { lineGroups } from "./lines.ts";
import { Reading } from "./reading.ts";

const FORMAT = "events (JSONL)";
const MAX_LINE_BYTES = 8_000_000;

export const jsonlImporter: FileImporter = {
  format: FORMAT,
  sourceKind: "import",
  tells: ["edits", "reactions", "deletions"],

  recognises: ({ head }) => {
    const line = head.toString("utf8").split("\n")[0] ?? "";
    // The first line may be longer than what was read of it.
    return /^\s*\{\s*"type"\s*:\s*"(chat|person|message|edit|delete|reaction|gap)"/.test(line);
  },

  async *read(file: ImportFile): AsyncGenerator<readonly SourceEvent[], ImportReport> {
    const archive = await openArchive(file.path);
    try {
      const [member] = archive.members;
      if (member === undefined) throw unreadable(file.path, new Error("it is an empty folder"));
      return yield* readEvents(member, file);
    } finally {
      archive.close();
    }
  },
};

async function* readEvents(
  member: Member,
  { signal, onProgress }: ImportFile,
): AsyncGenerator<readonly SourceEvent[], ImportReport> {
  const reading = new Reading();
  let bytes = 0;
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of member.chunks(reading.reader(signal))) {
      bytes += chunk.length;
      yield chunk;
    }
  };
  for await (const lines of lineGroups(counted(), { maxBytes: MAX_LINE_BYTES })) {
    for (const { text, number } of lines) if (text.trim() !== "") add(reading, text, number);
    yield* reading.take();
    onProgress?.({ bytes, totalBytes: member.sizeBytes, messages: reading.messages });
  }
  yield* reading.take({ all: true });
  return reading.report(FORMAT);
}

function add(reading: Reading, line: string, number: number): void {
  const event = parseEventLine(line);
  if ("problem" in event) return reading.skip(`line ${number}`, event.problem);
  // What is in a file is no news, whatever it says of itself.
  reading.add(event.type === "message" ? { ...event, origin: "import" } : event);
}
