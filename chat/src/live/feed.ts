// Tells who wants to know that there are new messages. What they are is read from the store, with the reader's own filter.

import type { StoredMessage } from "../query.ts";

const MAX_REMEMBERED = 20_000;
/** Where another process has stored it: what was written so lately has come live, older ones were imported. */
const LATELY_MS = 600_000;

export class Feed {
  readonly #listeners = new Set<() => void>();
  /** Keys of the latest messages that came live, oldest first: imports and backfills are no news. */
  readonly #news = new Set<number>();
  readonly #now: () => number;
  #follows = false;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Whether another process runs the sources. */
  follow(follows: boolean): void {
    this.#follows = follows;
  }

  publish(messages: readonly StoredMessage[]): void {
    if (messages.length === 0) return;
    for (const { key } of messages) {
      this.#news.add(key);
      const [oldest] = this.#news;
      if (this.#news.size > MAX_REMEMBERED && oldest !== undefined) this.#news.delete(oldest);
    }
    this.wake();
  }

  /** Somebody else has stored something. */
  wake(): void {
    for (const listener of this.#listeners) listener();
  }

  isNews({ key, at }: { readonly key: number; readonly at: number }): boolean {
    return this.#news.has(key) || (this.#follows && at >= this.#now() - LATELY_MS);
  }

  /** The function that ends it. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves when there is something new, or at the signal. */
  next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        stop();
        signal.removeEventListener("abort", done);
        resolve();
      };
      const stop = this.listen(done);
      if (signal.aborted) done();
      else signal.addEventListener("abort", done);
    });
  }
}
