import { expect, it } from "vitest";
import { closest, didYouMean, nearNames } from "./near-names.ts";

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
])("the suggestion for %j is %j", (typed, meant) => {
  expect(closest(typed, ["memory", "filesystem", "fetch", "ls"])).toBe(meant);
});

it("suggests near names, or lists all", () => {
  expect(didYouMean("memry", ["memory"], "Servers")).toBe("Did you mean memory?");
  expect(didYouMean("postgres", ["memory", "fetch"], "Servers")).toBe("Servers: memory, fetch");
  expect(didYouMean("postgres", [], "Servers")).toBe("Servers: none");
  const many = Array.from({ length: 20 }, (_, index) => `server-number-${index}`);
  expect(didYouMean("x", many, "Servers")).toMatch(/server-number-11 and 8 more$/);
});

it("long names and long lists cost little", () => {
  const many = Array.from({ length: 100_000 }, (_, index) => `${"x".repeat(100)}${index}`);
  expect(closest("y".repeat(1_000_000), many)).toBeUndefined();
});

it("finds several, with and without accents, nearest first", () => {
  const names = ["Team Zürich", "Zurich", "Zürcher", "Berlin"];
  expect(nearNames("zürich", names, 5)).toEqual(["Zurich", "Team Zürich"]);
  expect(nearNames("zürich", names, 1)).toEqual(["Zurich"]);
});
