import { expect, it } from "vitest";
import { foldedAtFirst, jsonLines, unfolded, type JsonLine } from "./json-lines.ts";

const join = (lines: readonly JsonLine[]) =>
  lines
    .map(({ depth, name, text }) => `${"  ".repeat(depth)}${name === undefined ? "" : `${name}: `}${text}`)
    .join("\n");

it.each([[1], ["a\n"], [null], [true], [[]], [{}], [[1, [2, []]]], [{ a: { b: [{ c: null }], d: "x" } }]])(
  "writes %j as JSON.stringify does",
  (value: unknown) => expect(join(jsonLines(value))).toBe(JSON.stringify(value, null, 2)),
);

it("a folded object hides its members and its end", () => {
  const lines = jsonLines({ a: { b: 1 }, c: 2 });
  expect(unfolded(lines, new Set([1])).map((index) => lines[index]?.text)).toEqual(["{", "{", "2", "}"]);
  expect(lines[1]).toMatchObject({ size: 1, isArray: false });
});

it("only long values are folded at first, and only deep in them", () => {
  expect(foldedAtFirst(jsonLines({ a: { b: { c: { d: [1, 2] } } } })).size).toBe(0);
  const long = jsonLines(Array.from({ length: 30 }, () => ({ a: { b: { c: [1, 2] } } })));
  const folded = foldedAtFirst(long);
  expect(folded.size).toBe(60);
  for (const index of folded) expect(long[index]?.depth).toBeGreaterThanOrEqual(3);
});
