// A source that follows a file of events (files/jsonl.ts) which another program appends to: the way in for networks that we
// do not know. Where to go on is kept with the events, so that nothing is lost or read twice over a restart.

import { open, type FileHandle } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { parseEventLine } from "../files/event-schema.ts";
import { CHANGES, type ChatSource, type SourceContext, type SourceEvent } from "../source.ts";

export interface JsonlOptions {
  readonly id: string;
  readonly name: string;
  readonly path: string;
}

const LOOK_MS = 200;
const CHUNK_BYTES = 1_048_576;

export function createJsonl({ id, name, path }: JsonlOptions): ChatSource {
  return {
    id,
    kind: "jsonl",
    name,
    capabilities: { history: "full", stream: true, backfill: false, send: false, tells: CHANGES },
    run: (context) => follow(path, context),
  };
}

/** Looks again and again: a watcher would not see changes on network drives. */
async function follow(path: string, context: SourceContext): Promise<void> {
  const { signal, onState, log } = context;
  let offset = placeIn(path, context.checkpoint);
  onState({ status: "connecting" });
  while (!signal.aborted) {
    try {
      const file = await open(path, "r");
      try {
        offset = await readOn({ path, file }, offset, context);
      } finally {
        await file.close();
      }
      onState({ status: "connected" });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      onState({
        status: "disconnected",
        message,
        howToConnect: `Let the program that writes ${path} run, or create the file`,
      });
      log.info(message);
    }
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined); // told to end
  }
}

/** A place in another file says nothing of this one. */
function placeIn(path: string, { offset, path: known = path }: SourceContext["checkpoint"]): number {
  return known === path ? Number(offset ?? 0) : 0;
}

/** Where the next line begins. */
async function readOn(
  { path, file }: { readonly path: string; readonly file: FileHandle },
  from: number,
  { sink, signal, log }: SourceContext,
): Promise<number> {
  const { size } = await file.stat();
  // Written anew: what is known already changes nothing.
  let offset = size < from ? 0 : from;
  while (!signal.aborted && offset < size) {
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(Math.min(CHUNK_BYTES, size - offset)),
      position: offset,
    });
    const end = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
    // A line that is still being written; one that is longer than a chunk is nothing that we could use.
    if (end === 0 && bytesRead < CHUNK_BYTES) break;
    const used = end === 0 ? bytesRead : end;
    const events: SourceEvent[] = [];
    for (const line of buffer.subarray(0, end).toString("utf8").split("\n")) {
      if (line.trim() === "") continue;
      const event = parseEventLine(line);
      if ("problem" in event) log.warn(`a line is left out: ${event.problem}`);
      else events.push(event);
    }
    offset += used;
    await sink([...events, { type: "checkpoint", state: { offset: String(offset), path } }]);
  }
  return offset;
}
