// Like fuzz.ts, for targets at the other end of a socket. Many inputs are under way at once, in lanes that do not wait for
// each other; an input follows from the seed and its own number, whatever the others do.

import { expect } from "vitest";
import { reachableBytes } from "../support/memory.ts";
import { randomFrom, type Random } from "../support/mutator.ts";
import { report, settings } from "./fuzz.ts";

export interface WireTarget {
  readonly name: string;
  readonly quickRuns: number;
  /** Where each input takes long. */
  readonly maxRuns?: number;
  readonly inputs: (random: Random) => { next(): Buffer };
  /** Gives what came of one input. What begins with a 5 is a fault of whoever answered. */
  readonly send: (input: Buffer, random: Random) => Promise<string>;
  /** Outcomes that a whole run must see. */
  readonly expected: readonly string[];
  /** Comes before every thousandth input. */
  readonly freshen?: () => Promise<void>;
}

interface Lane {
  run: number;
  input: Buffer;
  since: number;
}

/** Enough to leave no pause. With more, each waits longer: what takes many turns of the event loop, as an edit does, most. */
const LANES = 8;
/** A loaded machine is not punished: what has not ended by then never does. */
const HANG_MS = 60_000;
const MAX_GROWTH_BYTES = 32_000_000;
/** A long run says how far it is. */
const PROGRESS = 50_000;
/** Neighbouring numbers give unlike inputs. */
const APART = 0x9e3779b1;

/** Gives which of the expected outcomes were not seen; a run of few inputs need not see them. */
export async function fuzzWire(target: WireTarget): Promise<string[]> {
  const { name, quickRuns, maxRuns = Infinity, inputs, send, expected, freshen } = target;
  const { runs: wanted, seed, first } = settings(quickRuns);
  const runs = Math.min(wanted, maxRuns);
  let numbers = randomFrom(seed);
  const source = inputs((below) => numbers(below));
  const outcomes = new Map<string, number>();
  const lanes = new Set<Lane>();
  const startedAt = performance.now();
  let next = first;
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
    while (next < first + runs) {
      // Another lane's: the run is over.
      if (failure !== undefined) break;
      lane.run = next++;
      const done = lane.run - first;
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
