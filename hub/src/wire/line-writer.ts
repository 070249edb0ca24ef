// Writes messages to a pipe, one a line. Those that come together, as calls do that were recorded in one write,
// are written together: a pipe costs by the write, not by the byte.

import type { Writable } from "node:stream";
import { onOneLine } from "./json.ts";

const NEWLINE = Buffer.from("\n");

export class LineWriter {
  readonly #output: Writable;
  #queue: Buffer[] = [];

  constructor(output: Writable) {
    this.#output = output;
  }

  /**
   * A peer's own line breaks must not get this far: what stands between two of them would be a message of its own,
   * unseen by any check.
   */
  write(message: Buffer): void {
    this.#queue.push(onOneLine(message), NEWLINE);
    // Not at the end of a turn, which calls have waited for already.
    if (this.#queue.length === 2) process.nextTick(() => this.flush());
  }

  /** What the reader has not taken yet, as far as it was flushed. */
  get unwrittenBytes(): number {
    return this.#output.writableLength;
  }

  /** Writes what is waiting now. */
  flush(): void {
    const queue = this.#queue;
    this.#queue = [];
    if (queue.length > 0 && this.#output.writable) this.#output.write(Buffer.concat(queue));
  }
}
