// Restart delays (F20): at once, then after 1, 2, 4 … 60 s. Pure: time and randomness are passed in.

import type { RestartRule } from "./resilience.ts";

/** After so long without a failure, earlier failures no longer count. */
export const HEALTHY_MS = 600_000;
const LOOP_CRASHES = 5;
const LOOP_MS = 600_000;
/** Part of the delay, in both directions, so that servers that failed together are not restarted together. */
const JITTER = 0.2;

export interface Backoff {
  /** In a row, without ten healthy minutes between them. */
  readonly failures: number;
  /** Times of the failures of the last ten minutes. */
  readonly recent: readonly number[];
}

export interface Attempt {
  readonly backoff: Backoff;
  readonly delayMs: number;
  /** It has failed five times in ten minutes. */
  readonly crashLoop: boolean;
}

export const NO_FAILURES: Backoff = { failures: 0, recent: [] };

export interface Down {
  readonly at: number;
  /** When it started. Undefined if it did not. */
  readonly upSince?: number | undefined;
  /** 0 … 1. */
  readonly chance: number;
}

/** After a failure or a failed start. A server that was running is restarted at once the first time. */
export function nextAttempt(previous: Backoff, { at, upSince, chance }: Down, rule: RestartRule): Attempt {
  const isRested = upSince !== undefined && at - upSince >= HEALTHY_MS;
  const { failures, recent } = isRested ? NO_FAILURES : previous;
  const steps = upSince === undefined ? failures + 1 : failures;
  const backoff = { failures: failures + 1, recent: [...recent.filter((time) => at - time < LOOP_MS), at] };
  const fullMs = steps === 0 ? 0 : Math.min(rule.maxMs, rule.firstMs * 2 ** Math.min(steps - 1, 30));
  const delayMs = Math.min(rule.maxMs, fullMs * (1 - JITTER + 2 * JITTER * chance));
  return { backoff, delayMs, crashLoop: backoff.recent.length >= LOOP_CRASHES };
}
