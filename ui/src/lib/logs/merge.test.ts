import { describe, expect, it } from "vitest";
import { isAtLeast, levelIn, mergeLogs } from "./merge.ts";

describe("lines of several logs", () => {
  const line = (second: number, text: string) => ({ timestamp: new Date(second * 1000).toISOString(), text });

  it("come in the order of their times, the last ones only", () => {
    const merged = mergeLogs(
      [
        [line(1, "a"), line(4, "d")],
        [line(2, "b"), line(3, "c")],
      ],
      3,
    );
    expect(merged.map(({ text }) => text)).toEqual(["b", "c", "d"]);
  });

  it("of the same moment stay in the order of their log", () => {
    expect(mergeLogs([[line(1, "a"), line(1, "b")]], 9).map(({ text }) => text)).toEqual(["a", "b"]);
  });
});

describe("the level of a line", () => {
  it.each([
    ["2026-11-18 ERROR cannot open", "error"],
    ["[warn] slow", "warn"],
    ["INFO ready", "info"],
    ["debug: x", "debug"],
    ["all is well", undefined],
    ["terrors of the deep", undefined],
  ])("%j", (text, level) => {
    expect(levelIn(text)).toBe(level);
  });

  it("filters: lines without a level count as info", () => {
    expect(isAtLeast("error", "warn")).toBe(true);
    expect(isAtLeast("info", "warn")).toBe(false);
    expect(isAtLeast(undefined, "info")).toBe(true);
    expect(isAtLeast(undefined, "warn")).toBe(false);
  });
});
