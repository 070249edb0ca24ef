import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { type Line, lineGroups } from "./lines.ts";

async function lines(pieces: readonly (string | Buffer)[], maxBytes = 100): Promise<Line[]> {
  const found: Line[] = [];
  const chunks = Readable.from(pieces.map((piece) => Buffer.from(piece)));
  for await (const group of lineGroups(chunks, { maxBytes })) found.push(...group);
  return found;
}

it("lines, however they are cut; empty ones count", async () => {
  const text = "a\r\n\nö日\n\u2028b";
  const whole = [
    { text: "a", number: 1 },
    { text: "", number: 2 },
    { text: "ö日", number: 3 },
    { text: "\u2028b", number: 4 },
  ];
  expect(await lines([text])).toEqual(whole);
  expect(await lines(Array.from(Buffer.from(text), (byte) => Buffer.from([byte])))).toEqual(whole);
});

it("a line that is too long is cut and told; the next one is whole", async () => {
  const found = await lines(["x".repeat(60), "x".repeat(60), "x".repeat(60), "\nnext\n"]);
  expect(found).toEqual([
    { text: "x".repeat(100), number: 1, trouble: "too long" },
    { text: "next", number: 2 },
  ]);
});

it("bytes that are no UTF-8 are told; the sign for them, when it was written, is not", async () => {
  const found = await lines([Buffer.from([0x61, 0xff, 0x0a]), "\ufffd\n"]);
  expect(found).toEqual([
    { text: "a\ufffd", number: 1, trouble: "no UTF-8" },
    { text: "\ufffd", number: 2 },
  ]);
});
