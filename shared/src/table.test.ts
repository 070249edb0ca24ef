import { expect, it } from "vitest";
import { table } from "./table.ts";
import { truncate, widthOf } from "./text-width.ts";

it("columns are aligned, without trailing blanks", () => {
  expect(
    table([
      ["NAME", "KIND", ""],
      ["a", "binary", "a long remark"],
      ["longer", "npx", ""],
    ]),
  ).toBe(["NAME    KIND", "a       binary  a long remark", "longer  npx", ""].join("\n"));
});

it("numbers are aligned to the right", () => {
  expect(
    table(
      [
        ["NAME", "CALLS", "P50"],
        ["a", "7", "12ms"],
        ["b", "1024", "-"],
      ],
      { right: [1, 2] },
    ),
  ).toBe(["NAME  CALLS   P50", "a         7  12ms", "b      1024     -", ""].join("\n"));
});

it("colours do not count as width", () => {
  const paint = (text: string) => `<${text}>`;
  expect(
    table([
      [{ text: "a", paint }, "b"],
      ["long", "c"],
    ]),
  ).toBe("<a   >  b\nlong  c\n");
});

it("a line that is too long for the terminal is truncated", () => {
  expect(table([["a", "0123456789"]], { width: 8 })).toBe("a  0123…\n");
  expect(table([["0123456789", "b"]], { width: 8 })).toBe("0123456…\n");
});

it("wide characters take two columns, combining marks none", () => {
  expect(widthOf("日本")).toBe(4);
  expect(widthOf("e\u0301")).toBe(1);
  expect(
    table([
      ["日本", "x"],
      ["abcd", "y"],
    ]),
  ).toBe("日本  x\nabcd  y\n");
  expect(truncate("日本語", 5)).toBe("日本…");
});

it("no rows print nothing", () => {
  expect(table([])).toBe("");
});
