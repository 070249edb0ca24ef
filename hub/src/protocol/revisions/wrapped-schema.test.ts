import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { wrapSchema } from "./wrapped-schema.ts";

const TREE = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "array",
  items: { $ref: "#/$defs/node" },
  $defs: {
    node: { type: "object", properties: { name: { type: "string" }, below: { $ref: "#" } }, required: ["name"] },
  },
};

describe("wrapSchema", () => {
  it("GR-5 a wrapped value is valid if and only if the value was, references included", () => {
    const ajv = new Ajv2020({ strict: false });
    const [plain, wrapped] = [ajv.compile(TREE), ajv.compile(wrapSchema(TREE))];
    const values = [
      [],
      [{ name: "a" }],
      [{ name: "a", below: [{ name: "b" }] }],
      [{}],
      [{ name: "a", below: [7] }],
      7,
      {},
    ];
    for (const value of values) expect(wrapped({ result: value })).toBe(plain(value));
    expect(values.filter((value) => plain(value))).toHaveLength(3);
    expect(wrapped({})).toBe(false);
  });

  it("keeps the dialect of the document", () => {
    expect(wrapSchema(TREE)["$schema"]).toBe(TREE.$schema);
  });

  it.each([
    ["data", { const: { $ref: "#/a" }, enum: [{ $ref: "#" }], default: { $ref: "#" }, examples: [{ $ref: "#" }] }],
    ["a document of its own", { $id: "urn:x", $ref: "#/$defs/a", $defs: { a: {} } }],
    ["an anchor", { $ref: "#here", $defs: { a: { $anchor: "here" } } }],
    ["another document", { $ref: "https://example.com/a#/b" }],
    ["a boolean schema", true],
    ["none", undefined],
  ])("does not change %s", (_, schema) => {
    expect(wrapSchema(schema)).toEqual({ type: "object", properties: { result: schema }, required: ["result"] });
  });

  it("adjusts references under arbitrary names", () => {
    const schema = { properties: { const: { $ref: "#/$defs/a" }, $ref: { type: "string" } }, allOf: [{ $ref: "#" }] };
    expect(wrapSchema(schema)).toMatchObject({
      properties: {
        result: {
          properties: { const: { $ref: "#/properties/result/$defs/a" }, $ref: { type: "string" } },
          allOf: [{ $ref: "#/properties/result" }],
        },
      },
    });
  });
});
