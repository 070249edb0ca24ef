import { expect, it } from "vitest";
import { closest, didYouMean } from "./did-you-mean.ts";

it.each([
  ["memry", "memory"],
  ["MEMORY", "memory"],
  ["mmeory", "memory"],
  ["files", "filesystem"],
  ["fetc", "fetch"],
  ["sl", "ls"],
  ["postgres", undefined],
  ["x", undefined],
  ["", undefined],
])("D12 %j may mean %j", (typed, meant) => {
  expect(closest(typed, ["memory", "filesystem", "fetch", "ls"])).toBe(meant);
});

it("D12 says what was meant, or else what there is", () => {
  expect(didYouMean("memry", ["memory"], "Servers")).toBe("Did you mean memory?");
  expect(didYouMean("postgres", ["memory", "fetch"], "Servers")).toBe("Servers: memory, fetch");
  expect(didYouMean("postgres", [], "Servers")).toBe("Servers: none");
  const many = Array.from({ length: 20 }, (_, index) => `server-number-${index}`);
  expect(didYouMean("x", many, "Servers")).toMatch(/server-number-11 and 8 more$/);
});

it("D12 an endless name, and names without end, cost little", () => {
  const many = Array.from({ length: 100_000 }, (_, index) => `${"x".repeat(100)}${index}`);
  expect(closest("y".repeat(1_000_000), many)).toBeUndefined();
});
