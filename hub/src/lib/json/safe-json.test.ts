import { expect, it } from "vitest";
import { safeJson } from "./safe-json.ts";

it.each([
  ["a C1 control", "\u009b31m", String.raw`"\u009b31m"`],
  ["DEL", "\u007f", String.raw`"\u007f"`],
  ["bidi overrides and isolates", "\u202e\u2066\u2069", String.raw`"\u202e\u2066\u2069"`],
  ["line separators", "\u2028\u2029", String.raw`"\u2028\u2029"`],
  ["tag characters", "\u{e0041}", String.raw`"\udb40\udc41"`],
  ["what is harmless", "ä 日本 😀 👨‍👩‍👧", '"ä 日本 😀 👨‍👩‍👧"'],
])("%s", (_, text, json) => {
  const safe = safeJson(JSON.stringify(text));
  expect(safe).toBe(json);
  expect(JSON.parse(safe)).toBe(text);
});
