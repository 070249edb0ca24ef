import { describe, expect, it } from "vitest";
import { callsChart, durationsChart, errorsChart, total } from "./series.ts";

const row = (key: string | null, calls: number[], errors: number[], toolErrors: number[]) => ({
  key,
  calls,
  errors,
  tool_errors: toolErrors,
  p50_ms: calls.map((n) => (n === 0 ? null : 5)),
  p95_ms: calls.map((n) => (n === 0 ? null : 9)),
  p99_ms: calls.map((n) => (n === 0 ? null : 10)),
});

describe("the charts of the Stats page", () => {
  it("puts what was not ok in front of all calls", () => {
    const drawn = callsChart([row(null, [5, 0], [1, 0], [2, 0])], "none");
    expect(drawn.map(({ values }) => values)).toEqual([
      [5, 0],
      [3, 0],
      [1, 0],
    ]);
  });

  it("draws a curve for each server, in its colour and with strokes of its own", () => {
    const drawn = callsChart([row("a", [1], [0], [0]), row("b", [2], [0], [0]), row("other", [3], [0], [0])], "server");
    expect(drawn.map(({ label, shape }) => [label, shape])).toEqual([
      ["a", "line"],
      ["b", "line"],
      ["other", "line"],
    ]);
    expect(drawn[0]?.dash).toBeUndefined();
    expect(drawn[1]?.dash).toEqual([8, 3]);
  });

  it("leaves gaps where nothing was called", () => {
    expect(durationsChart([row(null, [0, 2], [0, 0], [0, 0])], "none")[0]?.values).toEqual([null, 5]);
  });

  it("shows only those with errors among the errors", () => {
    const drawn = errorsChart([row("good", [5], [0], [0]), row("bad", [5], [1], [1])]);
    expect(drawn.map(({ label, values }) => [label, values])).toEqual([["bad", [2]]]);
  });

  it("adds up", () => {
    expect(total([row("a", [1, 2], [0, 1], [0, 0]), row("b", [3, 4], [0, 0], [0, 0])], "calls")).toBe(10);
  });
});
