// Splits a byte stream of any size into lines. A line beyond the limit is truncated and marked.

import { isUtf8 } from "node:buffer";

export interface Line {
  readonly text: string;
  /** 1-based. */
  readonly number: number;
  readonly problem?: "no UTF-8" | "too long";
  /** The last line has no newline: the file may be truncated. */
  readonly isUnterminated?: true;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

export class LineSplitter {
  readonly #maxBytes: number;
  readonly #onLine: (line: Line) => void;
  #number = 0;
  /** The beginning of a line that has not ended. */
  #open: Buffer = Buffer.alloc(0);
  #isCut = false;

  constructor(maxBytes: number, onLine: (line: Line) => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const piece = chunk.subarray(from, end);
      this.#onLine(this.#finish(this.#open.length === 0 ? piece : Buffer.concat([this.#open, piece])));
      this.#open = Buffer.alloc(0);
      from = end + 1;
    }
    if (this.#open.length <= this.#maxBytes) this.#open = Buffer.concat([this.#open, chunk.subarray(from)]);
    else this.#isCut = true;
  }

  end(): void {
    if (this.#open.length > 0) this.#onLine({ ...this.#finish(this.#open), isUnterminated: true });
  }

  #finish(bytes: Buffer): Line {
    const isCut = this.#isCut || bytes.length > this.#maxBytes;
    this.#isCut = false;
    return toLine(bytes, ++this.#number, isCut ? this.#maxBytes : undefined);
  }
}

function toLine(bytes: Buffer, number: number, cutAt: number | undefined): Line {
  const whole = bytes.at(-1) === RETURN ? bytes.subarray(0, -1) : bytes;
  if (cutAt !== undefined) return { text: whole.toString("utf8", 0, cutAt), number, problem: "too long" };
  const text = whole.toString("utf8");
  return text.includes("\ufffd") && !isUtf8(whole) ? { text, number, problem: "no UTF-8" } : { text, number };
}
