// Chunks of bytes give the same whole, however they are split.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Chunks } from "./chunks.ts";

describe("Chunks", () => {
  it("F07 returns all bytes in order, and is empty afterwards", () => {
    const piece = fc.oneof(fc.uint8Array({ maxLength: 4 }), fc.uint8Array({ minLength: 900, maxLength: 3000 }));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 300, size: "max" }), (given) => {
        const pieces = new Chunks();
        for (const bytes of given) pieces.add(Buffer.from(bytes));
        const whole = Buffer.concat(given);
        expect(pieces.size).toBe(whole.length);
        expect(pieces.take().equals(whole)).toBe(true);
        expect([pieces.size, pieces.take().length]).toEqual([0, 0]);
      }),
    );
  });

  it("F07 a single chunk is not copied", () => {
    const pieces = new Chunks();
    const only = Buffer.from("only");
    pieces.add(only);
    expect(pieces.take()).toBe(only);
  });
});
