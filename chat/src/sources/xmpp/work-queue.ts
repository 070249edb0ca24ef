// Queue of a connection: archives to read (each queued at most once) and messages that are in no archive.

import { SourceFailure } from "../failure.ts";
import type { Element } from "./stanza.ts";

export type Work =
  | { readonly kind: "fetch"; readonly archive: string }
  | { readonly kind: "direct"; readonly archive: string; readonly message: Element };

const MAX_WORK = 10_000;

export class WorkQueue {
  readonly #work: Work[] = [];
  #end: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(lost: Promise<never>) {
    lost.catch((error: unknown) => {
      this.#end = { error };
      this.#wake?.();
    });
  }

  put(work: Work): void {
    if (work.kind === "fetch" && this.#work.some(({ kind, archive }) => kind === "fetch" && archive === work.archive))
      return;
    this.#work.push(work);
    this.#wake?.();
  }

  /** Waits for the next item; rejects when the connection is lost. */
  async next(): Promise<Work> {
    for (;;) {
      if (this.#end !== undefined) throw this.#end.error;
      if (this.#work.length > MAX_WORK) throw new SourceFailure("unreachable", "Too many unprocessed messages");
      const work = this.#work.shift();
      if (work !== undefined) return work;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
