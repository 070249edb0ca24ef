// A source that follows a file of event lines which another program appends to: the integration point for other networks. The
// offset is stored with the events, so nothing is lost or read twice after a restart.

import { open, type FileHandle } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { parseEventLine } from "../importers/event-schema.ts";
import { CHANGES, type ChatSource, type SourceContext, type SourceEvent } from "../model/source.ts";

export interface JsonlOptions {
  readonly id: string;
  readonly name: string;
  readonly path: string;
}

const POLL_MS = 200;
const CHUNK_BYTES = 1_048_576;

export function createJsonlSource({ id, name, path }: JsonlOptions): ChatSource {
  return {
    id,
    kind: "jsonl",
    name,
    capabilities: { history: "full", stream: true, backfill: false, send: false, changes: CHANGES },
    run: (context) => follow(path, context),
  };
}

/** Polls, since file watchers miss changes on network drives. */
async function follow(path: string, context: SourceContext): Promise<void> {
  const { signal, onState, log } = context;
  let offset = startOffset(path, context.checkpoint);
  onState({ status: "connecting" });
  while (!signal.aborted) {
    try {
      const file = await open(path, "r");
      try {
        offset = await readNewLines({ path, file }, offset, context);
      } finally {
        await file.close();
      }
      onState({ status: "connected" });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      onState({
        status: "disconnected",
        message,
        howToConnect: `Start the program that writes ${path}, or create the file`,
      });
      log.info(message);
    }
    await delay(POLL_MS, undefined, { signal }).catch(() => undefined); // aborted
  }
}

/** Starts at 0 if the checkpoint belongs to another path. */
function startOffset(path: string, { offset, path: known = path }: SourceContext["checkpoint"]): number {
  return known === path ? Number(offset ?? 0) : 0;
}

/** Returns the offset of the next line. */
async function readNewLines(
  { path, file }: { readonly path: string; readonly file: FileHandle },
  from: number,
  { sink, signal, log }: SourceContext,
): Promise<number> {
  const { size } = await file.stat();
  // The file was rewritten: read it from the start, known events change nothing.
  let offset = size < from ? 0 : from;
  while (!signal.aborted && offset < size) {
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(Math.min(CHUNK_BYTES, size - offset)),
      position: offset,
    });
    const end = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
    // Wait for an incomplete line; skip one longer than a chunk.
    if (end === 0 && bytesRead < CHUNK_BYTES) break;
    const used = end === 0 ? bytesRead : end;
    const events: SourceEvent[] = [];
    for (const line of buffer.subarray(0, end).toString("utf8").split("\n")) {
      if (line.trim() === "") continue;
      const event = parseEventLine(line);
      if ("problem" in event) log.warn(`skipped an invalid line: ${event.problem}`);
      else events.push(event);
    }
    offset += used;
    await sink([...events, { type: "checkpoint", state: { offset: String(offset), path } }]);
  }
  return offset;
}
