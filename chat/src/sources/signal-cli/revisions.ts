// Signal's later edits, reactions and answers may name an edited message by the time of its last revision. Here it is known
// which message that was; the last few hundred are kept in the checkpoint.

import { z } from "zod";
import { parseJson } from "../http.ts";

const MAX_REVISIONS = 200;
const stored = z.array(z.tuple([z.string(), z.string()]));

export class Revisions {
  readonly #originals: Map<string, string>;

  constructor(text: string | undefined) {
    this.#originals = new Map(stored.catch([]).parse(parseJson(text ?? "[]")));
  }

  original(id: string): string {
    return this.#originals.get(id) ?? id;
  }

  add(revision: string, original: string): void {
    this.#originals.set(revision, original);
    const [oldest] = this.#originals.keys();
    if (this.#originals.size > MAX_REVISIONS && oldest !== undefined) this.#originals.delete(oldest);
  }

  toString(): string {
    return JSON.stringify([...this.#originals]);
  }
}
