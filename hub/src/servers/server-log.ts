// What a server wrote to stderr, over all its starts: the last lines, each without secrets, and each as it comes.
// The tail that explains one failed start is stderr-ring.ts's.

import { stripVTControlCharacters } from "node:util";

export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
}

const MAX_LINES = 2000;
const MAX_LINE_CHARS = 4096;
const CONTROL = /(?!\t)[\p{Cc}\u2028\u2029]/gu;

export class ServerLog {
  readonly #onLine: (line: LogLine) => void;
  #lines: LogLine[] = [];
  #secrets: readonly string[] = [];
  #decoder = new TextDecoder();
  #rest = "";

  constructor(onLine: (line: LogLine) => void) {
    this.#onLine = onLine;
  }

  /** A new process writes from now on. Its secrets must not be shown; the longest first, as one may be part of another. */
  start(secrets: readonly string[]): void {
    this.#secrets = secrets.toSorted((a, b) => b.length - a.length);
    this.#decoder = new TextDecoder();
    this.#rest = "";
  }

  push(chunk: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split("\n");
    // A line without an end is cut where it gets too long, so that it costs no memory; secrets are long done by then.
    this.#rest = lines.pop()?.slice(-MAX_LINE_CHARS) ?? "";
    for (const line of lines) this.#add(line);
  }

  /** The last lines, oldest first. */
  tail(lines: number): readonly LogLine[] {
    return lines <= 0 ? [] : this.#lines.slice(-lines);
  }

  #add(line: string): void {
    const shown = this.#secrets.reduce((text, secret) => text.replaceAll(secret, "***"), line);
    const text = stripVTControlCharacters(shown).replace(CONTROL, "").slice(0, MAX_LINE_CHARS);
    if (text === "") return;
    const entry = { at: Date.now(), text };
    this.#lines.push(entry);
    // Trimmed in bulk: shifting one line for each new one would copy the list every time.
    if (this.#lines.length > 2 * MAX_LINES) this.#lines = this.#lines.slice(-MAX_LINES);
    this.#onLine(entry);
  }
}
