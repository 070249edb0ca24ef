import { expect, it } from "vitest";
import { RateMeter } from "./rate.ts";

it("forgets what is older than ten seconds", () => {
  const meter = new RateMeter();
  for (let n = 0; n < 5; n += 1) meter.add(1_000);
  for (let n = 0; n < 2; n += 1) meter.add(6_500);
  expect(meter.recent(7_000)).toBe(7);
  expect(meter.recent(11_500)).toBe(2);
  expect(meter.recent(90_000)).toBe(0);
  expect(meter.perSecond(90_000)).toBe(0);
});

it("gives the rate of the last full second while the current one has just begun", () => {
  const meter = new RateMeter();
  for (let ms = 0; ms < 1_000; ms += 2) meter.add(50_000 + ms);
  expect(meter.perSecond(51_001)).toBe(500);
  expect(meter.perSecond(53_000)).toBe(0);
});

it("is not confused by a clock that goes back", () => {
  const meter = new RateMeter();
  meter.add(20_000);
  meter.add(19_000);
  expect(meter.recent(20_000)).toBe(2);
});
