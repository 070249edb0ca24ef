// The figures of the last 24 hours by server, for lists of servers. They come from the call log, which may be large or busy, so a list
// neither waits long for them nor asks for them more often than they are cheap.

import { setTimeout as sleep } from "node:timers/promises";
import type { ServerStats } from "../../call-log/stats.ts";
import type { Server } from "../schemas/server.ts";
import type { Records } from "./core.ts";

const DAY_MS = 24 * 3_600_000;
const MAX_WAIT_MS = 1000;
const MAX_AGE_MS = 60_000;
/** Figures are read again after this many times as long as reading them took. */
const PAUSE_FACTOR = 10;

export type Figures24h = Server["calls_24h"];

export class RecentCalls {
  readonly #callLog: Records["callLog"];
  /** The number of calls since the start of the hub: if it has not changed, old figures are still right. */
  readonly #countCalls: () => number;
  #figures: ReadonlyMap<string, Figures24h> = new Map();
  #readAt = Number.NEGATIVE_INFINITY;
  #readTookMs = 0;
  #readCount = -1;
  #reading: Promise<void> | undefined;

  constructor(callLog: Records["callLog"], countCalls: () => number) {
    this.#callLog = callLog;
    this.#countCalls = countCalls;
  }

  /** By name of the server. Never fails: figures that cannot be read in time are old or absent. */
  async byServer(): Promise<ReadonlyMap<string, Figures24h>> {
    if (this.#isFresh || this.#callLog.degraded !== undefined) return this.#figures;
    this.#reading ??= this.#read()
      .catch(() => undefined) // reported as degraded
      .finally(() => {
        this.#reading = undefined;
      });
    const timeout = new AbortController();
    const limit = sleep(MAX_WAIT_MS, undefined, { signal: timeout.signal }).catch(() => undefined); // read in time
    await Promise.race([this.#reading, limit]);
    timeout.abort();
    return this.#figures;
  }

  get #isFresh(): boolean {
    const ageMs = performance.now() - this.#readAt;
    if (ageMs >= MAX_AGE_MS) return false;
    return this.#countCalls() === this.#readCount || ageMs < this.#readTookMs * PAUSE_FACTOR;
  }

  async #read(): Promise<void> {
    const startedAt = performance.now();
    const count = this.#countCalls();
    const stats = await this.#callLog.stats({ since: Date.now() - DAY_MS });
    this.#figures = new Map(stats.map((each) => [each.server_name, toFigures(each)]));
    this.#readCount = count;
    this.#readAt = performance.now();
    this.#readTookMs = this.#readAt - startedAt;
  }
}

function toFigures({ total_calls: total, errors, tool_errors, p50_ms, p95_ms }: ServerStats): Figures24h {
  return total === 0 ? null : { total, errors, tool_errors, p50_ms, p95_ms };
}
