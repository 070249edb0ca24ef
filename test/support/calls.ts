// Calls for the tests of the call log: one that is over, in one piece.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { CallEnd, CallLog, CallStart } from "../../hub/src/calls/log.ts";

export type CallEntry = CallStart & CallEnd;

/** Resolves when it is on record. */
export async function append(log: Pick<CallLog, "begin">, entry: CallEntry): Promise<void> {
  await log.begin(entry).finish(entry);
}

/** All bytes of the call log in a data folder: of its database and of what is not entered yet. */
export async function recordedIn(data: string): Promise<string> {
  const names = (await readdir(data, { recursive: true })).filter((name) => name.startsWith("calls."));
  const texts = names.map((name) => readFile(join(data, name), "latin1").catch(() => "")); // a folder
  return (await Promise.all(texts)).join("");
}
