// Tells small JSON in which there is nothing to hide but what is known to be secret, in one pass. Nearly every call's parameters
// and results are such, so this is asked twice for each call: four bytes at a time, of which most say nothing.

import { isAfterCredential } from "./credential-members.ts";

/** Beyond it, looking for one byte after the other with the machine's own means is faster than a look at all of them. */
const MAX_BYTES = 1024;
const SPACE = 0x20;
const PERCENT = 0x25;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** Bytes are looked at in a place of its own, because words can only be read where they are aligned. */
export class PlainJson {
  readonly #words = new Int32Array(MAX_BYTES / 4);
  readonly #bytes = new Uint8Array(this.#words.buffer);

  /** True only where it is on one line, without escapes, and without a member that is a credential by its name. */
  isPlain(json: Buffer): boolean {
    const { length } = json;
    if (length > MAX_BYTES) return false;
    this.#bytes.set(json);
    const words = this.#words;
    const count = length >>> 2;
    for (let index = 0; index < count; index++) {
      if (mayTell(words[index] ?? 0) && !isHarmless(json, 4 * index, 4 * index + 4)) return false;
    }
    return isHarmless(json, 4 * count, length);
  }
}

/** Whether any of its bytes may say something: escapes may stand for a secret, line breaks have to go, a name stands before a colon. */
function mayTell(word: number): boolean {
  const telling =
    below(word, SPACE) |
    below(word ^ four(PERCENT), 1) |
    below(word ^ four(COLON), 1) |
    below(word ^ four(BACKSLASH), 1);
  return telling !== 0;
}

/** Not zero where any of the four bytes is less than the limit, which is 128 at most. */
function below(word: number, limit: number): number {
  return (word - four(limit)) & ~word & four(0x80);
}

/** The same byte four times. */
function four(byte: number): number {
  return Math.imul(byte, 0x01_01_01_01);
}

function isHarmless(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0;
    if (byte < SPACE || byte === PERCENT || byte === BACKSLASH) return false;
    if (byte === COLON && isAfterCredential(bytes, at)) return false;
  }
  return true;
}
