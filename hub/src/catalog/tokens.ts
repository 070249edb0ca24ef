// Estimates how many tokens of a model's context a tool definition takes. No tokenizer: their vocabularies have megabytes, and each
// model has another one. By words and symbols, as tokenizers split text; tokens.test.ts compares it with one.

import type { JsonObject } from "../lib/json/json.ts";

/** Longer runs of one kind take one token more for each such length. */
const WORD_LENGTH = 10;
const NUMBER_LENGTH = 3;
const SYMBOLS_LENGTH = 6;
/** Of a character that is not ASCII. */
const OTHER_CHARACTER = 0.8;

const OTHER = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
const SYMBOL = 4;
const RUN_LENGTH = [1, WORD_LENGTH, WORD_LENGTH, NUMBER_LENGTH, SYMBOLS_LENGTH] as const;

/** The kind of each ASCII byte. A blank belongs to the word that follows it. */
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code <= 0x20 || code === 0x7f) return OTHER;
  if (code >= 0x30 && code <= 0x39) return DIGIT;
  if (code >= 0x41 && code <= 0x5a) return UPPER;
  return code >= 0x61 && code <= 0x7a ? LOWER : SYMBOL;
});

export function estimateTokens(definition: JsonObject): number {
  return tokensOfJson(Buffer.from(JSON.stringify(definition)));
}

/** Reads UTF-8 as it is, since lists of thousands of tools are counted. */
export function tokensOfJson(json: Buffer): number {
  let tokens = 0;
  let kind = OTHER;
  let length = 0;
  for (const byte of json) {
    if (byte >= 0x80) {
      // The first byte of a character. Those outside the basic plane have four bytes, and mostly two tokens.
      if (byte >= 0xc0) tokens += byte >= 0xf0 ? 2 * OTHER_CHARACTER : OTHER_CHARACTER;
      kind = OTHER;
      continue;
    }
    const next = KINDS[byte] ?? OTHER;
    if (next === OTHER) kind = OTHER;
    else if (next === kind || (kind === UPPER && next === LOWER && length === 1)) {
      if (length % (RUN_LENGTH[next] ?? 1) === 0) tokens++;
      length++;
      kind = next;
    } else {
      tokens++;
      length = 1;
      kind = next;
    }
  }
  return Math.round(tokens);
}

/** Definitions are immutable, so that each is counted once. */
export class TokenCounts {
  readonly #known = new WeakMap<JsonObject, number>();

  /** Of a definition as clients get it. */
  of(definition: JsonObject): number {
    let count = this.#known.get(definition);
    if (count === undefined) {
      count = estimateTokens(definition);
      this.#known.set(definition, count);
    }
    return count;
  }

  sum(definitions: readonly JsonObject[]): number {
    return definitions.reduce((sum, definition) => sum + this.of(definition), 0);
  }
}
