import { describe, expect, it } from "vitest";
import { TokenBucket, type Rate } from "./token-bucket.ts";

describe("AU-7 a rate limit", () => {
  it("AU-7 lets a burst through, then limits the rate, and returns the time until the next token", () => {
    const limit = new TokenBucket(() => ({ perSecond: 10, burst: 3 }));
    expect([0, 0, 0, 0].map((now) => limit.take(now))).toEqual([undefined, undefined, undefined, 100]);
    expect([50, 100, 100].map((now) => limit.take(now))).toEqual([50, undefined, 100]);
  });

  it("AU-7 after a pause the bucket is full up to the burst", () => {
    const limit = new TokenBucket(() => ({ perSecond: 10, burst: 2 }));
    limit.take(0);
    expect([60_000, 60_000, 60_000].map((now) => limit.take(now))).toEqual([undefined, undefined, 100]);
  });

  it("AU-7 the rate may be less than one a second", () => {
    const limit = new TokenBucket(() => ({ perSecond: 0.5, burst: 1 }));
    expect([0, 500, 2000].map((now) => limit.take(now))).toEqual([undefined, 1500, undefined]);
  });

  it("AU-7 without a rate there is no limit, and a rate that is set later applies from then on", () => {
    let rate: Rate | undefined;
    const limit = new TokenBucket(() => rate);
    expect(Array.from({ length: 1000 }, () => limit.take(0)).every((wait) => wait === undefined)).toBe(true);
    rate = { perSecond: 1, burst: 1 };
    expect([0, 0].map((now) => limit.take(now))).toEqual([undefined, 1000]);
  });
});
