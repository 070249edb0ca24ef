import { describe, expect, it } from "vitest";
import { LineRing } from "./ring.ts";

describe("the ring of log lines", () => {
  it("keeps the last lines and the numbers of all", () => {
    const ring = new LineRing<string>(3);
    expect(ring.append(["a", "b"])).toBe(0);
    expect(ring.append(["c", "d", "e"])).toBe(2);
    expect(ring.toArray()).toEqual(["c", "d", "e"]);
    expect(ring.first).toBe(2);
    expect(ring.at(0)).toBe("c");
    expect(ring.at(3)).toBeUndefined();
    expect(ring.at(-1)).toBeUndefined();
  });

  it("stays bounded over many lines", () => {
    const ring = new LineRing<number>(100);
    for (let n = 0; n < 10_000; n += 1) ring.append([n]);
    expect(ring.length).toBe(100);
    expect(ring.at(0)).toBe(9_900);
    expect(ring.first).toBe(9_900);
  });

  it("takes older lines only into free places", () => {
    const ring = new LineRing<number>(5);
    ring.append([10, 11, 12]);
    expect(ring.prepend([6, 7, 8, 9])).toBe(2);
    expect(ring.toArray()).toEqual([8, 9, 10, 11, 12]);
    expect(ring.first).toBe(-2);
    expect(ring.prepend([5])).toBe(0);
  });
});
