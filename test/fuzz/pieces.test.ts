// The memory for a message that arrives byte by byte depends on its size, not on the number of chunks.

import { describe, expect, it } from "vitest";
import { LineReader } from "../../hub/src/lib/streams/lines.ts";
import { SseParser } from "@plugboard/shared/streams/sse";
import { reachableBytes } from "../support/memory.ts";

/** A chunk with its own buffer, as a read from a pipe returns it. */
const oneByte = () => Buffer.from(new Uint8Array([0x78]));
const ignore = () => undefined;

describe("a million chunks of one byte", () => {
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
  ])("%s use little more memory than one chunk of a megabyte", (_, hold) => {
    const before = reachableBytes();
    const held = hold();
    // With a buffer per chunk it would be more than 100 MB.
    expect(reachableBytes() - before).toBeLessThan(20_000_000);
    expect(held).toBeDefined();
  });
});
