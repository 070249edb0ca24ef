// Statistics of recorded calls, per server and per tool: counts by outcome, and percentiles of the durations.

import { isServersOwn, OUTCOMES, type Outcome } from "./outcome.ts";

const SHARES = [0.5, 0.95, 0.99] as const;
const MAX_TOOLS = 2000;
/** Stands for the tools beyond MAX_TOOLS. */
const OTHER = "_other";
/** Durations of up to three digits are exact; longer ones are rounded to three digits. */
const EXACT = 1000;

/** `since` is inclusive, in milliseconds since the epoch. */
export interface CallStatsQuery {
  readonly server?: string | undefined;
  readonly since?: number | undefined;
}

export interface CallFigures {
  /** Percentiles of the calls that reached the server, within 0.5 %. */
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly p99_ms: number;
  /** Calls that reached the server: ok, tool_error and failed. */
  readonly total_calls: number;
  readonly errors: number;
  /** Calls whose tool reported a failure. */
  readonly tool_errors: number;
  /** Not part of total_calls. */
  readonly cancelled: number;
  /** Not part of total_calls. */
  readonly refused: number;
}

export interface ToolStats extends CallFigures {
  readonly tool_name: string;
}

export interface ServerStats extends CallFigures {
  readonly server_name: string;
  readonly tools: ToolStats[];
}

/** Three significant digits, and the middle of the values that share them. */
export function roundDuration(us: number): number {
  let step = 1;
  while (us >= EXACT * step) step *= 10;
  return step === 1 ? us : Math.floor(us / step) * step + step / 2;
}

export class CallStats {
  readonly #servers = new Map<string, Map<string, Tally>>();
  #toolCount = 0;

  /** Adds `count` calls of the same rounded duration. */
  add(server: string, tool: string, outcome: Outcome, roundedUs: number, count = 1): void {
    this.#tallyOf(server, tool).add(outcome, roundedUs, count);
  }

  /** By name. */
  get servers(): ServerStats[] {
    return [...this.#servers].toSorted(byName).map(([server_name, tallies]) => {
      const total = new Tally();
      const tools = [...tallies].toSorted(byName).map(([tool_name, tally]) => {
        total.merge(tally);
        return { tool_name, ...tally.figures };
      });
      return { server_name, ...total.figures, tools };
    });
  }

  #tallyOf(server: string, tool: string): Tally {
    const known = this.#servers.get(server)?.get(tool);
    if (known !== undefined) return known;
    if (this.#toolCount >= MAX_TOOLS && server !== OTHER) return this.#tallyOf(OTHER, OTHER);
    const tools = this.#servers.get(server) ?? new Map<string, Tally>();
    const tally = new Tally();
    this.#servers.set(server, tools.set(tool, tally));
    this.#toolCount++;
    return tally;
  }
}

class Tally {
  readonly #outcomes: Record<Outcome, number> = { ok: 0, tool_error: 0, failed: 0, cancelled: 0, refused: 0 };
  /** Number of calls by rounded duration. */
  readonly #durations = new Map<number, number>();

  add(outcome: Outcome, roundedUs: number, count: number): void {
    this.#outcomes[outcome] += count;
    if (isServersOwn(outcome)) this.#durations.set(roundedUs, (this.#durations.get(roundedUs) ?? 0) + count);
  }

  merge(other: Tally): void {
    for (const outcome of OUTCOMES) this.#outcomes[outcome] += other.#outcomes[outcome];
    for (const [us, count] of other.#durations) this.#durations.set(us, (this.#durations.get(us) ?? 0) + count);
  }

  get figures(): CallFigures {
    const { ok, tool_error, failed, cancelled, refused } = this.#outcomes;
    const total_calls = ok + tool_error + failed;
    const [p50_ms = 0, p95_ms = 0, p99_ms = 0] = this.#percentiles(total_calls);
    return { p50_ms, p95_ms, p99_ms, total_calls, errors: failed, tool_errors: tool_error, cancelled, refused };
  }

  #percentiles(total: number): number[] {
    const durations = [...this.#durations].toSorted(([a], [b]) => a - b);
    let index = -1;
    let seen = 0;
    return SHARES.map((share) => {
      const rank = Math.ceil(share * total);
      while (seen < rank) seen += durations[++index]?.[1] ?? Infinity;
      return (durations[index]?.[0] ?? 0) / 1000;
    });
  }
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : Number(a > b);
}
