// Estimates how many tokens of a model's context a tool definition takes. No tokenizer: their vocabularies have megabytes, and each
// model has another one.

import type { JsonObject } from "../lib/json/json.ts";

/** An average for JSON schemas in English. */
const BYTES_PER_TOKEN = 3.8;

export function estimateTokens(definition: JsonObject): number {
  return tokensOfBytes(Buffer.byteLength(JSON.stringify(definition)));
}

/** Of JSON definitions of this length. */
export function tokensOfBytes(bytes: number): number {
  return Math.round(bytes / BYTES_PER_TOKEN);
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
