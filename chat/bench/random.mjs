// Chance that can be repeated, and words by how often people use them.

/** Numbers from 0 to 1, the same ones for the same seed (mulberry32). */
export function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An index below `count`, small ones far more often: the n-th about 1/n as often as the first. */
export function zipf(random, count) {
  return Math.min(count - 1, Math.floor(count ** random()) - 1 + (random() < 0.5 ? 0 : 1));
}

export function pick(random, list) {
  return list[Math.floor(random() * list.length)];
}
