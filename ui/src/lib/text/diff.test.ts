import fc from "fast-check";
import { expect, it } from "vitest";
import { diffLines } from "./diff.ts";

const short = (before: string, after: string) =>
  diffLines(before, after).map(({ kind, text }) => `${{ same: " ", added: "+", removed: "-" }[kind]}${text}`);

it("shows what was added and removed, and numbers both sides", () => {
  expect(short("a\nb\nc\n", "a\nx\nc\nd\n")).toEqual([" a", "-b", "+x", " c", "+d"]);
  expect(diffLines("a\n", "b\na\n")).toEqual([
    { kind: "added", text: "b", before: undefined, after: 1 },
    { kind: "same", text: "a", before: 1, after: 2 },
  ]);
});

it("a new file is all added, the same text all the same", () => {
  expect(short("", "a\nb")).toEqual(["+a", "+b"]);
  expect(short("a\nb", "a\nb")).toEqual([" a", " b"]);
});

it("either side can be put together again from the lines", () => {
  const text = fc.array(fc.constantFrom("a", "b", "c", "{", "}"), { maxLength: 30 }).map((lines) => lines.join("\n"));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(before, after);
      const side = (without: string) =>
        lines
          .filter(({ kind }) => kind !== without)
          .map((line) => line.text)
          .join("\n");
      expect(side("added")).toBe(before);
      expect(side("removed")).toBe(after);
    }),
  );
});

it("texts that differ too much are shown as replaced", () => {
  const many = (mark: string) => Array.from({ length: 3000 }, (_, i) => `${mark}${i}`).join("\n");
  expect(diffLines(many("a"), many("b"))).toHaveLength(6000);
});
