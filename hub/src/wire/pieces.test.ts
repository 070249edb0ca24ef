// Pieces of bytes: the same whole however they are cut, at a cost that goes by their bytes and not by their number.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reachableBytes } from "../../../test/support/memory.ts";
import { LineReader } from "./lines.ts";
import { Pieces } from "./pieces.ts";
import { SseParser } from "./sse.ts";

/** A buffer of its own, as a read from a pipe gives it. */
const oneByte = () => Buffer.from(new Uint8Array([0x78]));
const ignore = () => undefined;

describe("Pieces", () => {
  it("F07 gives all bytes in order, and is empty afterwards", () => {
    const piece = fc.oneof(fc.uint8Array({ maxLength: 4 }), fc.uint8Array({ minLength: 900, maxLength: 3000 }));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 300, size: "max" }), (given) => {
        const pieces = new Pieces();
        for (const bytes of given) pieces.add(Buffer.from(bytes));
        const whole = Buffer.concat(given);
        expect(pieces.size).toBe(whole.length);
        expect(pieces.take().equals(whole)).toBe(true);
        expect([pieces.size, pieces.take().length]).toEqual([0, 0]);
      }),
    );
  });

  it("F07 one piece is not copied", () => {
    const pieces = new Pieces();
    const only = Buffer.from("only");
    pieces.add(only);
    expect(pieces.take()).toBe(only);
  });
});

describe("a million pieces of one byte", () => {
  const COUNT = 1_000_000;

  it.each([
    [
      "T24 of a line",
      () => {
        const lines = new LineReader({ maxBytes: 1 << 24, onLine: ignore, onOverflow: ignore });
        for (let n = 0; n < COUNT; n++) lines.push(oneByte());
        return lines;
      },
    ],
    [
      "F26 of an event",
      () => {
        const parser = new SseParser({ maxBytes: 1 << 24, onEvent: ignore, onOverflow: ignore });
        for (let n = 0; n < COUNT; n++) parser.push(Buffer.from(new Uint8Array(Buffer.from("data:\n"))));
        return parser;
      },
    ],
  ])("%s take little more memory than one piece of a million", (_, hold) => {
    const before = reachableBytes();
    const held = hold();
    // Each in a buffer of its own would be more than 100 MB.
    expect(reachableBytes() - before).toBeLessThan(20_000_000);
    expect(held).toBeDefined();
  });
});
