import { expect, it } from "vitest";
import { type Line, LineSplitter } from "./lines.ts";

function lines(pieces: readonly (string | Buffer)[], maxBytes = 100): Line[] {
  const found: Line[] = [];
  const splitter = new LineSplitter(maxBytes, (line) => found.push(line));
  for (const piece of pieces) splitter.push(Buffer.from(piece));
  splitter.end();
  return found;
}

it("lines are the same for any chunking; empty lines count", () => {
  const text = "a\r\n\nö日\n\u2028b";
  const whole = [
    { text: "a", number: 1 },
    { text: "", number: 2 },
    { text: "ö日", number: 3 },
    { text: "\u2028b", number: 4, isUnterminated: true },
  ];
  expect(lines([text])).toEqual(whole);
  expect(lines(Array.from(Buffer.from(text), (byte) => Buffer.from([byte])))).toEqual(whole);
});

it("a line beyond the limit is truncated and marked; the next one is complete", () => {
  const found = lines(["x".repeat(60), "x".repeat(60), "x".repeat(60), "\nnext\n"]);
  expect(found).toEqual([
    { text: "x".repeat(100), number: 1, problem: "too long" },
    { text: "next", number: 2 },
  ]);
});

it("invalid UTF-8 is marked; a written replacement character is not", () => {
  const found = lines([Buffer.from([0x61, 0xff, 0x0a]), "\ufffd\n"]);
  expect(found).toEqual([
    { text: "a\ufffd", number: 1, problem: "no UTF-8" },
    { text: "\ufffd", number: 2 },
  ]);
});
