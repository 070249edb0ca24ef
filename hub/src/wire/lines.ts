// Splits a byte stream into lines, with a bound on the length of one. Empty ones mean nothing and are left out.

import { Pieces } from "./pieces.ts";

export interface LineReaderOptions {
  readonly maxBytes: number;
  onLine(line: Buffer): void;
  /** A line grew past the bound; what follows is ignored. Whoever owns the stream ends it. */
  onOverflow(): void;
  /** Asked after each line: whether the rest has to wait until `resume`. */
  readonly isFull?: () => boolean;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

export class LineReader {
  readonly #options: LineReaderOptions;
  /** Of the unfinished line. */
  readonly #pieces = new Pieces();
  #overflown = false;
  /** What came and has to wait. */
  #held: Buffer | undefined;

  constructor(options: LineReaderOptions) {
    this.#options = options;
  }

  /** Whether all of it was read. Where not, nothing may be pushed before `resume` has read the rest. */
  push(chunk: Buffer): boolean {
    let from = 0;
    while (!this.#overflown) {
      const end = chunk.indexOf(NEWLINE, from);
      const piece = chunk.subarray(from, end < 0 ? chunk.length : end);
      if (this.#pieces.size + piece.length > this.#options.maxBytes) {
        this.#overflow();
        break;
      }
      if (end < 0) {
        this.#pieces.add(piece);
        break;
      }
      this.#finish(piece);
      from = end + 1;
      if (this.#options.isFull?.() === true) {
        this.#held = chunk.subarray(from);
        return false;
      }
    }
    return true;
  }

  /** Goes on with what had to wait; as `push`. */
  resume(): boolean {
    const held = this.#held;
    this.#held = undefined;
    return held === undefined || this.push(held);
  }

  /** The stream ended: a last line without a newline still counts. */
  end(): void {
    if (!this.#overflown && this.#pieces.size > 0) this.#finish(Buffer.alloc(0));
  }

  #finish(last: Buffer): void {
    let line = last;
    if (this.#pieces.size > 0) {
      this.#pieces.add(last);
      line = this.#pieces.take();
    }
    if (line[line.length - 1] === RETURN) line = line.subarray(0, line.length - 1);
    if (line.length > 0) this.#options.onLine(line);
  }

  #overflow(): void {
    this.#overflown = true;
    this.#pieces.clear();
    this.#options.onOverflow();
  }
}
