// How long the recorded calls of some time took, and how many failed: per server and per tool. Counted one by one, from
// whatever log holds them.

import { BUCKETS, bucketOf, percentilesOf } from "./duration-buckets.ts";

const SHARES = [0.5, 0.95, 0.99] as const;
const MAX_TOOLS = 2000;
/** Stands for all that is beyond the bound. */
const OTHER = "_other";

/** `since` is inclusive, in milliseconds since the epoch. */
export interface CallStatsQuery {
  readonly server?: string | undefined;
  readonly since?: number | undefined;
}

export interface CallFigures {
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly p99_ms: number;
  readonly total_calls: number;
  /** Those of them that failed. */
  readonly errors: number;
}

export interface ToolStats extends CallFigures {
  readonly tool_name: string;
}

export interface ServerStats extends CallFigures {
  readonly server_name: string;
  readonly tools: ToolStats[];
}

/** The calls of one tool. */
export class Tally {
  readonly counts = new Uint32Array(BUCKETS);
  total = 0;
  errors = 0;

  count(durationUs: number, ok: boolean): void {
    const bucket = bucketOf(durationUs);
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.total++;
    if (!ok) this.errors++;
  }

  add({ counts, total, errors }: Tally): void {
    for (const [bucket, count] of counts.entries()) this.counts[bucket] = (this.counts[bucket] ?? 0) + count;
    this.total += total;
    this.errors += errors;
  }

  get figures(): CallFigures {
    const [p50_ms = 0, p95_ms = 0, p99_ms = 0] = percentilesOf(this.counts, this.total, SHARES);
    return { p50_ms, p95_ms, p99_ms, total_calls: this.total, errors: this.errors };
  }
}

export class CallStats {
  readonly #servers = new Map<string, Map<string, Tally>>();
  #toolCount = 0;

  tallyOf(server: string, tool: string): Tally {
    const known = this.#servers.get(server)?.get(tool);
    if (known !== undefined) return known;
    if (this.#toolCount >= MAX_TOOLS && server !== OTHER) return this.tallyOf(OTHER, OTHER);
    const tools = this.#servers.get(server) ?? new Map<string, Tally>();
    const tally = new Tally();
    this.#servers.set(server, tools.set(tool, tally));
    this.#toolCount++;
    return tally;
  }

  /** By name. Who was not called is not there. */
  get servers(): ServerStats[] {
    return [...this.#servers].toSorted(byName).map(([server_name, tallies]) => {
      const all = new Tally();
      const tools = [...tallies].toSorted(byName).map(([tool_name, tally]) => {
        all.add(tally);
        return { tool_name, ...tally.figures };
      });
      return { server_name, ...all.figures, tools };
    });
  }
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : Number(a > b);
}
