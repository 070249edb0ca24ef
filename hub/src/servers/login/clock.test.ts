import { describe, expect, it } from "vitest";
import { deadlinesOf, isPast, msUntil, renewAheadMs, retryDelayMs } from "./clock.ts";

const SECOND = 1000;

it.each([
  [20, 10],
  [60, 30],
  [300, 30],
  [3600, 300],
  [1200, 120],
  [86_400, 300],
])("AU-1 a token of %i s is renewed %i s before its expiry", (lifetime, ahead) => {
  expect(renewAheadMs(lifetime * SECOND)).toBe(ahead * SECOND);
});

it.each([
  [1, 1],
  [2, 2],
  [4, 8],
  [7, 60],
  [50, 60],
])("AU-1 failed renewal %i is tried again after %i s", (attempts, delay) => {
  expect(retryDelayMs(attempts)).toBe(delay * SECOND);
});

describe("AU-1 F40 F43 the earlier of two clocks counts", () => {
  const clockAt = (now: number, monotonic: number) => ({ now: () => now, monotonic: () => monotonic });
  const received = { receivedAt: 1_000_000, expiresIn: 100 };

  it.each<[string, number, number, boolean]>([
    ["both clocks go on", 1_000_000 + 99_000, 99_000, false],
    ["it expires on both", 1_000_000 + 100_000, 100_000, true],
    ["the machine slept: the monotonic clock stood still", 1_000_000 + 500_000, 10_000, true],
    ["the wall clock was set back by a day", 1_000_000 - 86_400_000, 100_000, true],
    ["the wall clock was set back, and the token is still young", 1_000_000 - 86_400_000, 50_000, false],
    ["the wall clock was set forward", 1_000_000 + 200_000, 1000, true],
  ])("%s", (_, now, monotonic, expired) => {
    const { expiresAt } = deadlinesOf(received, clockAt(1_000_000, 0));
    expect(isPast(expiresAt, clockAt(now, monotonic))).toBe(expired);
  });

  it("a token of an earlier process has the age that the wall clock gives it", () => {
    const { expiresAt } = deadlinesOf(received, clockAt(1_000_000 + 40_000, 7000));
    expect(msUntil(expiresAt, clockAt(1_000_000 + 40_000, 7000))).toBe(60_000);
  });

  it("a token without a lifetime never expires by itself", () => {
    const { renewAt } = deadlinesOf({ receivedAt: 0 }, clockAt(0, 0));
    expect(isPast(renewAt, clockAt(1e15, 1e15))).toBe(false);
  });
});
