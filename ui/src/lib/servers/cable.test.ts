import { expect, it } from "vitest";
import { cableOf } from "./cable.ts";

it("a name has always the same colour", () => {
  expect(cableOf("github")).toBe(cableOf("github"));
});

it("names share the eight colours evenly", () => {
  const counts = new Map<number, number>();
  for (let i = 0; i < 800; i += 1) {
    const cable = cableOf(`server-${i}`);
    counts.set(cable, (counts.get(cable) ?? 0) + 1);
  }
  expect([...counts.keys()].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  for (const count of counts.values()) expect(count).toBeGreaterThan(60);
});
