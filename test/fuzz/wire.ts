// Like fuzz.ts, for targets behind a socket. Many inputs are sent concurrently, in independent lanes; an input depends only on
// the seed and its number.

import { expect } from "vitest";
import { reachableBytes } from "../support/memory.ts";
import { randomFrom, type Random } from "../support/mutator.ts";
import { report, settings } from "./fuzz.ts";

export interface WireTarget {
  readonly name: string;
  readonly quickRuns: number;
  /** For targets whose inputs take long. */
  readonly maxRuns?: number;
  readonly inputs: (random: Random) => { next(): Buffer };
  /** Returns the outcome of one input. An outcome that begins with 5 is an internal error. */
  readonly send: (input: Buffer, random: Random) => Promise<string>;
  /** Outcomes that a full run must see. */
  readonly expected: readonly string[];
  /** Runs before every thousandth input. */
  readonly freshen?: () => Promise<void>;
}

interface Lane {
  run: number;
  input: Buffer;
  since: number;
}

/** Enough concurrency to keep the hub busy. With more, inputs that take many turns, such as edits, would take too long. */
const LANES = 8;
/** An input without an outcome by then is a hang, also on a busy machine. */
const HANG_MS = 60_000;
const MAX_GROWTH_BYTES = 32_000_000;
/** Interval of progress reports of a long run. */
const PROGRESS = 50_000;
/** Consecutive numbers give unrelated inputs. */
const APART = 0x9e3779b1;

/** Returns the expected outcomes that were not seen; a short run need not see them. */
export async function fuzzWire(target: WireTarget): Promise<string[]> {
  const { name, quickRuns, maxRuns = Infinity, inputs, send, expected, freshen } = target;
  const { runs: wanted, seed } = settings(quickRuns);
  const runs = Math.min(wanted, maxRuns);
  let numbers = randomFrom(seed);
  const source = inputs((below) => numbers(below));
  const outcomes = new Map<string, number>();
  const lanes = new Set<Lane>();
  const startedAt = performance.now();
  let next = 0;
  let baseline = 0;
  let slowestMs = 0;
  let failure: Error | undefined;
  const fail = ({ run, input }: Lane, what: string, cause?: unknown) => {
    const text = JSON.stringify(input.toString("latin1"));
    failure ??= new Error(`${name}, seed ${seed}, run ${run}: ${what} for ${text}`, { cause });
    return failure;
  };

  const tell = (count: number, growth = 0) =>
    report(name, { runs: count, seed, seconds: (performance.now() - startedAt) / 1000, slowestMs, growth, outcomes });

  const work = async () => {
    const lane: Lane = { run: 0, input: Buffer.alloc(0), since: performance.now() };
    lanes.add(lane);
    while (next < runs) {
      // Another lane has failed: the run is over.
      if (failure !== undefined) break;
      lane.run = next++;
      const done = lane.run;
      if (done === Math.floor(runs / 2)) baseline = reachableBytes();
      lane.since = performance.now();
      if (done % 1000 === 0) await freshen?.();
      if (done > 0 && done % PROGRESS === 0) tell(done);
      const random = randomFrom(seed + Math.imul(lane.run, APART));
      numbers = random;
      lane.input = source.next();
      const outcome = await send(lane.input, random).catch((error: unknown) => {
        throw fail(lane, "an error", error);
      });
      slowestMs = Math.max(slowestMs, performance.now() - lane.since);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (outcome.startsWith("5")) throw fail(lane, outcome);
    }
    lanes.delete(lane);
  };

  await new Promise<void>((resolve, reject) => {
    const watch = setInterval(() => {
      const longAgo = performance.now() - HANG_MS;
      for (const lane of lanes) if (lane.since < longAgo) reject(fail(lane, "no end"));
    }, 1000);
    void Promise.all(Array.from({ length: LANES }, work))
      .then(() => resolve(), reject)
      .finally(() => clearInterval(watch));
  });
  const growth = reachableBytes() - baseline;
  tell(runs, growth);
  expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
  return runs < quickRuns ? [] : expected.filter((outcome) => !outcomes.has(outcome));
}
