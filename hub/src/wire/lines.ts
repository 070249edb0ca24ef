// Splits a byte stream into lines, with a bound on the length of one.

export interface LineReaderOptions {
  readonly maxBytes: number;
  /** Also report empty lines; they end an event in SSE and mean nothing elsewhere. */
  readonly keepEmpty?: boolean;
  onLine(line: Buffer): void;
  /** A line grew past the bound; what follows is ignored. Whoever owns the stream ends it. */
  onOverflow(): void;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

export class LineReader {
  readonly #options: LineReaderOptions;
  /** Pieces of the unfinished line. Kept apart until it ends, so that a long line costs one copy and not one per chunk. */
  #pieces: Buffer[] = [];
  #size = 0;
  #overflown = false;

  constructor(options: LineReaderOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    let from = 0;
    while (!this.#overflown) {
      const end = chunk.indexOf(NEWLINE, from);
      const piece = chunk.subarray(from, end < 0 ? chunk.length : end);
      this.#size += piece.length;
      if (this.#size > this.#options.maxBytes) return this.#overflow();
      if (end < 0) {
        if (piece.length > 0) this.#pieces.push(piece);
        return;
      }
      this.#finish(piece);
      from = end + 1;
    }
  }

  /** The stream ended: a last line without a newline still counts. */
  end(): void {
    if (!this.#overflown && this.#pieces.length > 0) this.#finish(Buffer.alloc(0));
  }

  #finish(last: Buffer): void {
    let line = last;
    if (this.#pieces.length > 0) {
      line = Buffer.concat([...this.#pieces, last]);
      this.#pieces = [];
    }
    this.#size = 0;
    if (line[line.length - 1] === RETURN) line = line.subarray(0, line.length - 1);
    if (line.length > 0 || this.#options.keepEmpty) this.#options.onLine(line);
  }

  #overflow(): void {
    this.#overflown = true;
    this.#pieces = [];
    this.#options.onOverflow();
  }
}
