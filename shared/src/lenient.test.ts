import { expect, it } from "vitest";
import { decodeUri, parseJson } from "./lenient.ts";

it.each([
  ['{"a":1}', { a: 1 }],
  ["null", null],
  ["", undefined],
  ["{", undefined],
])("parses %j as %j", (text, value) => {
  expect(parseJson(text)).toEqual(value);
});

it.each([
  ["a%20b", "a b"],
  ["%C3%A4", "ä"],
  ["100%", "100%"],
  ["%ff", "%ff"],
])("decodes %s to %s", (text, decoded) => {
  expect(decodeUri(text)).toBe(decoded);
});
