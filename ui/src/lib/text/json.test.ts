import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  JsonSyntaxError,
  NumberText,
  parseJson,
  toJsonText,
  toNumber,
  toPlain,
  withMember,
  type Json,
} from "./json.ts";

describe("lossless JSON", () => {
  it.each([
    "9007199254740993",
    "123456789012345678901234567890",
    "1.10",
    "1e400",
    "-0",
    '{"__proto__":{"a":1},"b":[]}',
    '{"a":[1,2.5,null,true,"\\u0000"]}',
  ])("%s comes back as it was", (text) => {
    expect(toJsonText(parseJson(text))).toBe(text.replace("\\u0000", "\\u0000"));
  });

  it("reads and writes whatever JSON.parse does", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(toPlain(parseJson(text))).toEqual(JSON.parse(text));
        expect(JSON.parse(toJsonText(parseJson(text), 2))).toEqual(JSON.parse(text));
      }),
    );
  });

  it("indents like JSON.stringify", () => {
    const value: Json = { a: [1, { b: [] }], c: {}, d: "x" };
    expect(toJsonText(value, 2)).toBe(JSON.stringify(value, null, 2));
  });

  it.each([
    ["", 0],
    ["{", 1],
    ["[1,]", 3],
    ['{"a" 1}', 5],
    ['"abc', 0],
    ["nul", 0],
    ["01", 1],
    ["1 2", 2],
    ["'a'", 0],
  ])("%j is refused at %i", (text, at) => {
    let error: unknown;
    try {
      parseJson(text);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(JsonSyntaxError);
    expect((error as JsonSyntaxError).at).toBe(at);
  });

  it("very deep nesting is refused, not a stack overflow", () => {
    expect(() => parseJson("[".repeat(100_000))).toThrow(JsonSyntaxError);
  });

  it("a big integer stays text, a small one is a number", () => {
    expect(toNumber("5")).toBe(5);
    expect(toNumber("9007199254740993")).toEqual(new NumberText("9007199254740993"));
    expect(toNumber("five")).toBeUndefined();
  });

  it("changes one member and keeps the others in order", () => {
    const before = parseJson('{"z":1,"__proto__":2,"a":3}') as Record<string, Json>;
    expect(toJsonText(withMember(before, "z", "x"))).toBe('{"z":"x","__proto__":2,"a":3}');
    expect(toJsonText(withMember(before, "__proto__", undefined))).toBe('{"z":1,"a":3}');
    expect(toJsonText(withMember({}, "__proto__", 1))).toBe('{"__proto__":1}');
  });
});
