// What a server wrote to stderr, over all its starts: the last lines, each without secrets, and each as it comes.
// The tail that explains one failed start is stderr-ring.ts's.

import { stripVTControlCharacters } from "node:util";
import { MASK } from "../config/mask.ts";
import type { Redact } from "./redaction.ts";

export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
}

const MAX_LINES = 2000;
const MAX_LINE_CHARS = 4096;
/** The longest value of a config, every byte of it escaped. */
const MAX_SECRET_CHARS = 3 * 4096;
const KEPT_CHARS = MAX_LINE_CHARS + MAX_SECRET_CHARS;
const CONTROL = /(?!\t)[\p{Cc}\u2028\u2029]/gu;

export interface ServerLogOptions {
  readonly redact: Redact;
  readonly onLine: (line: LogLine) => void;
}

export class ServerLog {
  readonly #options: ServerLogOptions;
  #lines: LogLine[] = [];

  constructor(options: ServerLogOptions) {
    this.#options = options;
  }

  /** For what a new process writes. Each has its own: the lines of two must not run into one. */
  start(): (chunk: Uint8Array) => void {
    const decoder = new TextDecoder();
    let rest = "";
    return (chunk) => {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      // A line without an end costs no more memory than this: its beginning, and the rest of a secret that begins in it.
      rest = lines.pop()?.slice(0, KEPT_CHARS) ?? "";
      for (const line of lines) this.#add(line);
    };
  }

  /** The last lines, oldest first. */
  tail(lines: number): readonly LogLine[] {
    return lines <= 0 ? [] : this.#lines.slice(-lines);
  }

  #add(line: string): void {
    // Colours first: they could stand in the middle of a secret.
    const plain = stripVTControlCharacters(line.slice(0, KEPT_CHARS)).replace(CONTROL, "");
    if (plain === "") return;
    const shown = this.#options.redact(plain);
    // Where the line was cut, the last characters may be a part of a secret that nobody could recognize.
    const sure = line.length < KEPT_CHARS ? shown.length : shown.length - MAX_SECRET_CHARS;
    const text = shown.slice(0, Math.max(0, Math.min(sure, MAX_LINE_CHARS))) || MASK;
    const entry = { at: Date.now(), text };
    this.#lines.push(entry);
    // Trimmed in bulk: shifting one line for each new one would copy the list every time.
    if (this.#lines.length > 2 * MAX_LINES) this.#lines = this.#lines.slice(-MAX_LINES);
    this.#options.onLine(entry);
  }
}
