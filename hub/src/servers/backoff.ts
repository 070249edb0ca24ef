// When a server that went down is started again (F20): at once, then after 1, 2, 4 … 60 s. Pure: time and chance are given.

import type { RestartRule } from "./resilience.ts";

/** After so long without a failure, what was before is forgotten. */
export const HEALTHY_MS = 600_000;
const LOOP_CRASHES = 5;
const LOOP_MS = 600_000;
/** Of the delay, in both directions: servers that went down together must not come back together. */
const JITTER = 0.2;

export interface Backoff {
  /** In a row, without ten healthy minutes between them. */
  readonly failures: number;
  /** When it went down, in the last ten minutes. */
  readonly recent: readonly number[];
}

export interface Attempt {
  readonly backoff: Backoff;
  readonly delayMs: number;
  /** It goes down again and again. */
  readonly crashLoop: boolean;
}

export const RESTED: Backoff = { failures: 0, recent: [] };

export interface Down {
  readonly at: number;
  /** When it came up, where it had been up at all. */
  readonly upSince?: number | undefined;
  /** 0 … 1. */
  readonly chance: number;
}

/** It went down, or did not come up. A server that had been up is started again at once the first time. */
export function nextAttempt(previous: Backoff, { at, upSince, chance }: Down, rule: RestartRule): Attempt {
  const isRested = upSince !== undefined && at - upSince >= HEALTHY_MS;
  const { failures, recent } = isRested ? RESTED : previous;
  const steps = upSince === undefined ? failures + 1 : failures;
  const backoff = { failures: failures + 1, recent: [...recent.filter((time) => at - time < LOOP_MS), at] };
  const fullMs = steps === 0 ? 0 : Math.min(rule.maxMs, rule.firstMs * 2 ** Math.min(steps - 1, 30));
  const delayMs = Math.min(rule.maxMs, fullMs * (1 - JITTER + 2 * JITTER * chance));
  return { backoff, delayMs, crashLoop: backoff.recent.length >= LOOP_CRASHES };
}
