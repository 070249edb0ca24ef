import fc from "fast-check";
import { expect, it } from "vitest";
import { indentJson } from "./indent-json.ts";

it.each([
  ['{"id":12345678901234567890,"depth":1.0}', '{\n  "id": 12345678901234567890,\n  "depth": 1.0\n}'],
  ['{ "a" : [ ] , "b":{ },"c":"\\u00e9 {[,:]} \\"" }', '{\n  "a": [],\n  "b": {},\n  "c": "\\u00e9 {[,:]} \\""\n}'],
  ["-0.10e+5", "-0.10e+5"],
  ["[1,[null,true]]", "[\n  1,\n  [\n    null,\n    true\n  ]\n]"],
])("CL-5 %s keeps its numbers and escapes", (text, expected) => {
  expect(indentJson(text)).toBe(expected);
});

it("equals JSON.stringify if that is lossless", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, "\t"), (value, space) => {
      expect(indentJson(JSON.stringify(value, null, space))).toBe(JSON.stringify(value, null, 2));
    }),
  );
});
