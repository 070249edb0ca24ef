import { describe, expect, it } from "vitest";
import { parseJson, type Json } from "../text/json.ts";
import { validate } from "./validate.ts";

const schema: Json = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2 },
    count: { type: "integer", minimum: 1 },
    kind: { enum: ["a", "b"] },
    tags: { type: "array", items: { $ref: "#/$defs/tag" } },
    either: { anyOf: [{ type: "string" }, { type: "object", required: ["x"] }] },
  },
  required: ["name"],
  additionalProperties: false,
  $defs: { tag: { type: "string", maxLength: 3 } },
};

describe("what does not fit the schema", () => {
  it.each<[string, string[]]>([
    ['{"name":"ab"}', []],
    ['{"name":"a"}', ["/name must have at least 2 characters"]],
    ['{"name":"ab","count":"5"}', ["/count must be a whole number"]],
    ['{"name":"ab","count":0}', ["/count must be at least 1"]],
    ['{"name":"ab","kind":"c"}', ['/kind must be one of "a", "b"']],
    ['{"name":"ab","tags":["abc","abcd"]}', ["/tags/1 must have at most 3 characters"]],
    ['{"name":"ab","either":5}', ["/either fits none of the variants"]],
    ['{"name":"ab","extra":1}', ["/extra is not expected here"]],
    ["{}", [" lacks name"]],
    ['{"name":"ab","count":9007199254740993}', []],
  ])("%s", async (text, expected) => {
    const issues = await validate(schema, parseJson(text));
    expect(issues?.map(({ pointer, message }) => `${pointer} ${message}`)).toEqual(expected);
  });

  it("does not change the schema, and reads draft-07", async () => {
    const old: Json = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "array",
      items: [{ type: "number" }],
    };
    const before = JSON.stringify(old);
    expect(await validate(old, ["x"])).toHaveLength(1);
    expect(JSON.stringify(old)).toBe(before);
  });

  it("a schema that cannot be used gives no verdict", async () => {
    expect(await validate({ $ref: "https://example.com/x" }, {})).toBeUndefined();
    expect(await validate({ type: "string", pattern: "(" }, "x")).toBeUndefined();
  });
});
