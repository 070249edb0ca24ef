// Port: one text that outlives the process, and its adapter as a file.

import { readFile } from "node:fs/promises";
import { writeFileAtomic } from "./atomic.ts";

export interface KeptText {
  /** Where it is, for messages. */
  readonly name: string;
  /** Undefined if there is none. */
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
}

/** One that cannot be read counts as missing. */
export function keptFile(path: string): KeptText {
  return {
    name: path,
    read: () => readFile(path, "utf8").catch(() => undefined),
    write: (text) => writeFileAtomic(path, text, { mode: 0o600 }),
  };
}
