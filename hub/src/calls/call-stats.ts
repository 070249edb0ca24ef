// How long the recorded calls of some time took, and how many failed: per server and per tool. Counted one by one, from
// whatever log holds them.

import { BUCKETS, bucketOf, percentilesOf } from "./duration-buckets.ts";
import { isServersOwn, OUTCOMES, type Outcome } from "./outcome.ts";

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
  /** Those that reached the server: ok, tool_error and failed. The percentiles are of their durations. */
  readonly total_calls: number;
  /** Those of them that failed. */
  readonly errors: number;
  /** Those of them whose tool says that it failed: an answer, and no fault of the server. */
  readonly tool_errors: number;
  /** Beside them: calls that their caller gave up. */
  readonly cancelled: number;
  /** Beside them: calls that were turned away before they reached the server. */
  readonly refused: number;
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
  readonly #outcomes: Record<Outcome, number> = { ok: 0, tool_error: 0, failed: 0, cancelled: 0, refused: 0 };

  count(durationUs: number, outcome: Outcome): void {
    this.#outcomes[outcome]++;
    if (!isServersOwn(outcome)) return;
    const bucket = bucketOf(durationUs);
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
  }

  add(other: Tally): void {
    for (const [bucket, count] of other.counts.entries()) this.counts[bucket] = (this.counts[bucket] ?? 0) + count;
    for (const outcome of OUTCOMES) this.#outcomes[outcome] += other.#outcomes[outcome];
  }

  get figures(): CallFigures {
    const { ok, tool_error, failed, cancelled, refused } = this.#outcomes;
    const total_calls = ok + tool_error + failed;
    const [p50_ms = 0, p95_ms = 0, p99_ms = 0] = percentilesOf(this.counts, total_calls, SHARES);
    return { p50_ms, p95_ms, p99_ms, total_calls, errors: failed, tool_errors: tool_error, cancelled, refused };
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
