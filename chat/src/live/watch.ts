// Delivers new messages that match a filter, in batches. Matches are read from the store, so that a filter means the same as
// in a query, and a slow listener holds nothing in memory.

import type { ChatStore, MessageFilter, StoredMessage } from "../model/store-port.ts";
import type { Feed } from "./feed.ts";

export interface WatchOptions {
  readonly store: ChatStore;
  readonly feed: Feed;
  /** Called for each batch, since chats are added and removed. Undefined: nothing can match. */
  readonly filter: () => MessageFilter | undefined;
  readonly deliver: (batch: Batch) => void;
  readonly onError: (error: unknown) => void;
}

export interface Batch {
  /** Oldest first. */
  readonly messages: readonly StoredMessage[];
  /** The number of older matches that were left out. */
  readonly dropped: number;
  /** Everything up to this key has been delivered. */
  readonly key: number;
}

export const DEBOUNCE_MS = 500;
export const MAX_BATCH = 50;
const PAGE = 500;
const MAX_PAGES = 20;

export class Watch {
  readonly #options: WatchOptions;
  readonly #stop: () => void;
  #key: number;
  #timer: NodeJS.Timeout | undefined;
  #deliveredAt = -Infinity;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#key = options.store.newestKey();
    this.#stop = options.feed.listen(() => this.#schedule());
  }

  close(): void {
    this.#stop();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** The first message of a burst is delivered at once, the others together. */
  #schedule(): void {
    if (this.#timer !== undefined) return;
    const waitMs = Math.max(0, this.#deliveredAt + DEBOUNCE_MS - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#deliveredAt = performance.now();
      try {
        this.#deliver();
      } catch (error) {
        this.#options.onError(error);
      }
    }, waitMs);
  }

  #deliver(): void {
    const { store, feed, filter, deliver } = this.#options;
    const found = findLiveMessages({ store, feed, filter: filter(), after: this.#key });
    this.#key = found.key;
    if (found.messages.length === 0) return;
    const messages = found.messages.slice(-MAX_BATCH);
    deliver({ messages, dropped: found.messages.length - messages.length, key: found.key });
  }
}

/** Live messages after a key, oldest first, and the key up to which the store was read. */
export function findLiveMessages({
  store,
  feed,
  filter,
  after,
  since,
}: {
  readonly store: ChatStore;
  readonly feed: Feed;
  readonly filter: MessageFilter | undefined;
  readonly after: number;
  /** Messages written later count as live, even if another process stored them. */
  readonly since?: number;
}): { readonly messages: readonly StoredMessage[]; readonly key: number } {
  const newest = Math.max(after, store.newestKey());
  if (filter === undefined) return { messages: [], key: newest };
  const messages: StoredMessage[] = [];
  let key = after;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const found = store.after(key, filter, PAGE);
    messages.push(...found.filter((message) => feed.isLive(message) || (since !== undefined && message.at >= since)));
    key = found.at(-1)?.key ?? key;
    if (found.length < PAGE) break;
  }
  return { messages, key: Math.max(key, newest) };
}
