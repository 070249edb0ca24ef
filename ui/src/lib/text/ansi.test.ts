import { expect, it } from "vitest";
import { ansiParts, plain } from "./ansi.ts";

it("maps the colours of a terminal to those of the design", () => {
  expect(ansiParts("\u001B[1;31mError\u001B[0m: no file")).toEqual([
    { text: "Error", colour: "err", bold: true },
    { text: ": no file", colour: undefined, bold: false },
  ]);
});

it("drops what moves the cursor, sets titles or links", () => {
  const line = "\u001B[2K\u001B]0;title\u0007a\u001B]8;;http://x\u001B\\b";
  expect(ansiParts(line).map(({ text }) => text)).toEqual(["a", "b"]);
  expect(plain(line)).toBe("ab");
});

it("leaves other lines alone", () => {
  expect(ansiParts("plain [1m text")).toEqual([{ text: "plain [1m text", colour: undefined, bold: false }]);
});
