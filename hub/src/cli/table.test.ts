import { expect, it } from "vitest";
import { table } from "./table.ts";
import { count, cut, firstLine, oneLine, printable, widthOf } from "./text.ts";

it("columns are aligned, without blanks at the end", () => {
  expect(
    table([
      ["NAME", "KIND", ""],
      ["a", "binary", "a long remark"],
      ["longer", "npx", ""],
    ]),
  ).toBe(["NAME    KIND", "a       binary  a long remark", "longer  npx", ""].join("\n"));
});

it("numbers are aligned at their end", () => {
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

it("paint is put on what is shown, and takes no room", () => {
  const paint = (text: string) => `<${text}>`;
  expect(
    table([
      [{ text: "a", paint }, "b"],
      ["long", "c"],
    ]),
  ).toBe("<a   >  b\nlong  c\n");
});

it("a line that is too long for the terminal is cut", () => {
  expect(table([["a", "0123456789"]], { width: 8 })).toBe("a  0123…\n");
  expect(table([["0123456789", "b"]], { width: 8 })).toBe("0123456…\n");
});

it("wide characters take two columns, marks take none", () => {
  expect(widthOf("日本")).toBe(4);
  expect(widthOf("e\u0301")).toBe(1);
  expect(
    table([
      ["日本", "x"],
      ["abcd", "y"],
    ]),
  ).toBe("日本  x\nabcd  y\n");
  expect(cut("日本語", 5)).toBe("日本…");
});

it("a cell is one line, whatever it holds", () => {
  expect(table([["a\nb\u001b[31m\r", "c"]])).toBe("a b   c\n");
});

it("no rows are nothing", () => {
  expect(table([])).toBe("");
});

it("what could move the cursor is taken out of text", () => {
  expect(oneLine("a\nb\u001b[2Jc\td")).toBe("a bc d");
  expect(printable("a\r\nb\u001b[2Jc\td\u0007\u2028")).toBe("a\nbc\td");
});

it("small words", () => {
  expect([count(0, "tool"), count(1, "tool"), count(2, "tool")]).toEqual(["0 tools", "1 tool", "2 tools"]);
  expect([firstLine("a\nb"), firstLine("a"), firstLine("")]).toEqual(["a", "a", ""]);
});
