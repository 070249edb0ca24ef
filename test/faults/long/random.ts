// Random choices of the long lane. The seed is printed; TEST_SEED repeats it.

import { seededRandom as numbersFrom } from "../../support/random.ts";
import { testSeed } from "../../support/scale.ts";

export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number;
  pick<T>(choices: readonly T[]): T;
}

/** @example const random = seededRandom("chaos"); // prints: chaos: TEST_SEED=12345 */
export function seededRandom(what: string): Random {
  const seed = testSeed();
  process.stderr.write(`${what}: TEST_SEED=${seed}\n`);
  const next = numbersFrom(seed);
  const pick = <T>(choices: readonly T[]): T => {
    const choice = choices[Math.floor(next() * choices.length)];
    if (choice === undefined) throw new Error("There is nothing to choose from");
    return choice;
  };
  return { next, pick };
}
