// The last bytes of a server's stderr, in a bounded buffer. Not redacted.

import { stripVTControlCharacters } from "node:util";
import { trimEnd } from "@plugboard/shared/trim";

const LIMIT_BYTES = 256 * 1024;
const FIRST_BYTES = 4 * 1024;
/** Of a line that is longer than the ring: what may be left of a secret whose beginning is lost. */
const SEVERED_BYTES = 12 * 1024;
const NEWLINE = 0x0a;
// Everything that could move a cursor or fake a line; tab stays, and so does the newline until the lines are cut.
const CONTROL = /(?![\t\n])[\p{Cc}\u2028\u2029]/gu;

export class StderrRing {
  readonly limitBytes: number;
  // Grows to the limit and then wraps: most servers write little, and a flood of tiny writes must not cost more.
  #bytes: Buffer;
  #start = 0;
  #size = 0;
  #dropped = false;

  constructor(limitBytes = LIMIT_BYTES) {
    this.limitBytes = limitBytes;
    this.#bytes = Buffer.alloc(Math.min(FIRST_BYTES, limitBytes));
  }

  get sizeBytes(): number {
    return this.#size;
  }

  push(chunk: Uint8Array): void {
    const kept = chunk.subarray(Math.max(0, chunk.length - this.limitBytes));
    if (kept.length < chunk.length) this.#dropped = true;
    this.#grow(this.#size + kept.length);
    const capacity = this.#bytes.length;
    const end = (this.#start + this.#size) % capacity;
    const untilWrap = Math.min(kept.length, capacity - end);
    this.#bytes.set(kept.subarray(0, untilWrap), end);
    this.#bytes.set(kept.subarray(untilWrap), 0);
    const overwritten = Math.max(0, this.#size + kept.length - capacity);
    if (overwritten > 0) this.#dropped = true;
    this.#start = (this.#start + overwritten) % capacity;
    this.#size += kept.length - overwritten;
  }

  /** The last lines that are there from their beginning; of a single line longer than the ring, what is left of it. */
  tail(lines: number): string {
    const text = this.#whole().toString("utf8");
    const cut = trimEnd(stripVTControlCharacters(text).replace(CONTROL, ""), "\n").split("\n");
    return cut.slice(-lines).join("\n");
  }

  #grow(wanted: number): void {
    if (wanted <= this.#bytes.length || this.#bytes.length === this.limitBytes) return;
    const grown = Buffer.alloc(Math.min(this.limitBytes, 2 ** Math.ceil(Math.log2(wanted))));
    this.#inOrder().copy(grown);
    this.#bytes = grown;
    this.#start = 0;
  }

  #inOrder(): Buffer {
    const wrapped = this.#bytes.subarray(this.#start, this.#start + this.#size);
    return Buffer.concat([wrapped, this.#bytes.subarray(0, this.#size - wrapped.length)]);
  }

  #whole(): Buffer {
    const bytes = this.#inOrder();
    if (!this.#dropped) return bytes;
    const newline = bytes.indexOf(NEWLINE);
    if (newline >= 0 && newline < bytes.length - 1) return bytes.subarray(newline + 1);
    const rest = bytes.subarray(bytes.length > 2 * SEVERED_BYTES ? SEVERED_BYTES : 0);
    // Cut inside a character: its continuation bytes (10xxxxxx) mean nothing without their head.
    const head = rest.findIndex((byte) => (byte & 0xc0) !== 0x80);
    return rest.subarray(Math.max(0, head));
  }
}
