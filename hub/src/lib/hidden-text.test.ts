import { describe, expect, it } from "vitest";
import { findHidden, revealHidden } from "./hidden-text.ts";

describe("T29 invisible text", () => {
  it.each<[string, string[], string]>([
    ["plain\ttext\r\n", [], "plain\ttext\r\n"],
    ["grün, 日本語, עברית, हिन्दी क्‍ष", [], "grün, 日本語, עברית, हिन्दी क्‍ष"],
    ["👨‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️ نمی‌خواهم", [], "👨‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️ نمی‌خواهم"],
    ["a\u202eb\u2066c", ["U+202E", "U+2066"], "a\\u202eb\\u2066c"],
    ["a\u200bb\ufeff\u2060\u00ad", ["U+200B", "U+FEFF", "U+2060", "U+00AD"], "a\\u200bb\\ufeff\\u2060\\u00ad"],
    ["a\u{e0041}\u{e0042}\u{e0041}", ["U+E0041", "U+E0042"], "a\\u{e0041}\\u{e0042}\\u{e0041}"],
    ["\u{1f600}\u{e0101}\u{e0102}", ["U+E0101", "U+E0102"], "\u{1f600}\\u{e0101}\\u{e0102}"],
    ["a\u200dz", ["U+200D"], "a\\u200dz"],
    ["\u001b[31m\u009b", ["U+001B", "U+009B"], "\\u001b[31m\\u009b"],
    ["\u3164\u115f", ["U+3164", "U+115F"], "\\u3164\\u115f"],
  ])("%j: %j", (text, found, shown) => {
    expect(findHidden(text)).toEqual(found);
    expect(revealHidden(text)).toBe(shown);
  });

  it("T18 the time is linear in the length", () => {
    expect(findHidden(`\u{1f3f4}${"\u{e0061}".repeat(1_000_000)}`)).toEqual(["U+E0061"]);
    expect(findHidden("\u200c\u200d".repeat(1_000_000))).toEqual(["U+200C", "U+200D"]);
  });
});
