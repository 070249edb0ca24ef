import { expect, it } from "vitest";
import { RecentCounts } from "./recent-counts.ts";

const HOUR = 3_600_000;

it("RS-5 counts the calls of a day, and forgets those before", () => {
  const counts = new RecentCounts();
  counts.record(true, 0);
  counts.record(false, HOUR);
  counts.record(true, 23 * HOUR);
  expect(counts.totals(23 * HOUR)).toEqual({ calls: 3, errors: 1 });
  expect(counts.totals(24 * HOUR)).toEqual({ calls: 2, errors: 1 });
  expect(counts.totals(25 * HOUR)).toEqual({ calls: 1, errors: 0 });
  expect(counts.totals(1000 * HOUR)).toEqual({ calls: 0, errors: 0 });
  counts.record(false, 1000 * HOUR);
  expect(counts.totals(1000 * HOUR)).toEqual({ calls: 1, errors: 1 });
});
