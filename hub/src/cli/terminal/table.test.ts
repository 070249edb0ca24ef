import { expect, it } from "vitest";
import { table } from "./table.ts";
import { count, firstLine, oneLine, printable } from "./text.ts";

it("a cell is one line for any text", () => {
  expect(table([["a\nb\u001b[31m\r", "c"]])).toBe("a b   c\n");
});

it("cursor controls are removed from text", () => {
  expect(oneLine("a\nb\u001b[2Jc\td")).toBe("a bc d");
  expect(printable("a\r\nb\u001b[2Jc\td\u0007\u2028")).toBe("a\nbc\td");
});

it("counts with singular and plural, and first lines", () => {
  expect([count(0, "tool"), count(1, "tool"), count(2, "tool")]).toEqual(["0 tools", "1 tool", "2 tools"]);
  expect([firstLine("a\nb"), firstLine("a"), firstLine("")]).toEqual(["a", "a", ""]);
});
