// Runs one target over many mutated inputs: a few thousand in `npm test`, a million in the long lane. It fails on an unexpected
// throw, a hang, or memory that is not released.

import { expect } from "vitest";
import { reachableBytes } from "../support/memory.ts";
import { Mutator, randomFrom, type Random } from "../support/mutator.ts";
import { scaled, testSeed } from "../support/scale.ts";

export interface Target {
  readonly name: string;
  /** Valid examples. */
  readonly corpus: readonly (string | Buffer)[];
  readonly quickRuns: number;
  /** Throws if a property does not hold. The returned outcomes are counted: a target must see every kind. */
  readonly check: (input: Buffer, random: Random) => string;
}

/** A fast machine needs a millisecond for an input. The bound allows slow machines but not a quadratic parser. */
const HANG_MS = 5000;
const MAX_GROWTH_BYTES = 16_000_000;
/** The timeout of a long run. */
export const FUZZ_MS = 3_600_000;

/** The outcomes, with their counts. */
export function fuzz({ name, corpus, quickRuns, check }: Target): Map<string, number> {
  const { runs, seed } = settings(quickRuns);
  const random = randomFrom(seed);
  const mutator = new Mutator(corpus, random);
  const outcomes = new Map<string, number>();
  const startedAt = performance.now();
  let slowestMs = 0;
  let baseline = 0;
  for (let run = 0; run < runs; run++) {
    // Caches are filled and code is compiled by then.
    if (run === Math.floor(runs / 4)) baseline = reachableBytes();
    const input = mutator.next();
    const from = performance.now();
    let outcome: string;
    try {
      outcome = check(input, random);
    } catch (error) {
      throw new Error(`${name}, seed ${seed}, run ${run}: ${JSON.stringify(input.toString("latin1"))}`, {
        cause: error,
      });
    }
    slowestMs = Math.max(slowestMs, performance.now() - from);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const growth = reachableBytes() - baseline;
  report(name, { runs, seed, seconds, slowestMs, growth, outcomes });
  expect(slowestMs).toBeLessThan(HANG_MS);
  expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
  return outcomes;
}

export function settings(quickRuns: number): { runs: number; seed: number } {
  return { runs: scaled(quickRuns, 1_000_000), seed: testSeed(20261116) };
}

interface Report {
  readonly runs: number;
  readonly seed: number;
  readonly seconds: number;
  readonly slowestMs: number;
  readonly growth: number;
  readonly outcomes: ReadonlyMap<string, number>;
}

export function report(name: string, { runs, seed, seconds, slowestMs, growth, outcomes }: Report): void {
  const kinds = [...outcomes].map(([outcome, count]) => `${outcome} ${count}`).join(", ");
  const figures = `${runs} inputs in ${seconds.toFixed(1)} s, slowest ${slowestMs.toFixed(1)} ms, memory ${(growth / 1e6).toFixed(1)} MB`;
  process.stderr.write(`fuzz ${name}: seed ${seed}, ${figures}; ${kinds}\n`);
}
