import { expect, it } from "vitest";
import { Lenience } from "./lenience.ts";

/** What it says when it is asked at these times. */
function asked(...times: number[]): boolean[] {
  let now = 0;
  const lenience = new Lenience({ everyMs: 1000, stallMs: 5000, mostMs: 12_000, now: () => now });
  return times.map((time) => {
    now = time;
    return lenience.isDue();
  });
}

it("F43 who is asked in time, or a little late, has nothing to forgive", () => {
  expect(asked(1000, 2000, 2000, 8000, 9000)).toEqual([false, false, false, false, false]);
});

it("F43 after a stall everybody gets the time that was lost", () => {
  expect(asked(1000, 9000, 10_000, 15_999, 16_000)).toEqual([false, true, true, true, false]);
});

it("F43 but not more than the longest patience", () => {
  expect(asked(1000, 3_601_000, 3_607_000, 3_612_999, 3_613_000)).toEqual([false, true, true, true, false]);
});
