// The two settings of a test run.
//
// TEST_SCALE multiplies how often repeated and randomized tests run: 1 in `npm test`, 1000 in the long lane, where each test has an
// upper bound of its own, less than 1 for a quick look. TEST_SEED repeats the random decisions of a failed run, which prints its seed.

const SCALE = Number(process.env["TEST_SCALE"] ?? 1);
const SEED = process.env["TEST_SEED"];

/** Whether this is a long run, whose figures are worth printing. */
export const isLongRun = SCALE > 1;

/** How often to repeat: `usual` times at scale 1, never more than `most`, at least once. */
export function scaled(usual: number, most = Infinity): number {
  return Math.max(1, Math.min(Math.round(usual * SCALE), most));
}

/** A figure of the long lane itself: as it is there, smaller for a scale below 1. */
export function upTo(full: number): number {
  return scaled(full, full);
}

/** The seed of this run. Tests that must decide alike in every run give a fixed one. */
export function testSeed(fixed?: number): number {
  return Number(SEED ?? fixed ?? Math.floor(Math.random() * 2 ** 31));
}
