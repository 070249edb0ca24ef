import { expect, it } from "vitest";
import { estimateTokens } from "../catalog/tokens.ts";
import { searchText } from "./search-text.ts";

const tool = (exposed: string, description: string, properties: object = {}) => ({
  server: "s",
  exposed,
  definition: { name: exposed, description, inputSchema: { type: "object", properties } },
});

it("RG-3 shows signatures and the beginning of descriptions", () => {
  const hits = { tools: [tool("add", "Adds\ntwo numbers", { a: { type: "number" } })], unknown: [] };
  expect(searchText(hits, 12)).toBe(
    "The best of 12 tools:\n\nadd(a?: number)\n  Adds two numbers\n\nCall them with call_tool. describe_tools shows whole schemas.",
  );
});

it("RG-3 says what no tool mentions", () => {
  expect(searchText({ tools: [], unknown: ["gmail"] }, 1)).toBe(
    "None of the 1 tool matches. Use other words, one action per search.\nNo tool mentions: gmail",
  );
});

it("RG-3 stays within 1,200 tokens, whatever servers write", () => {
  const properties = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`argument_${at}`, { type: "string" }]));
  const tools = Array.from({ length: 8 }, (_, at) =>
    tool(`${"long_".repeat(25)}${at}`, "検索 ".repeat(5000), properties),
  );
  expect(estimateTokens({ text: searchText({ tools, unknown: [] }, 8) })).toBeLessThan(1250);
});

it("T18 shows hidden characters of descriptions", () => {
  const shown = searchText({ tools: [tool("add", "safe\u202etxt\u001b[31m")], unknown: [] }, 1);
  expect(shown).toContain("safe\\u202etxt");
  expect(shown).not.toContain("\u001b");
});
