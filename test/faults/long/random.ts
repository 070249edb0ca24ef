// Chance that can be had again: SEED sets it, and what was used is printed.

export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number;
  pick<T>(choices: readonly T[]): T;
}

/** @example const random = seededRandom("chaos"); // prints: chaos: SEED=12345 */
export function seededRandom(what: string): Random {
  const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31));
  process.stderr.write(`${what}: SEED=${seed}\n`);
  let state = seed >>> 0;
  // Mulberry32: small, and good enough to choose faults with.
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const pick = <T>(choices: readonly T[]): T => {
    const choice = choices[Math.floor(next() * choices.length)];
    if (choice === undefined) throw new Error("There is nothing to choose from");
    return choice;
  };
  return { next, pick };
}

/** A figure of the long lane, smaller where somebody only wants to see it run. */
export function figure(name: string, usual: number): number {
  return Number(process.env[name] ?? usual);
}
