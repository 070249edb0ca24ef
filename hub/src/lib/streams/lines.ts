// Splits a byte stream into lines of bounded length. Skips empty lines.

import { Chunks } from "@plugboard/shared/streams/chunks";

export interface LineReaderOptions {
  readonly maxBytes: number;
  onLine(line: Buffer): void;
  /** A line is too long. All further input is ignored; the owner has to end the stream. */
  onOverflow(): void;
  /** Called after each line. True: the rest waits until `resume`. */
  readonly isFull?: () => boolean;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

export class LineReader {
  readonly #options: LineReaderOptions;
  /** The incomplete line. */
  readonly #chunks = new Chunks();
  #hasOverflowed = false;
  /** Input that waits for `resume`. */
  #waiting: Buffer | undefined;

  constructor(options: LineReaderOptions) {
    this.#options = options;
  }

  /** False: the rest waits, and `resume` has to be called before the next push. */
  push(chunk: Buffer): boolean {
    let from = 0;
    while (!this.#hasOverflowed) {
      const end = chunk.indexOf(NEWLINE, from);
      const part = chunk.subarray(from, end < 0 ? chunk.length : end);
      if (this.#chunks.size + part.length > this.#options.maxBytes) {
        this.#overflow();
        break;
      }
      if (end < 0) {
        this.#chunks.add(part);
        break;
      }
      this.#finish(part);
      from = end + 1;
      if (this.#options.isFull?.() === true) {
        this.#waiting = chunk.subarray(from);
        return false;
      }
    }
    return true;
  }

  /** Reads the waiting input. The result is that of `push`. */
  resume(): boolean {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting === undefined || this.push(waiting);
  }

  /** The stream ended. A last line without a newline counts. */
  end(): void {
    if (!this.#hasOverflowed && this.#chunks.size > 0) this.#finish(Buffer.alloc(0));
  }

  #finish(last: Buffer): void {
    let line = last;
    if (this.#chunks.size > 0) {
      this.#chunks.add(last);
      line = this.#chunks.take();
    }
    if (line[line.length - 1] === RETURN) line = line.subarray(0, line.length - 1);
    if (line.length > 0) this.#options.onLine(line);
  }

  #overflow(): void {
    this.#hasOverflowed = true;
    this.#chunks.clear();
    this.#options.onOverflow();
  }
}
