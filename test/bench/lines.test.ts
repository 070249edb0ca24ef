import { expect, it } from "vitest";
import { gatherWrites, splitLines } from "./lines.ts";

it.each([1, 2, 3, 7, 100])("gives the same lines in chunks of %d bytes", (size) => {
  const text = Buffer.from('{"a":"é"}\n\nsecond\nrest');
  const lines: string[] = [];
  const read = splitLines((line) => lines.push(line.toString()));
  for (let at = 0; at < text.length; at += size) read(text.subarray(at, at + size));
  expect(lines).toEqual(['{"a":"é"}', "second"]);
});

it("writes once per event-loop turn", async () => {
  const written: string[] = [];
  const write = gatherWrites((text) => written.push(text));
  write("a");
  write("b");
  await new Promise((resolve) => setImmediate(resolve));
  write("c");
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toEqual(["ab", "c"]);
});
