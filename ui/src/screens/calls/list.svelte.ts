// The rows of the Calls page: pages of the call log, and the calls that end while the page is open.

import type { CallCount, CallSummary, CallSummaryPage } from "$api/call.ts";
import { api, Problem } from "../../lib/hub/api.ts";
import { dropFar, noPages, rowCount, wantedPages, withNewer, withPage, type Pages } from "../../lib/calls/pages.ts";
import { MAX_CALLS_PER_SECOND, RateMeter } from "../../lib/calls/rate.ts";

const PAGE = 200;
/** Ended calls are read together: at most so often. */
const LIVE_MS = 400;
/** So many new rows are kept before the first page; then it is read again. */
const MAX_NEWER = 1_000;

export class CallList {
  rows: Pages<CallSummary> = $state.raw(noPages());
  /** Calls that ended while the reader looks at something else, newest first. */
  waiting: readonly CallSummary[] = $state.raw([]);
  /** There are more new calls than `waiting` has. */
  hasMore = $state(false);
  /** How many new calls are known; with `hasMore` there are more. */
  newCount = $state(0);
  /** Calls of the last ten seconds, while there are too many to follow. */
  storm: number | undefined = $state();
  problem: Problem | undefined = $state.raw();
  isReading = $state(false);
  /** The first rows were read, or could not be. */
  isStarted = $state(false);
  total: CallCount | undefined = $state.raw();
  failed: CallCount | undefined = $state.raw();

  readonly #meter = new RateMeter();
  readonly #mayFollow: () => boolean;
  #params = new URLSearchParams();
  #abort = new AbortController();
  #reading = new Set<string | undefined>();
  #newest = 0;
  #isLive = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #visible = { first: 0, last: 50 };

  /** `mayFollow`: new rows may be put into the list, because the reader looks at its beginning. */
  constructor(mayFollow: () => boolean) {
    this.#mayFollow = mayFollow;
  }

  readonly count = $derived(rowCount(this.rows));

  /** Shows the calls of another filter. */
  open(params: URLSearchParams, live: boolean): void {
    this.close();
    this.#abort = new AbortController();
    this.#params = params;
    this.#isLive = live;
    this.#reading = new Set();
    this.#newest = 0;
    this.rows = noPages();
    this.waiting = [];
    this.hasMore = false;
    this.newCount = 0;
    this.isStarted = false;
    this.total = undefined;
    this.failed = undefined;
    this.problem = undefined;
    this.#visible = { first: 0, last: 50 };
    void this.#start();
  }

