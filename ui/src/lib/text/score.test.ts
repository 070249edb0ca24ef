import { describe, expect, it } from "vitest";
import { best, score, wordsOf } from "./score.ts";

describe("the palette's order", () => {
  it("finds words in any order, and all of them", () => {
    expect(score("restart github", wordsOf("github restart"))).toBeGreaterThan(0);
    expect(score("restart github", wordsOf("github stop"))).toBe(0);
  });

  it("prefers the start of a word over its middle, and that over scattered letters", () => {
    const list = ["s-e-a-r-c-h", "research", "my search", "search"];
    expect(best(list, (text) => text, ["search"], 10)).toEqual(["search", "my search", "research", "s-e-a-r-c-h"]);
  });

  it("prefers the shorter of two equal ones", () => {
    expect(best(["search_issues", "search"], (text) => text, ["search"], 1)).toEqual(["search"]);
  });

  it("shows everything if nothing is typed", () => {
    expect(best(["b", "a"], (text) => text, wordsOf("  "), 10)).toEqual(["b", "a"]);
  });
});
