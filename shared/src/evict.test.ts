import { expect, it } from "vitest";
import { evictOldest } from "./evict.ts";

it("removes the oldest entry of a map or set beyond its bound, and nothing below it", () => {
  const map = new Map([
    ["a", 1],
    ["b", 2],
  ]);
  evictOldest(map, 2);
  expect([...map.keys()]).toEqual(["a", "b"]);
  evictOldest(map, 1);
  expect([...map.keys()]).toEqual(["b"]);
  const set = new Set(["x", "y"]);
  evictOldest(set, 1);
  expect([...set]).toEqual(["y"]);
  evictOldest(new Set(), 0);
});
