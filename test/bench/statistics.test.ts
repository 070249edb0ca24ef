import { expect, it } from "vitest";
import { median, percentiles } from "./statistics.ts";

it.each([
  [[3], 3],
  [[9, 1, 5], 5],
  [[4, 1, 3, 2], 2.5],
])("the median of %j is %d", (values, expected) => {
  expect(median(values)).toBe(expected);
});

it("an empty list has no median", () => expect(median([])).toBeNaN());

it("gives percentiles of unsorted values", () => {
  const values = Float64Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentiles(values, [0, 0.5, 0.99, 1])).toEqual([1, 51, 100, 100]);
});
