import { expect, it } from "vitest";
import { visibleParts } from "./visible.ts";

it("leaves ordinary text of any language alone", () => {
  for (const text of ["", "search_issues", "größe\n\tzwei", "عربي", "👩\u200D🚀"])
    expect(visibleParts(text)).toEqual([{ text, mark: false }]);
});

it("shows characters that hide or turn text around", () => {
  expect(visibleParts("a\u202Eb\u200B")).toEqual([
    { text: "a", mark: false },
    { text: "⟨U+202E⟩", mark: true },
    { text: "b", mark: false },
    { text: "⟨U+200B⟩", mark: true },
  ]);
  expect(visibleParts("a\u200Db")).toHaveLength(3);
  expect(visibleParts("\u{E0041}\u0000").map(({ text }) => text)).toEqual(["⟨U+E0041⟩", "⟨U+0000⟩"]);
});
