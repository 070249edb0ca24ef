// Fetches older messages from the network on demand, page by page, one page at a time for each chat. The store records which
// spans are still unfetched, so that nothing is fetched twice. If another process runs the sources, the page is requested from
// it through the store.

import { setTimeout as delay } from "node:timers/promises";
import { ChatError } from "../errors.ts";
import type { ChatStore, PageOutcome, StoredChat } from "../model/store-port.ts";
import type { BackfillRequest, ChatSource } from "../model/source.ts";
import { asFailure } from "../sources/failure.ts";
import type { Sources } from "../sources/sources.ts";
import { afterPage, newestWithin, splitAt, type Range, type Span } from "../model/unfetched.ts";

export interface HistoryOptions {
  readonly store: ChatStore;
  readonly sources: Sources;
  readonly now: () => number;
  readonly log: (line: string) => void;
  readonly limits?: HistoryLimits;
}

/** Of one request. */
export interface HistoryLimits {
  readonly pages: number;
  readonly ms: number;
}

export interface FetchOptions {
  readonly signal: AbortSignal;
  readonly onPage?:
    | ((progress: { readonly pages: number; readonly reachedAt: number | undefined }) => void)
    | undefined;
}

/** Whether all that is needed is stored by now; if not, a missing span and the reason. */
export type Coverage =
  | { readonly status: "complete" }
  | { readonly status: "more" | "failed"; readonly missing: Span; readonly message: string };

export const HISTORY_LIMITS: HistoryLimits = { pages: 50, ms: 25_000 };
const PAGE = 100;
const PAGE_MS = 60_000;
/** How often the store is polled for requests and answers of other processes. */
const POLL_MS = 200;

