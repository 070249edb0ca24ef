// The interface of a scenario: a name, and samples of figures. Most are rounds of slices, which are implemented here.

import { Contender, type ContenderOptions, type Figures } from "../contender.ts";
import type { Pinning } from "../machine.ts";
import { calls, type Phase } from "../phase.ts";

export interface Sample {
  readonly target: string;
  readonly phase: string;
  readonly round: number;
  readonly figures: Figures;
}

export interface Bench {
  readonly pinning: Pinning;
  readonly rounds: number;
  readonly sliceMs: number;
  /** Before the first slice, so that compilation is not measured. */
  readonly warmMs: number;
  readonly peers: boolean;
  /** A target that did not take part. */
  leftOut(target: string, why: string): void;
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  run(bench: Bench): Promise<Sample[]>;
}

export interface Entrant extends Omit<ContenderOptions, "pinning"> {
  readonly isPeer?: boolean;
}

/**
 * All targets run at the same time, and one at a time is under load, for a moment: only samples that are close in time are
 * compared, whatever else the machine does.
 */
export async function runRounds(
  bench: Bench,
  entrants: readonly Entrant[],
  phases: readonly Phase[],
): Promise<Sample[]> {
  const open: { readonly contender: Contender; readonly isPeer: boolean }[] = [];
  try {
    for (const entrant of entrants) {
      const contender = await enter(bench, entrant);
      if (contender === undefined) continue;
      open.push({ contender, isPeer: entrant.isPeer === true });
      const spread = phases.some((phase) => phase.spread === true);
      await contender.warm(calls("100 B", 16, { spread }), bench.warmMs);
    }
    const samples: Sample[] = [];
    for (let round = 0; round < bench.rounds; round++) {
      for (const phase of phases) {
        for (const { contender, isPeer } of rotated(open, round)) {
          if (isPeer && phase.forPeers !== true) continue;
          const figures = await contender.measure(phase, bench.sliceMs);
          samples.push({ target: contender.label, phase: phase.name, round, figures });
        }
      }
    }
    return samples;
  } finally {
    await Promise.all(open.map(({ contender }) => contender.close()));
  }
}

/** Undefined if the target cannot take part, which is recorded. */
export async function enter(bench: Bench, entrant: Entrant): Promise<Contender | undefined> {
  if (entrant.isPeer === true && !bench.peers) return undefined;
  const label = entrant.label ?? entrant.target.name;
  try {
    const contender = await Contender.open({ ...entrant, pinning: bench.pinning });
    if (contender === undefined) bench.leftOut(label, "it cannot do this");
    return contender;
  } catch (error) {
    if (entrant.isPeer !== true) throw error;
    bench.leftOut(label, String(error));
    return undefined;
  }
}

/** The order rotates, so that no target always follows the same one. */
export function rotated<T>(list: readonly T[], by: number): T[] {
  const first = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(first), ...list.slice(0, first)];
}
