// The call log in memory: for tests, and for hubs that store nothing on disk.

import {
  captureEnd,
  captureStart,
  joinCall,
  readEnd,
  readStart,
  sizeBytes,
  sizesOf,
  toCallRow,
  toSummary,
} from "./call-record.ts";
import type { CaptureOptions, StoredCall } from "./call-record.ts";
import { isServersOwn } from "./outcome.ts";
import type { CallCount, CallLog, CallNeighbours, CallPage, CallQuery, CallStart, CallSummaryPage } from "./port.ts";
import type { CallLogUsage, OpenCall, Retention } from "./port.ts";
import { containsText, matcher, parseBounds, toCursor } from "./query.ts";
import { SeriesBuilder, stepsOf, type CallSeries, type SeriesQuery } from "./series.ts";
import { CallStats, roundDuration, type CallStatsQuery, type ServerStats } from "./stats.ts";

const DEFAULT_RETENTION: Retention = { maxAgeMs: 30 * 24 * 3_600_000, maxBytes: 32 * 1024 * 1024, maxRows: 10_000 };

interface Entry {
  readonly id: number;
  readonly call: StoredCall;
}

export class MemoryCallLog implements CallLog {
  readonly degraded = undefined;
  readonly lost = 0;
  readonly #capture: CaptureOptions;
  #retention: Retention;
  /** Oldest first. */
  #entries: Entry[] = [];
  #bytes = 0;
  #lastId = 0;

  constructor({ retention, ...capture }: CaptureOptions & { retention?: Partial<Retention> }) {
    this.#capture = capture;
    this.#retention = { ...DEFAULT_RETENTION, ...retention };
  }

  begin(call: CallStart): OpenCall {
    const start = captureStart(call, this.#capture);
    const params = start.payload?.toString() ?? null;
    return {
      finish: (end) => {
        const { head, payload } = captureEnd(end, call.server, this.#capture);
        this.#add(joinCall(readStart(start.head), readEnd(head), { params, result: payload?.toString() ?? null }));
        return undefined;
      },
    };
  }

  recover(): void {
    // Nothing outlives the process.
  }

  async query(query: CallQuery): Promise<CallPage> {
    const { entries, next_cursor } = this.#page(query);
    return { items: entries.map(({ id, call }) => toCallRow(id, call)), next_cursor };
  }

  async summaries(query: CallQuery): Promise<CallSummaryPage> {
    const { entries, next_cursor } = this.#page(query);
    return { items: entries.map(({ id, call }) => toSummary(id, call, sizesOf(call))), next_cursor };
  }

  async count(query: CallQuery): Promise<CallCount> {
    const matches = matchesAll(query);
    return { total: this.#entries.filter(({ call }) => matches(call)).length, exact: true };
  }

  async neighbours(id: number): Promise<CallNeighbours | undefined> {
    const session = this.#entries.find((entry) => entry.id === id)?.call.session;
    if (session === undefined) return undefined;
    const own = session === null ? [] : this.#entries.filter(({ call }) => call.session === session);
    return {
      previous: own.findLast((entry) => entry.id < id)?.id ?? null,
      next: own.find((entry) => entry.id > id)?.id ?? null,
    };
  }

  async series(query: SeriesQuery): Promise<CallSeries> {
    const { since, until, buckets, by, server, tool, client, group } = query;
    const matches = matcher({ since, until, server, tool, client, group });
    const steps = stepsOf(query);
    const builder = new SeriesBuilder(buckets);
    for (const { call } of this.#entries) {
      const bucket = matches(call) ? steps.findIndex(({ from, to }) => call.at >= from && call.at < to) : -1;
      if (bucket === -1 || !isServersOwn(call.outcome)) continue;
      const key = by === "none" ? null : call[by];
      builder.count(key, bucket, call.outcome, 1);
      builder.duration(key, bucket, call.durationUs);
    }
    return { step_ms: (until - since) / buckets, series: builder.series };
  }

  async deleteBefore(at: number): Promise<number> {
    const before = this.#entries.length;
    this.#entries = this.#entries.filter(({ call }) => call.at >= at);
    this.#bytes = this.#entries.reduce((sum, { call }) => sum + sizeBytes(call), 0);
    return before - this.#entries.length;
  }

  #page(query: CallQuery): { readonly entries: Entry[]; readonly next_cursor: string | null } {
    const { limit, below, above } = parseBounds(query);
    const matches = matchesAll(query);
    const entries: Entry[] = [];
    for (const entry of this.#entries.toReversed()) {
      if (entry.id >= below || entry.id <= above || !matches(entry.call)) continue;
      const last = entries.at(-1);
      if (last !== undefined && entries.length === limit) return { entries, next_cursor: toCursor(last.id) };
      entries.push(entry);
    }
    return { entries, next_cursor: null };
  }

  async stats(query: CallStatsQuery): Promise<ServerStats[]> {
    const matches = matcher(query);
    const stats = new CallStats();
    for (const { call } of this.#entries) {
      if (matches(call)) stats.add(call.server, call.tool, call.outcome, roundDuration(call.durationUs));
    }
    return stats.servers;
  }

  async usage(): Promise<CallLogUsage> {
    return { bytes: this.#bytes, oldestAt: this.#entries[0]?.call.at };
  }

  get retention(): Retention {
    return this.#retention;
  }

  retain(retention: Partial<Retention>): void {
    this.#retention = { ...DEFAULT_RETENTION, ...retention };
    void this.prune();
  }

  async prune(now = Date.now()): Promise<number> {
    const before = this.#entries.length;
    const oldest = now - this.#retention.maxAgeMs;
    this.#entries = this.#entries.slice(this.#excess()).filter(({ call }) => call.at >= oldest);
    this.#bytes = this.#entries.reduce((sum, { call }) => sum + sizeBytes(call), 0);
    return before - this.#entries.length;
  }

  async close(): Promise<void> {
    this.#entries = [];
  }

  #add(call: StoredCall): void {
    this.#entries.push({ id: ++this.#lastId, call });
    this.#bytes += sizeBytes(call);
    // In bulk: removing one by one would move all the others each time.
    if (this.#excess() > this.#retention.maxRows / 8) void this.prune(call.at);
  }

  /** The number of oldest calls beyond the retention. */
  #excess(): number {
    let excess = Math.max(0, this.#entries.length - this.#retention.maxRows);
    let bytes = this.#bytes;
    for (const { call } of this.#entries) {
      if (bytes <= this.#retention.maxBytes) break;
      bytes -= sizeBytes(call);
      excess++;
    }
    return excess;
  }
}

function matchesAll(query: CallQuery): (call: StoredCall) => boolean {
  const matches = matcher(query);
  const { text } = query;
  return text === undefined ? matches : (call) => matches(call) && containsText(call, text);
}
