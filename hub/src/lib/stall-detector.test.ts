import { expect, it } from "vitest";
import { StallDetector } from "./stall-detector.ts";

/** The results of queries at these times. */
function asked(...times: number[]): boolean[] {
  let now = 0;
  const lenience = new StallDetector({ everyMs: 1000, stallMs: 5000, mostMs: 12_000, now: () => now });
  return times.map((time) => {
    now = time;
    return lenience.hasJustStalled();
  });
}

it("F43 regular checks, also slightly late ones, report no stall", () => {
  expect(asked(1000, 2000, 2000, 8000, 9000)).toEqual([false, false, false, false, false]);
});

it("F43 after a stall, the lost time is granted", () => {
  expect(asked(1000, 9000, 10_000, 15_999, 16_000)).toEqual([false, true, true, true, false]);
});

it("F43 the granted time is bounded", () => {
  expect(asked(1000, 3_601_000, 3_607_000, 3_612_999, 3_613_000)).toEqual([false, true, true, true, false]);
});