export class History {
  readonly #options: HistoryOptions;
  readonly #limits: HistoryLimits;
  /** Pages that are being fetched, by chat. */
  readonly #inFlight = new Map<number, Promise<PageOutcome>>();
  /** Sources that cannot look up a time. */
  readonly #sequential = new WeakSet<ChatSource>();
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#limits = options.limits ?? HISTORY_LIMITS;
  }

  /** Serves requests of other processes whenever this one runs the sources. */
  start(): void {
    const served = new Set<number>();
    this.#timer = setInterval(() => {
      if (this.#options.sources.isRunning) this.#serve(served);
    }, POLL_MS);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stop.abort();
    await Promise.all(this.#inFlight.values());
  }

  /** Whether older messages of this source can be fetched. A command that only reads the store cannot. */
  canFetch(source: string): boolean {
    return this.#timer !== undefined && this.#options.sources.get(source).source.capabilities.backfill;
  }

  missing(chat: StoredChat, range: Range): Span | undefined {
    return this.canFetch(chat.source) ? newestWithin(this.#options.store.unfetched(chat.key), range) : undefined;
  }

  /** Fetches until the needed range, which is computed again after each page, is complete. Never rejects. */
  async fill(
    chat: StoredChat,
    need: () => Promise<Range> | Range,
    { signal, onPage }: FetchOptions,
  ): Promise<Coverage> {
    const endsAt = performance.now() + this.#limits.ms;
    for (let pages = 0; ; pages++) {
      const range = await need();
      const missing = this.missing(chat, range);
      if (missing === undefined) return { status: "complete" };
      const leftMs = endsAt - performance.now();
      if (pages >= this.#limits.pages || leftMs <= 0) {
        return { status: "more", missing, message: `${pages} pages were fetched` };
      }
      const state = this.#options.sources.state(chat.source);
      if (state.status !== "connected") {
        const message = "message" in state ? state.message : "The source is still connecting";
        return { status: "failed", missing, message };
      }
      const outcome = await withTimeout(this.#page(chat, range), leftMs, signal);
      if (outcome === undefined) return { status: "more", missing, message: "The time limit was reached" };
      if (outcome.status === "failed") return { status: "failed", missing, message: outcome.message };
      if (outcome.status === "fetched") onPage?.({ pages: pages + 1, reachedAt: outcome.reachedAt });
    }
  }

  /** Single flight: a second caller waits for the same page, and then checks what is still missing. */
  #page(chat: StoredChat, range: Range): Promise<PageOutcome> {
    const known = this.#inFlight.get(chat.key);
    if (known !== undefined) return known;
    const flight = (this.#options.sources.isRunning ? this.#fetch(chat, range) : this.#request(chat, range))
      .catch((error: unknown): PageOutcome => ({ status: "failed", message: reasonOf(error) }))
      .finally(() => this.#inFlight.delete(chat.key));
    this.#inFlight.set(chat.key, flight);
    return flight;
  }

  async #fetch(chat: StoredChat, range: Range): Promise<PageOutcome> {
    const { store, sources } = this.#options;
    const { source } = sources.get(chat.source);
    if (source.backfill === undefined) return { status: "complete" };
    const span = this.#nextSpan(chat, range, source);
    if (span === undefined) return { status: "complete" };
    const page = await source.backfill({
      chat: chat.id,
      limit: PAGE,
      signal: AbortSignal.any([this.#stop.signal, AbortSignal.timeout(PAGE_MS)]),
      ...this.#startOf(chat, span),
    });
    if (page.status === "no_time_lookup") {
      if (this.#sequential.has(source)) return { status: "failed", message: "The network cannot look up a time" };
      this.#sequential.add(source);
      store.changeUnfetched(chat.key, (spans) => joinAt(spans, span.to));
      return this.#fetch(chat, range);
    }
    store.changeUnfetched(chat.key, (spans) => afterPage(spans, span.to, page));
    return { status: "fetched", ...(page.reachedAt === undefined ? {} : { reachedAt: page.reachedAt }) };
  }

  /** The span to fetch from. A span that ends after the range is split first, so that a kill loses no part of it. */
  #nextSpan(chat: StoredChat, range: Range, source: ChatSource): Span | undefined {
    const { store } = this.#options;
    const found = newestWithin(store.unfetched(chat.key), range);
    const { before } = range;
    if (found === undefined || before === undefined || before >= found.to || this.#sequential.has(source)) return found;
    store.changeUnfetched(chat.key, (spans) => splitAt(spans, newestWithin(spans, range) ?? found, before));
    return newestWithin(store.unfetched(chat.key), range);
  }

  #startOf(chat: StoredChat, { to, token }: Span): Pick<BackfillRequest, "token" | "message" | "before"> {
    if (token !== undefined) return { token, before: to };
    const { items } = this.#options.store.messages({
      chats: [chat.key],
      since: to,
      includeSystem: true,
      order: "asc",
      limit: 1,
    });
    const [above] = items;
    if (above?.at === to) return { message: above.id, before: to };
    return to === Number.MAX_SAFE_INTEGER ? {} : { before: to };
  }

  async #request(chat: StoredChat, range: Range): Promise<PageOutcome> {
    const { store, now } = this.#options;
    const key = store.requestPage({ chat: chat.key, ...range }, now());
    const endsAt = performance.now() + this.#limits.ms;
    while (performance.now() < endsAt && !this.#stop.signal.aborted) {
      const outcome = store.pageOutcome(key);
      if (outcome !== undefined) return outcome;
      await delay(POLL_MS);
    }
    return { status: "failed", message: "The chat server that runs the sources did not respond" };
  }

  #serve(served: Set<number>): void {
    const { store, log } = this.#options;
    try {
      const open = store.pageRequests();
      const keys = new Set(open.map(({ key }) => key));
      for (const key of served) if (!keys.has(key)) served.delete(key);
      for (const { key, chat: chatKey, ...range } of open) {
        if (served.has(key)) continue;
        served.add(key);
        void this.#answer(key, chatKey, range).catch((error: unknown) => log(`warning: ${reasonOf(error)}`));
      }
    } catch (error) {
      log(`warning: ${reasonOf(error)}`);
    }
  }

  async #answer(key: number, chatKey: number, range: Range): Promise<void> {
    const { store, sources } = this.#options;
    const chat = store.chatByKey(chatKey);
    const isOurs = chat !== undefined && sources.ids.includes(chat.source);
    store.answerPage(key, isOurs ? await this.#page(chat, range) : { status: "complete" });
  }
}

/** Undoes a split: merges the span that ends here with the one that begins here. */
function joinAt(spans: readonly Span[], at: number): readonly Span[] {
  const [below, above] = [spans.find(({ to }) => to === at), spans.find(({ from }) => from === at)];
  if (below === undefined || above === undefined) return spans;
  return spans.flatMap((span) => {
    if (span === below) return [];
    return [span === above ? { ...above, from: below.from } : span];
  });
}

/** Undefined after a timeout or if the caller has disconnected. */
async function withTimeout<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T | undefined> {
  const timer = new AbortController();
  const over = delay(ms, undefined, { signal: AbortSignal.any([signal, timer.signal]) }).catch(() => undefined);
  try {
    return await Promise.race([work, over]);
  } finally {
    timer.abort();
  }
}

function reasonOf(error: unknown): string {
  return error instanceof ChatError ? error.message : asFailure(error).message;
}
