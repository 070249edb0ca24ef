// Runs one target over many broken inputs. FUZZ_RUNS says how many (the quick run has a few thousand each), FUZZ_SEED which;
// FUZZ_FIRST, over sockets, with which number to begin: one that failed can be sent alone.
// What must not happen: a throw that is no answer, a hang, memory that is not given back.

import { expect } from "vitest";
import { reachableBytes } from "../support/memory.ts";
import { Mutator, randomFrom, type Random } from "../support/mutator.ts";

export interface Target {
  readonly name: string;
  /** Valid examples. */
  readonly corpus: readonly (string | Buffer)[];
  readonly quickRuns: number;
  /** Throws where a property does not hold. What it returns is counted: a target must see every kind of outcome. */
  readonly check: (input: Buffer, random: Random) => string;
}

/** What a good machine does in a millisecond. Slow machines are not punished, a quadratic parser is. */
const HANG_MS = 5000;
const MAX_GROWTH_BYTES = 16_000_000;
/** Of a long run. */
export const FUZZ_MS = 3_600_000;

/** The outcomes that were seen, and how often. */
export function fuzz({ name, corpus, quickRuns, check }: Target): Map<string, number> {
  const { runs, seed } = settings(quickRuns);
  const random = randomFrom(seed);
  const mutator = new Mutator(corpus, random);
  const outcomes = new Map<string, number>();
  const startedAt = performance.now();
  let slowestMs = 0;
  let baseline = 0;
  for (let run = 0; run < runs; run++) {
    // Caches and compiled code are there by then.
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

export function settings(quickRuns: number): { runs: number; seed: number; first: number } {
  const { FUZZ_RUNS, FUZZ_SEED, FUZZ_FIRST } = process.env;
  return { runs: Number(FUZZ_RUNS ?? quickRuns), seed: Number(FUZZ_SEED ?? 20261116), first: Number(FUZZ_FIRST ?? 0) };
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
