import { describe, expect, it } from "vitest";
import { KeyedBuckets } from "./keyed-buckets.ts";

const RATE = { perSecond: 1, burst: 3 };

describe("buckets by key", () => {
  it("have their burst, then refuse with the time until the next token", () => {
    const buckets = new KeyedBuckets(RATE);
    expect([1, 2, 3].map(() => buckets.take("a", 0))).toEqual([undefined, undefined, undefined]);
    expect(buckets.take("a", 400)).toBe(600);
    expect(buckets.take("a", 1000)).toBeUndefined();
  });

  it("are not delayed further by what they refuse", () => {
    const buckets = new KeyedBuckets({ perSecond: 1, burst: 1 });
    buckets.take("a", 0);
    for (let now = 100; now < 1000; now += 100) expect(buckets.take("a", now)).toBeCloseTo(1000 - now);
  });

  it("do not count for another key", () => {
    const buckets = new KeyedBuckets({ perSecond: 1, burst: 1 });
    buckets.take("a", 0);
    expect(buckets.take("b", 0)).toBeUndefined();
  });

  it("T05 are bounded: the key that was not used for the longest time is forgotten", () => {
    const buckets = new KeyedBuckets({ perSecond: 1, burst: 1 }, { max: 2 });
    for (const key of ["a", "b", "c"]) buckets.take(key, 0);
    expect(buckets.take("c", 0)).toBe(1000);
    expect(buckets.take("b", 0)).toBe(1000);
    expect(buckets.take("a", 0)).toBeUndefined();
  });
});
