import { describe, expect, it } from "vitest";
import type { ToolIndex as ToolIndexAnswer } from "$api/tool.ts";
import { ToolIndex } from "./tool-index.ts";

const answer: ToolIndexAnswer = {
  servers: ["github", "memory"],
  tools: [
    [0, "github__search_issues", "search_issues", "Search issues", 1, 310],
    [0, "github__delete_repo", "delete_repo", null, 2, 120],
    [1, "memory__search", "search", null, 1, 90],
  ],
};

describe("the tool index", () => {
  const index = new ToolIndex(answer);
  it.each([
    ["", [0, 1, 2]],
    ["search", [0, 2]],
    ["ISSUES search", [0]],
    ["github: search", [0]],
    ["memory:", [2]],
    ["nothing", []],
  ])("%j finds %j", (query, rows) => {
    expect(index.search(query)).toEqual(rows);
  });

  it("adds up the tokens", () => {
    expect(index.tokens).toBe(520);
  });
});
