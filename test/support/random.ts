// Repeatable random decisions: a test that fails prints its seed, and TEST_SEED repeats them.

import { testSeed } from "./scale.ts";

/** Runs a test with random numbers from 0 to 1, without 1. */
export async function withSeed(test: (random: () => number, seed: number) => Promise<void>): Promise<void> {
  const seed = testSeed();
  try {
    await test(seededRandom(seed), seed);
  } catch (error) {
    if (error instanceof Error) error.message = `TEST_SEED=${seed}: ${error.message}`;
    throw error;
  }
}

/** mulberry32 */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
