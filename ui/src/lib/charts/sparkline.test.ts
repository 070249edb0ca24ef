import { expect, it } from "vitest";
import { barPath, dotPath, linePath } from "./sparkline.ts";

it("bars are as tall as their share of the tallest, and never too small to see", () => {
  expect(barPath([0, 10, null, 0.01], 40, 20)).toBe("M10 20v-20h9v20zM30 20v-1h9v1z");
});

it("a line has gaps where there is no value, and a dot for a value alone", () => {
  const values = [1, 2, null, 2, null];
  expect(linePath(values, 40, 20)).toBe("M0 10L10 1M30 1");
  expect(dotPath(values, 40, 20)).toBe("M30 1h0.01");
});

it("nothing to show is an empty path", () => {
  expect(barPath([], 40, 20)).toBe("");
  expect(linePath([null, null], 40, 20)).toBe("");
  expect(dotPath([null, null], 40, 20)).toBe("");
});
