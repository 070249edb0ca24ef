// Maps revisions to messages: later edits, reactions and replies may name an edited message by the time of its last revision.
// The last few hundred are kept in the checkpoint.

import { evictOldest } from "@plugboard/shared/evict";
import { z } from "zod";
import { parseJson } from "@plugboard/shared/lenient";

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
    evictOldest(this.#originals, MAX_REVISIONS);
  }

  toString(): string {
    return JSON.stringify([...this.#originals]);
  }
}
