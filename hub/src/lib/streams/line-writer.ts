// Writes messages to a pipe, one per line. Messages of the same tick are written together: the cost of a pipe is per write.

import type { Writable } from "node:stream";
import { onOneLine } from "../json/json.ts";

const NEWLINE = Buffer.from("\n");

export class LineWriter {
  readonly #output: Writable;
  #queue: Buffer[] = [];

  constructor(output: Writable) {
    this.#output = output;
  }

  /** Removes line breaks: a peer could otherwise inject a message. */
  write(message: Buffer): void {
    this.#queue.push(onOneLine(message), NEWLINE);
    // nextTick and not setImmediate: calls have waited for that already, with their log records.
    if (this.#queue.length === 2) process.nextTick(() => this.flush());
  }

  /** Flushed bytes that the reader has not taken yet. */
  get unwrittenBytes(): number {
    return this.#output.writableLength;
  }

  flush(): void {
    const queue = this.#queue;
    this.#queue = [];
    if (queue.length > 0 && this.#output.writable) this.#output.write(Buffer.concat(queue));
  }
}