  /** The rows come first: counting visits every call, and the hub does one after the other. */
  async #start(): Promise<void> {
    const { signal } = this.#abort;
    await this.#fill();
    if (signal.aborted) return;
    this.isStarted = true;
    await this.#countAll();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#abort.abort();
  }

  retry(): void {
    this.open(this.#params, this.#isLive);
  }

  /** Says which rows are on the screen. */
  show(first: number, last: number): void {
    this.#visible = { first, last };
    void this.#fill();
  }

  /** A call has ended, somewhere. */
  ended(): void {
    const now = Date.now();
    this.#meter.add(now);
    if (this.#isLive) this.#schedule();
  }

  /** Puts the waiting calls into the list. */
  showWaiting(): void {
    if (this.hasMore) {
      void this.#readAgain();
      return;
    }
    this.rows = withNewer(this.rows, this.waiting);
    this.waiting = [];
    this.newCount = 0;
  }

  async #fill(): Promise<void> {
    const { first, last } = this.#visible;
    const wanted = wantedPages(this.rows, first, last).filter((cursor) => !this.#reading.has(cursor));
    await Promise.all(wanted.map((cursor) => this.#readPage(cursor)));
  }

  async #readPage(cursor: string | undefined): Promise<void> {
    const { signal } = this.#abort;
    this.#reading.add(cursor);
    this.isReading = true;
    try {
      const { items, next_cursor: next } = await this.#get(cursor === undefined ? {} : { cursor }, signal);
      if (signal.aborted) return;
      if (cursor === undefined) this.#newest = Math.max(this.#newest, items[0]?.id ?? 0);
      const { first, last } = this.#visible;
      this.rows = dropFar(withPage(this.rows, cursor, items, next), first, last);
      this.problem = undefined;
    } catch (error) {
      this.#failed(error, signal);
    } finally {
      if (!signal.aborted) {
        this.#reading.delete(cursor);
        this.isReading = this.#reading.size > 0;
      }
    }
  }

  async #countAll(): Promise<void> {
    const { signal } = this.#abort;
    const count = (params: URLSearchParams): Promise<CallCount> =>
      api.get<CallCount>(`/calls/count?${params}`, { signal });
    try {
      const total = await count(this.#params);
      if (signal.aborted) return;
      this.total = total;
      if (this.#params.has("success") || this.#params.has("outcome")) return;
      const failed = await count(new URLSearchParams([...this.#params, ["success", "false"]]));
      if (!signal.aborted) this.failed = failed;
    } catch (error) {
      this.#failed(error, signal);
    }
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const now = Date.now();
      const isStorm = this.#meter.perSecond(now) > MAX_CALLS_PER_SECOND;
      this.storm = isStorm ? this.#meter.recent(now) : undefined;
      // Asked again even without events, so that the end of a storm is seen.
      if (isStorm) this.#schedule();
      else void this.#readNewer();
    }, LIVE_MS);
  }

  async #readNewer(): Promise<void> {
    const { signal } = this.#abort;
    if (this.rows.pages.length === 0) return;
    try {
      const { items: read, next_cursor: next } = await this.#get({ after: String(this.#newest) }, signal);
      // A slow reading may overlap with the next one.
      const items = read.filter(({ id }) => id > this.#newest);
      if (signal.aborted || items.length === 0) return;
      this.#newest = Math.max(this.#newest, items[0]?.id ?? 0);
      this.#addToTotals(items);
      if (this.#mayFollow() && this.waiting.length === 0) {
        const isLong = next !== null || this.rows.head.length + items.length > MAX_NEWER;
        if (isLong) await this.#readAgain();
        else this.rows = withNewer(this.rows, items);
        return;
      }
      this.newCount += items.length;
      this.hasMore ||= next !== null || this.waiting.length + items.length > MAX_NEWER;
      if (!this.hasMore) this.waiting = [...items, ...this.waiting];
    } catch (error) {
      this.#failed(error, signal);
    }
  }

  /** Replaces all rows by the first page as it is now. */
  async #readAgain(): Promise<void> {
    const { signal } = this.#abort;
    try {
      const { items, next_cursor: next } = await this.#get({}, signal);
      if (signal.aborted) return;
      this.#newest = Math.max(this.#newest, items[0]?.id ?? 0);
      this.#reading = new Set();
      this.rows = withPage(noPages<CallSummary>(), undefined, items, next);
      this.waiting = [];
      this.hasMore = false;
      this.newCount = 0;
    } catch (error) {
      this.#failed(error, signal);
    }
  }

  #addToTotals(items: readonly CallSummary[]): void {
    const failed = items.filter((call) => !call.success).length;
    if (this.total !== undefined) this.total = { ...this.total, total: this.total.total + items.length };
    if (this.failed !== undefined) this.failed = { ...this.failed, total: this.failed.total + failed };
  }

  #get(more: Readonly<Record<string, string>>, signal: AbortSignal): Promise<CallSummaryPage> {
    const params = new URLSearchParams(this.#params);
    params.set("fields", "summary");
    params.set("limit", String(PAGE));
    for (const [name, value] of Object.entries(more)) params.set(name, value);
    return api.get<CallSummaryPage>(`/calls?${params}`, { signal });
  }

  #failed(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    if (!(error instanceof Problem)) throw error;
    this.problem = error;
  }
}
