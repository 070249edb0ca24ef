// Splits a byte stream into lines: independent of the chunks, with bounded memory.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineReader } from "./lines.ts";

interface Read {
  readonly lines: string[];
  readonly overflows: number;
}

function read(chunks: readonly Buffer[], { maxBytes = 1000, end = true } = {}): Read {
  const lines: string[] = [];
  let overflows = 0;
  const reader = new LineReader({
    maxBytes,
    onLine: (line) => lines.push(line.toString()),
    onOverflow: () => overflows++,
  });
  for (const chunk of chunks) reader.push(chunk);
  if (end) reader.end();
  return { lines, overflows };
}

const TEXT = 'first\r\nzweite Zeile: äöü €\n\n\r\n{"emoji":"\u{1f600}"}\r\n \r inside\r\n日本語 without an end';
const LINES = ["first", "zweite Zeile: äöü €", '{"emoji":"\u{1f600}"}', " \r inside", "日本語 without an end"];

describe("LineReader", () => {
  it("F07 the lines are the same for every pair of split points, including CRLF and multi-byte characters", () => {
    const bytes = Buffer.from(TEXT);
    for (let first = 0; first <= bytes.length; first++) {
      for (let second = first; second <= bytes.length; second++) {
        const chunks = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
        if (read(chunks).lines.join("|") !== LINES.join("|")) expect.fail(`split at ${first} and ${second}`);
      }
    }
    expect(read([bytes]).lines).toEqual(LINES);
  });

  it("F07 the lines are the same byte by byte", () => {
    const bytes = [...Buffer.from(TEXT)].map((byte) => Buffer.from([byte]));
    expect(read(bytes)).toEqual({ lines: LINES, overflows: 0 });
  });

  it("F07 the lines equal a split at newlines, for any bytes and any chunks", () => {
    const chunk = fc.string({ unit: fc.constantFrom("a", "é", "\n", "\r", "\r\n"), maxLength: 8 });
    fc.assert(
      fc.property(fc.array(chunk), (chunks) => {
        const whole = chunks.join("");
        const pieces = whole.split("\n");
        if (pieces.at(-1) === "") pieces.pop();
        const expected = pieces.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
        const { lines } = read(chunks.map((text) => Buffer.from(text)));
        expect(lines).toEqual(expected.filter((line) => line !== ""));
      }),
      { numRuns: 500 },
    );
  });

  it("F07 a last line without a newline is emitted at the end", () => {
    expect(read([Buffer.from("a\nb")], { end: false }).lines).toEqual(["a"]);
    expect(read([Buffer.from("a\nb")]).lines).toEqual(["a", "b"]);
    expect(read([]).lines).toEqual([]);
  });

  it.each([
    ["in one chunk", (line: Buffer) => [line]],
    ["byte by byte", (line: Buffer) => [...line].map((byte) => Buffer.from([byte]))],
  ])("F08 a line of exactly the limit is accepted, one byte more is not: %s", (_, cut) => {
    const line = (length: number) => cut(Buffer.from(`${"x".repeat(length)}\n`));
    expect(read(line(10), { maxBytes: 10 })).toEqual({ lines: ["x".repeat(10)], overflows: 0 });
    expect(read(line(11), { maxBytes: 10 })).toEqual({ lines: [], overflows: 1 });
  });

  it("F08 the limit is per line, not per stream", () => {
    expect(read([Buffer.from("12345678\n".repeat(100))], { maxBytes: 8 }).lines).toHaveLength(100);
  });

  it("F08 lines before one that is too long are emitted, none after it, and the overflow is reported once", () => {
    const chunks = ["before\n", "much too long, much too long", " and longer\nafter\n", "later\n"];
    expect(
      read(
        chunks.map((text) => Buffer.from(text)),
        { maxBytes: 10 },
      ),
    ).toEqual({ lines: ["before"], overflows: 1 });
  });

  it("T18 many small chunks of one long line cost linear time", () => {
    const chunk = Buffer.from("x".repeat(10));
    const count = 400_000;
    const startedAt = performance.now();
    const { lines } = read(
      Array.from({ length: count }, () => chunk),
      { maxBytes: 1 << 24 },
    );
    // About 100 ms. A copy per chunk would move 800 GB.
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(lines[0]).toHaveLength(count * chunk.length);
  });
});
