// Exponential backoff of reconnects: 1, 2, 4 … 60 s with jitter. Time and randomness are injected for tests.

import { setTimeout as delay } from "node:timers/promises";

export interface Timing {
  /** Resolves after the delay or when the signal aborts. Never rejects. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
  /** 0 … 1. */
  random(): number;
}

export const REAL_TIMING: Timing = {
  pause: async (ms, signal) => {
    try {
      await delay(ms, undefined, { signal });
    } catch {
      // Aborted; the caller checks the signal.
    }
  },
  random: Math.random,
};

const FIRST_DELAY_MS = 1000;
export const MAX_DELAY_MS = 60_000;
/** ± share of the delay, so that clients dropped together do not reconnect together. */
const JITTER = 0.2;

/** `failures` counts consecutive failures, from 1. */
export function backoffMs(failures: number, chance: number): number {
  const fullMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 30));
  return Math.min(MAX_DELAY_MS, fullMs * (1 - JITTER + 2 * JITTER * chance));
}
