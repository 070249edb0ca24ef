// The framing of stdio: the lines of any bytes in any chunks, compared with splitting the whole text.

import { expect, it } from "vitest";
import { LineReader } from "../../hub/src/lib/streams/lines.ts";
import { cutUp } from "../support/mutator.ts";
import { fuzz, FUZZ_MS } from "./fuzz.ts";
import { counted } from "./steps.ts";

const MAX_BYTES = 120;

const CORPUS = [
  '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}\n{"jsonrpc":"2.0","method":"n"}\n',
  "a\r\nb\r\n\r\n\n\rc\n",
  `${"x".repeat(MAX_BYTES)}\n${"y".repeat(MAX_BYTES - 1)}\r\nz\n`,
  "äöü €\n日本語\u2028\n\u{1f600}",
  "\n\n\n\n",
];

function read(chunks: readonly Buffer[]) {
  const lines: string[] = [];
  let overflows = 0;
  const reader = new LineReader({
    maxBytes: MAX_BYTES,
    onLine: (line) => lines.push(line.toString("latin1")),
    onOverflow: () => overflows++,
  });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return { lines, overflows };
}

/** The reference: splits the whole text. */
function expected(input: Buffer) {
  const pieces = input.toString("latin1").split("\n");
  // Text after the last newline is a line unless it is empty.
  if (pieces.at(-1) === "") pieces.pop();
  const tooLong = pieces.findIndex((piece) => piece.length > MAX_BYTES);
  const kept = tooLong < 0 ? pieces : pieces.slice(0, tooLong);
  const lines = kept.map((piece) => (piece.endsWith("\r") ? piece.slice(0, -1) : piece));
  return { lines: lines.filter((line) => line !== ""), overflows: tooLong < 0 ? 0 : 1 };
}

it("F07 F08 SE-5 lines do not depend on the chunks, and the work is linear in the bytes", { timeout: FUZZ_MS }, () => {
  const outcomes = fuzz({
    name: "lines",
    corpus: CORPUS,
    quickRuns: 20_000,
    check: (input, random) => {
      const whole = counted(input);
      const result = read([whole.bytes]);
      if (JSON.stringify(result) !== JSON.stringify(expected(input))) expect.fail("not the lines of the whole");
      if (whole.steps() > 2 * input.length + 2) expect.fail(`${whole.steps()} steps for ${input.length} bytes`);
      const cut = read(cutUp(input, random));
      if (JSON.stringify(cut) !== JSON.stringify(result)) expect.fail("other lines when cut");
      return cut.overflows > 0 ? "too long" : "lines";
    },
  });
  expect(new Set(outcomes.keys())).toEqual(new Set(["lines", "too long"]));
});
