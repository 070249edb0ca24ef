// Wakes listeners when new messages are stored. They read the messages from the store themselves, with their own filter.

import { evictOldest } from "@plugboard/shared/evict";

const MAX_REMEMBERED = 20_000;
/** Without keys from another process, its messages count as live if they were written this recently; older ones were imported. */
const RECENT_MS = 600_000;

export class Feed {
  readonly #listeners = new Set<() => void>();
  /** Keys of the latest live messages, oldest first. Imported and backfilled messages are not live. */
  readonly #liveKeys = new Set<number>();
  readonly #now: () => number;
  #isFollower = false;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** A follower reads what another process stores, which runs the sources. */
  setFollower(isFollower: boolean): void {
    this.#isFollower = isFollower;
  }

  /** Keys of live messages that were stored. */
  publish(keys: readonly number[]): void {
    if (keys.length === 0) return;
    for (const key of keys) {
      this.#liveKeys.add(key);
      evictOldest(this.#liveKeys, MAX_REMEMBERED);
    }
    this.wake();
  }

  /** Wakes the listeners after another process has stored messages. */
  wake(): void {
    for (const listener of this.#listeners) listener();
  }

  isLive({ key, at }: { readonly key: number; readonly at: number }): boolean {
    return this.#liveKeys.has(key) || (this.#isFollower && at >= this.#now() - RECENT_MS);
  }

  /** Returns the function that removes the listener. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves at the next wake-up, or when the signal aborts. */
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
