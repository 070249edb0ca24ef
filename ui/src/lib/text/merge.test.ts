import { expect, it } from "vitest";
import { mergeLines } from "./merge.ts";

const BASE = "a\nb\nc\nd\ne\nf\n";

it.each([
  ["of different lines", "A\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nE\nf\n", "A\nb\nc\nd\nE\nf\n"],
  ["that insert and remove", "a\nnew\nb\nc\nd\ne\nf\n", "a\nb\nc\nf\n", "a\nnew\nb\nc\nf\n"],
  ["that are the same", "a\nB\nc\nd\ne\nf\n", "a\nB\nc\nd\ne\nF\n", "a\nB\nc\nd\ne\nF\n"],
  ["of which one is none", BASE, "x\n", "x\n"],
])("joins changes %s", (_, theirs, mine, merged) => {
  expect(mergeLines(BASE, theirs, mine)).toBe(merged);
});

it.each([
  ["of the same line", "a\nB\nc\nd\ne\nf\n", "a\nX\nc\nd\ne\nf\n"],
  ["of neighbours", "a\nB\nc\nd\ne\nf\n", "a\nb\nC\nd\ne\nf\n"],
  ["that insert at the same place", "a\n1\nb\nc\nd\ne\nf\n", "a\n2\nb\nc\nd\ne\nf\n"],
])("does not decide between changes %s", (_, theirs, mine) => {
  expect(mergeLines(BASE, theirs, mine)).toBeUndefined();
});
