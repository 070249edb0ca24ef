import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StderrRing } from "./stderr-ring.ts";

function ringOf(limit: number, ...chunks: (string | Buffer)[]): StderrRing {
  const ring = new StderrRing(limit);
  for (const chunk of chunks) ring.push(Buffer.from(chunk));
  return ring;
}

describe("the stderr ring", () => {
  it("returns the last lines, including one without a newline", () => {
    expect(ringOf(100, "one\ntwo\n", "three").tail(2)).toBe("two\nthree");
    expect(ringOf(100, "one\n").tail(5)).toBe("one");
    expect(ringOf(100).tail(5)).toBe("");
  });

  it("drops a line whose beginning is lost", () => {
    expect(ringOf(8, "lost line\nkept\n").tail(5)).toBe("kept");
    expect(ringOf(8, "lost ", "line\n", "kept\n").tail(5)).toBe("kept");
  });

  it("shows the rest of a line longer than the ring, from a complete character on", () => {
    expect(ringOf(5, "ääää").tail(5)).toBe("ää");
    expect(ringOf(5, "ää", "ää\n").tail(5)).toBe("ää");
  });

  it("T12 the possible rest of a cut secret is not shown for a line longer than the ring", () => {
    const ring = new StderrRing();
    ring.push(Buffer.from("sesame-open ".repeat(30_000)));
    expect(ring.tail(1).length).toBe(256 * 1024 - 12 * 1024);
  });

  it("joins a character that was split over two chunks", () => {
    const euro = Buffer.from("€");
    expect(ringOf(100, euro.subarray(0, 1), euro.subarray(1)).tail(1)).toBe("€");
  });

  it("removes colours, carriage returns and other control characters, but no tab", () => {
    expect(ringOf(100, "\u001b[31mred\u001b[0m\ta\rb\u0000c\u0007\u009bd\u2028e\r\n").tail(1)).toBe("red\tabcde");
  });

  it("T25 never exceeds its limit", () => {
    const ring = new StderrRing();
    for (let written = 0; written < 2 ** 20; written += 7919) ring.push(Buffer.alloc(7919, "x"));
    expect(ring.sizeBytes).toBe(256 * 1024);
  });

  it("holds exactly the last bytes, for any chunks", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "grapheme-ascii", maxLength: 40 })),
        fc.integer({ min: 1, max: 64 }),
        (chunks, limit) => {
          const written = chunks.join("").replaceAll("\n", "");
          const ring = ringOf(limit, ...chunks.map((chunk) => chunk.replaceAll("\n", "")));
          expect(ring.sizeBytes).toBe(Math.min(limit, written.length));
          expect(ring.tail(1)).toBe(written.slice(-limit));
        },
      ),
    );
  });
});
