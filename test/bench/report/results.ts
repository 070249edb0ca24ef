// The samples of a run, with medians and ratios.

import type { Machine } from "../machine.ts";
import type { Sample } from "../scenarios/scenario.ts";
import { median } from "../statistics.ts";

export interface ScenarioResult {
  readonly title: string;
  readonly commit: string;
  readonly rounds: number;
  /** The share of the machine that other programs used just before. */
  readonly othersBusy: number;
  readonly samples: readonly Sample[];
  /** Targets that did not take part, with the reason. */
  readonly leftOut: Readonly<Record<string, string>>;
}

export interface RunFile {
  readonly at: string;
  readonly machine: Machine;
  readonly scenarios: Readonly<Record<string, ScenarioResult>>;
}

/** A figure of a target. */
export interface Spot {
  readonly scenario: string;
  readonly target: string;
  readonly phase: string;
  readonly figure: string;
}

export class Results {
  readonly run: RunFile;

  constructor(run: RunFile) {
    this.run = run;
  }

  targets(scenario: string): string[] {
    return [...new Set(this.#samples(scenario).map(({ target }) => target))];
  }

  phases(scenario: string): string[] {
    return [...new Set(this.#samples(scenario).map(({ phase }) => phase))];
  }

  /** The median of all rounds; undefined if it was not measured. */
  figure(spot: Spot): number | undefined {
    return known([...this.#byRound(spot).values()]);
  }

  /** The median of the ratios to another target in the same round. */
  ratio(spot: Spot, to: string): number | undefined {
    return this.#compare(spot, to, (own, other) => own / other);
  }

  /** The difference to another target in the same round. */
  difference(spot: Spot, to: string): number | undefined {
    return this.#compare(spot, to, (own, other) => own - other);
  }

  #compare(spot: Spot, to: string, compare: (own: number, other: number) => number): number | undefined {
    const others = this.#byRound({ ...spot, target: to });
    const compared = [...this.#byRound(spot)].flatMap(([round, own]) => {
      const other = others.get(round);
      return other === undefined ? [] : [compare(own, other)];
    });
    return known(compared);
  }

  #byRound({ scenario, target, phase, figure }: Spot): Map<number, number> {
    const found = this.#samples(scenario).filter((sample) => sample.target === target && sample.phase === phase);
    return new Map(
      found.flatMap(({ round, figures }) => {
        const value = figures[figure];
        return value === undefined ? [] : [[round, value] as const];
      }),
    );
  }

  #samples(scenario: string): readonly Sample[] {
    return this.run.scenarios[scenario]?.samples ?? [];
  }
}

function known(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : median(values);
}
