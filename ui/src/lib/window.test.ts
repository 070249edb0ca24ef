import { expect, it } from "vitest";
import { rowForKey, visibleSpan } from "./window.ts";

it("draws the visible rows and a few around them", () => {
  expect(visibleSpan(10_000, 32, 3200, 640)).toEqual({ from: 94, to: 126 });
});

it("never draws rows that do not exist", () => {
  expect(visibleSpan(3, 32, 0, 640)).toEqual({ from: 0, to: 3 });
  expect(visibleSpan(0, 32, 0, 640)).toEqual({ from: 0, to: 0 });
  expect(visibleSpan(10, 32, -500, 100)).toEqual({ from: 0, to: 0 });
  expect(visibleSpan(10, 32, 9999, 100)).toEqual({ from: 10, to: 10 });
});

it("moves by a row, a page, or to the ends, and never out of the list", () => {
  const place = { active: 50, rows: 100, rowHeight: 32, height: 320 };
  const at = (key: string, active = place.active) => rowForKey(key, { ...place, active });
  expect([at("ArrowDown"), at("k"), at("PageDown"), at("PageUp")]).toEqual([51, 49, 59, 41]);
  expect([at("Home"), at("End"), at("ArrowUp", 0), at("j", 99)]).toEqual([0, 99, 0, 99]);
  expect([at("Enter"), rowForKey("End", { ...place, rows: 0 })]).toEqual([undefined, undefined]);
});
