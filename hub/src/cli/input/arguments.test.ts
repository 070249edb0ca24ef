import { describe, expect, it } from "vitest";
import type { HubError } from "../../errors.ts";
import { parseArguments, parseJsonObject } from "./arguments.ts";

const schema = {
  type: "object",
  properties: {
    text: { type: "string" },
    n: { type: "number" },
    whole: { type: "integer" },
    flag: { type: "boolean" },
    list: { type: "array" },
    map: { type: "object" },
    maybe: { type: ["string", "null"] },
    // The schema that Python servers generate for an optional text.
    optional: { anyOf: [{ type: "string" }, { type: "null" }] },
    either: { oneOf: [{ type: "integer" }, { type: "string" }] },
    any: { description: "no type" },
  },
};

const refusal = (run: () => unknown): HubError => {
  try {
    run();
  } catch (error) {
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the tests look at its fields
    return error as HubError;
  }
  throw new Error("Accepted");
};

describe("key=value", () => {
  it.each([
    ["text=3", { text: "3" }],
    ["text=true", { text: "true" }],
    ['text="quoted"', { text: '"quoted"' }],
    ['text={"a":1}', { text: '{"a":1}' }],
    ["text=", { text: "" }],
    ["text=a=b", { text: "a=b" }],
    ["text= spaces ", { text: " spaces " }],
    ["n=3", { n: 3 }],
    ["n=-2.5e3", { n: -2500 }],
    ["whole=7", { whole: 7 }],
    ["flag=false", { flag: false }],
    ['list=[1, "a"]', { list: [1, "a"] }],
    ['map={"a": {"b": null}}', { map: { a: { b: null } } }],
    ["maybe=3", { maybe: "3" }],
    ["maybe=null", { maybe: null }],
    ["optional=0123", { optional: "0123" }],
    ["optional=123", { optional: "123" }],
    ["either=5", { either: 5 }],
    ["either=five", { either: "five" }],
    ["any=5", { any: 5 }],
    ["any=five", { any: "five" }],
    ['any="five"', { any: '"five"' }],
    ["unknown=true", { unknown: true }],
    ["unknown=no JSON", { unknown: "no JSON" }],
    ["toString=1", { toString: 1 }],
  ])("%s is %j", (word, expected) => {
    expect(parseArguments([word], schema).value).toEqual(expected);
  });

  it.each([
    ["n=three", "n"],
    ["n=", "n"],
    ['n="3"', "n"],
    ["whole=3.5", "whole"],
    ["flag=yes", "flag"],
    ["list=a,b", "list"],
    ["map=[]", "map"],
  ])("%s is rejected, and the field is named", (word, field) => {
    expect(refusal(() => parseArguments([word], schema))).toMatchObject({ code: "VALIDATION_ERROR", field });
  });

  it("of several values of a name, the last one counts", () => {
    expect(parseArguments(["n=1", "text=a b", "n=2"], schema).value).toEqual({ n: 2, text: "a b" });
  });

  it.each([[["word"]], [["=value"]], [["n=1", "word"]], [['{"a":1}', "n=1"]], [["[1]"]]])(
    "%j is rejected with an example",
    (words) => {
      const error = refusal(() => parseArguments(words, schema));
      expect(error.code).toBe("VALIDATION_ERROR");
      expect(error.hint).toContain("key=value");
    },
  );

  it.each([undefined, null, 7, [], {}, { properties: [] }, { properties: { n: "number" } }])(
    "with the schema %j each value is parsed by its form",
    (odd) => {
      expect(parseArguments(["n=3", "text=a"], odd).value).toEqual({ n: 3, text: "a" });
    },
  );

  it("a name like __proto__ is an ordinary name", () => {
    const { value: args } = parseArguments(["__proto__=1"], schema);
    expect(Object.keys(args)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
  });
});

describe("CL-5 numbers keep their digits", () => {
  it.each([
    [["n=12345678901234567890", "any=1.0", "text=1.0"], '{"n":12345678901234567890,"any":1.0,"text":"1.0"}'],
    [["list=[1.0, 12345678901234567890]"], '{"list":[1.0, 12345678901234567890]}'],
    [[' {"n": 12345678901234567890} '], '{"n": 12345678901234567890}'],
  ])("%j", (words, expected) => {
    expect(parseArguments(words, schema).bytes.toString()).toBe(expected);
  });
});

describe("JSON", () => {
  it.each([['{"text": "a", "n": 1}'], [' \n{"text":"a","n":1}']])("%s", (word) => {
    expect(parseArguments([word], schema).value).toEqual({ text: "a", n: 1 });
  });

  it("no arguments are an empty object", () => {
    expect(parseArguments([], schema).value).toEqual({});
  });

  it.each(["", "{", "[]", "1", "null", '"text"', "a=b"])("%j is not an object", (text) => {
    expect(refusal(() => parseJsonObject(text))).toMatchObject({ code: "VALIDATION_ERROR" });
  });
});
