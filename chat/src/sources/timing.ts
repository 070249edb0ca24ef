// When a lost connection is tried again: after 1, 2, 4 … 60 s. Time and chance are given, so that a test need not wait.

import { setTimeout as delay } from "node:timers/promises";

export interface Timing {
  /** Resolves after this time, or when the signal says so. Never rejects. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
  /** 0 … 1. */
  chance(): number;
}

export const REAL_TIMING: Timing = {
  pause: async (ms, signal) => {
    try {
      await delay(ms, undefined, { signal });
    } catch {
      // The signal; the caller looks at it.
    }
  },
  chance: Math.random,
};

const FIRST_MS = 1000;
export const LONGEST_MS = 60_000;
/** Of the delay, in both directions: clients that were dropped together must not come back together. */
const JITTER = 0.2;

/** The first failure in a row is number 1. */
export function backoffMs(failures: number, chance: number): number {
  const fullMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 30));
  return Math.min(LONGEST_MS, fullMs * (1 - JITTER + 2 * JITTER * chance));
}
