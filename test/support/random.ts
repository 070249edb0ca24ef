// Random numbers that can be had again: a test that fails prints its seed, and SEED=… repeats its decisions.

/** One for each run of a test, unless SEED says which. */
export function newSeed(): number {
  return Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 32));
}

/** Numbers from 0 to 1, without 1 (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
