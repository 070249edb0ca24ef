import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SmallMap } from "./small-map.ts";

const number = fc.oneof(
  fc.integer({ min: -3, max: 40 }),
  fc.integer({ min: -4, max: 40 }).map((n) => n * 16),
  fc.constantFrom(2 ** 32, 2 ** 32 + 1, 2 ** 31, -(2 ** 31), Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
);
const key = fc.oneof({ weight: 3, arbitrary: number }, fc.constantFrom("1", "a", "", "__proto__", "constructor", '"1'));
const step = fc.oneof(
  fc.record({ do: fc.constant("set" as const), key, value: fc.integer() }),
  fc.record({ do: fc.constant("delete" as const), key, value: fc.constant(0) }),
  fc.record({ do: fc.constant("clear" as const), key, value: fc.constant(0) }),
);

describe("SmallMap", () => {
  it("behaves like a Map", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const ours = new SmallMap<string | number, number>();
        const map = new Map<string | number, number>();
        for (const { do: what, key: at, value } of steps) {
          if (what === "set") map.set(at, value);
          if (what === "set") ours.set(at, value);
          else if (what === "delete") expect(ours.delete(at)).toBe(map.delete(at));
          else [ours, map].forEach((table) => table.clear());
          expect([ours.size, ours.has(at), ours.get(at)]).toEqual([map.size, map.has(at), map.get(at)]);
        }
        expect(ours.values().toSorted((a, b) => a - b)).toEqual([...map.values()].toSorted((a, b) => a - b));
      }),
    );
  });
});
