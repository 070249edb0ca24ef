import { describe, expect, it } from "vitest";
import { bars, brushed, moveBrush } from "./histogram.ts";

describe("the bars of a histogram", () => {
  it("reach from nothing to the full height", () => {
    expect(bars([0, 10, 5], [0, 0, 5], 30)).toEqual([
      { x: 0, width: 9, all: 0, failed: 0 },
      { x: 10, width: 9, all: 1, failed: 0 },
      { x: 20, width: 9, all: 0.5, failed: 0.5 },
    ]);
  });

  it("show one call beside a million", () => {
    expect(bars([1, 1_000_000], [1, 0], 2)[0]).toMatchObject({ all: 0.06, failed: 0.06, width: 1 });
  });
});

describe("a selection on a histogram", () => {
  const scale = { from: 1_000, stepMs: 100, buckets: 10, width: 200 };

  it("covers whole buckets, in either direction", () => {
    expect(brushed(scale, 25, 59)).toEqual({ from: 1_100, until: 1_300 });
    expect(brushed(scale, 59, 25)).toEqual({ from: 1_100, until: 1_300 });
    expect(brushed(scale, 5, 5)).toEqual({ from: 1_000, until: 1_100 });
  });

  it("stays inside", () => {
    expect(brushed(scale, -50, 900)).toEqual({ from: 1_000, until: 2_000 });
  });

  it("moves and grows by keys", () => {
    expect(moveBrush(10, undefined, "ArrowLeft", false)).toEqual({ first: 9, last: 9 });
    expect(moveBrush(10, { first: 9, last: 9 }, "ArrowLeft", false)).toEqual({ first: 8, last: 8 });
    expect(moveBrush(10, { first: 4, last: 6 }, "ArrowRight", true)).toEqual({ first: 4, last: 7 });
    expect(moveBrush(10, { first: 0, last: 2 }, "ArrowLeft", false)).toEqual({ first: 0, last: 2 });
    expect(moveBrush(10, { first: 0, last: 2 }, "Escape", false)).toBeUndefined();
  });
});
