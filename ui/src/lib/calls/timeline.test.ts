import { describe, expect, it } from "vitest";
import { barAt, extent, layOut, slide, zoom, type TimedCall } from "./timeline.ts";

const call = (id: number, start: number, end: number, lane = "cursor", outcome = "ok"): TimedCall => ({
  id,
  start,
  end,
  lane,
  server: "github",
  outcome,
});
const view = { from: 0, until: 100, width: 1_000 };

describe("the timeline of calls", () => {
  it("has a lane per session, in the order of the first calls", () => {
    const { lanes, rows } = layOut([call(2, 10, 20, "b"), call(1, 0, 10, "a"), call(3, 50, 60, "a")], view);
    expect(lanes).toEqual([
      { lane: "a", top: 0, rows: 1 },
      { lane: "b", top: 1, rows: 1 },
    ]);
    expect(rows).toBe(2);
  });

  it("puts calls that overlap below each other, and reuses free rows", () => {
    const { bars } = layOut([call(1, 0, 50), call(2, 10, 20), call(3, 30, 40), call(4, 60, 70)], view);
    expect(bars.map((bar) => [bar.id, bar.row])).toEqual([
      [1, 0],
      [2, 1],
      [3, 1],
      [4, 0],
    ]);
  });

  it("draws starts and durations to scale, with a width that can be seen", () => {
    const { bars } = layOut([call(1, 10, 35), call(2, 50, 50)], view);
    expect(bars.map(({ x, width }) => [x, width])).toEqual([
      [100, 250],
      [500, 3],
    ]);
  });

  it("leaves out what is outside of the view, and keeps the rows", () => {
    const { bars, rows } = layOut([call(1, 0, 10, "a"), call(2, 50, 60, "b")], { ...view, from: 40, until: 100 });
    expect(bars.map((bar) => [bar.id, bar.row])).toEqual([[2, 1]]);
    expect(rows).toBe(2);
  });

  it("joins bars beyond 5,000, and a joined bar with a failure shows it", () => {
    const many = Array.from({ length: 20_000 }, (_, n) =>
      call(n, n / 200, n / 200 + 0.004, "a", n === 700 ? "failed" : "ok"),
    );
    const { bars } = layOut(many, view);
    expect(bars.length).toBeLessThan(5_000);
    expect(bars.reduce((sum, bar) => sum + bar.count, 0)).toBe(20_000);
    expect(bars.some((bar) => bar.failed)).toBe(true);
  });

  it("bounds the rows of a lane", () => {
    const together = Array.from({ length: 100 }, (_, n) => call(n, 0, 10));
    expect(layOut(together, view).rows).toBe(8);
  });

  it("finds the bar under a point, the smallest first", () => {
    const timeline = layOut([call(1, 0, 50), call(2, 60, 60)], view);
    expect(barAt(timeline, 300, 0)?.id).toBe(1);
    expect(barAt(timeline, 601, 0)?.id).toBe(2);
    expect(barAt(timeline, 900, 0)).toBeUndefined();
  });

  it("zooms around the pointer and moves, inside the limits", () => {
    const limits = { from: 0, until: 100 };
    expect(zoom(view, 0.5, 0.25, limits)).toMatchObject({ from: 12.5, until: 62.5 });
    expect(zoom(view, 4, 0.5, limits)).toMatchObject(limits);
    expect(slide({ ...view, from: 20, until: 40 }, 0.5, limits)).toMatchObject({ from: 30, until: 50 });
    expect(slide({ ...view, from: 20, until: 40 }, -9, limits)).toMatchObject({ from: 0, until: 20 });
  });

  it("covers all calls with a little room", () => {
    expect(extent([call(1, 100, 200), call(2, 150, 600)])).toEqual({ from: 90, until: 610 });
    expect(extent([])).toEqual({ from: 0, until: 1 });
  });
});
