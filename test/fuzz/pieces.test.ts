// What is dribbled byte by byte takes memory by its bytes, not by their number.

import { describe, expect, it } from "vitest";
import { LineReader } from "../../hub/src/wire/lines.ts";
import { SseParser } from "../../hub/src/wire/sse.ts";
import { reachableBytes } from "../support/memory.ts";

/** A buffer of its own, as a read from a pipe gives it. */
const oneByte = () => Buffer.from(new Uint8Array([0x78]));
const ignore = () => undefined;

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
