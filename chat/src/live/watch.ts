// One look-out for new messages that match a filter. Bursts are told together; what matches is asked of the store, so that a
// filter means the same as everywhere, and a slow listener holds nothing in memory.

import type { ChatStore, MessageFilter, StoredMessage } from "../query.ts";
import type { Feed } from "./feed.ts";

export interface WatchOptions {
  readonly store: ChatStore;
  readonly feed: Feed;
  /** Asked each time: chats come and go. Undefined where nothing can match. */
  readonly filter: () => MessageFilter | undefined;
  readonly deliver: (batch: Batch) => void;
  /** Whoever hears of a failure. */
  readonly onError: (error: unknown) => void;
}

export interface Batch {
  /** Oldest first. */
  readonly messages: readonly StoredMessage[];
  /** How many more there were before these, which are not told of one by one. */
  readonly dropped: number;
  /** Everything up to this key has been told. */
  readonly key: number;
}

export const COALESCE_MS = 500;
export const MAX_TOLD = 50;
const PAGE = 500;
const MAX_PAGES = 20;

export class Watch {
  readonly #options: WatchOptions;
  readonly #stop: () => void;
  #key: number;
  #timer: NodeJS.Timeout | undefined;
  #toldAt = -Infinity;

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

  /** The first of a burst goes at once, the rest together. */
  #schedule(): void {
    if (this.#timer !== undefined) return;
    const waitMs = Math.max(0, this.#toldAt + COALESCE_MS - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#toldAt = performance.now();
      try {
        this.#tell();
      } catch (error) {
        this.#options.onError(error);
      }
    }, waitMs);
  }

  #tell(): void {
    const { store, feed, filter, deliver } = this.#options;
    const found = findNews({ store, feed, filter: filter(), after: this.#key });
    this.#key = found.key;
    if (found.messages.length === 0) return;
    const told = found.messages.slice(-MAX_TOLD);
    deliver({ messages: told, dropped: found.messages.length - told.length, key: found.key });
  }
}

/** Messages that came live after this key, oldest first, and how far was looked. */
export function findNews({
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
  /** What was written later counts as new, also where another process has stored it. */
  readonly since?: number;
}): { readonly messages: readonly StoredMessage[]; readonly key: number } {
  const newest = Math.max(after, store.newestKey());
  if (filter === undefined) return { messages: [], key: newest };
  const messages: StoredMessage[] = [];
  let key = after;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const found = store.after(key, filter, PAGE);
    messages.push(...found.filter((message) => feed.isNews(message) || (since !== undefined && message.at >= since)));
    key = found.at(-1)?.key ?? key;
    if (found.length < PAGE) break;
  }
  return { messages, key: Math.max(key, newest) };
}
