// The call log in memory: for tests, and for a hub that keeps nothing on the disk. The same rules as in the file, and a
// bound on what it takes.

import { parseBounds, toCursor } from "../calls/call-query.ts";
import { CallStats, type CallStatsQuery, type ServerStats } from "../calls/call-stats.ts";
import type { CallLog, CallPage, CallQuery, CallRow, CallStart, OpenCall } from "../calls/log.ts";
import { joined, sizeBytes, toCallRow, toStoredEnd, toStoredStart } from "../calls/stored-call.ts";
import type { Keeping, StoredCall } from "../calls/stored-call.ts";
import type { Retention } from "./retention.ts";

const DEFAULT_RETENTION: Retention = { maxAgeMs: 30 * 24 * 3_600_000, maxBytes: 32 * 1024 * 1024, maxRows: 10_000 };

interface KeptCall {
  readonly id: number;
  readonly call: StoredCall;
}

export class MemoryCallLog implements CallLog {
  readonly degraded = undefined;
  readonly lost = 0;
  readonly #keeping: Keeping;
  readonly #retention: Retention;
  /** Oldest first. */
  #calls: KeptCall[] = [];
  #bytes = 0;
  #lastId = 0;

  constructor({ retention, ...keeping }: Keeping & { retention?: Partial<Retention> }) {
    this.#keeping = keeping;
    this.#retention = { ...DEFAULT_RETENTION, ...retention };
  }

  begin(call: CallStart): OpenCall {
    const start = toStoredStart(call, this.#keeping);
    return {
      finish: (end) => this.#add(copyOf(joined(start, toStoredEnd(end, call.server, this.#keeping)))),
    };
  }

  recover(): void {
    // Nothing of it outlives the process.
  }

  #add(call: StoredCall): undefined {
    this.#calls.push({ id: ++this.#lastId, call });
    this.#bytes += sizeBytes(call);
    // Removing one by one would move all the others each time.
    if (this.#excess() > this.#retention.maxRows / 8) void this.prune(call.at);
  }

  async query(query: CallQuery): Promise<CallPage> {
    const { limit, below, above } = parseBounds(query);
    const items: CallRow[] = [];
    for (const { id, call } of this.#calls.toReversed()) {
      if (id >= below || id <= above || !matches(call, query)) continue;
      const last = items.at(-1);
      if (last !== undefined && items.length === limit) return { items, next_cursor: toCursor(last.id) };
      items.push(toCallRow(id, call));
    }
    return { items, next_cursor: null };
  }

  async stats({ server, since }: CallStatsQuery): Promise<ServerStats[]> {
    const stats = new CallStats();
    for (const { call } of this.#calls) {
      if (matches(call, { server, since })) stats.tallyOf(call.server, call.tool).count(call.durationUs, call.outcome);
    }
    return stats.servers;
  }

  async prune(now = Date.now()): Promise<number> {
    const before = this.#calls.length;
    const oldest = now - this.#retention.maxAgeMs;
    this.#calls = this.#calls.slice(this.#excess()).filter(({ call }) => call.at >= oldest);
    this.#bytes = this.#calls.reduce((sum, { call }) => sum + sizeBytes(call), 0);
    return before - this.#calls.length;
  }

  async close(): Promise<void> {
    this.#calls = [];
  }

  /** How many of the oldest calls are too many. */
  #excess(): number {
    let excess = Math.max(0, this.#calls.length - this.#retention.maxRows);
    let bytes = this.#bytes;
    for (const { call } of this.#calls) {
      if (bytes <= this.#retention.maxBytes) break;
      bytes -= sizeBytes(call);
      excess++;
    }
    return excess;
  }
}

/** With bytes of its own: those given may be a small part of a large message, which would be kept as a whole. */
function copyOf(call: StoredCall): StoredCall {
  return {
    ...call,
    params: call.params && Uint8Array.from(call.params),
    result: call.result && Uint8Array.from(call.result),
  };
}

function matches(call: StoredCall, query: CallQuery): boolean {
  return (
    isWanted(call.server, query.server) &&
    isWanted(call.tool, query.tool) &&
    isWanted(call.group, query.group) &&
    isWanted(call.client, query.client) &&
    isWanted(call.workflowId, query.workflowId) &&
    isWanted(call.outcome, query.outcome) &&
    isWanted(call.outcome === "ok", query.success) &&
    call.at >= (query.since ?? -Infinity) &&
    call.at < (query.until ?? Infinity) &&
    call.durationUs > (query.slowerThanMs ?? -1) * 1000
  );
}

function isWanted(value: unknown, filter: unknown): boolean {
  return filter === undefined || value === filter;
}
