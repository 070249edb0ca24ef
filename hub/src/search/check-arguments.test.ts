import { expect, it } from "vitest";
import { checkArguments } from "./check-arguments.ts";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

it.each([
  ["a missing argument", object({ a: {} }, { required: ["a"] }), {}, "", /"a"/],
  ["a wrong type", object({ a: { type: "number" } }), { a: "1" }, "a", /number/],
  ["a wrong type inside", object({ a: object({ b: { type: "number" } }) }), { a: { b: "1" } }, "a.b", /number/],
  ["an unknown argument", object({ a: {} }, { additionalProperties: false }), { b: 1 }, "b", /no such/],
  ["none of the choices", object({ a: { enum: ["x", "y"] } }), { a: "z" }, "a", /x/],
])("RG-3 names the field of %s", (_, schema, given, field, message) => {
  expect(checkArguments(schema, given)).toEqual({ field, message: expect.stringMatching(message) });
});

it.each([
  ["what matches", object({ a: { type: "number" } }, { required: ["a"] }), { a: 1 }],
  ["no schema", undefined, { a: 1 }],
  ["a schema that is none", "object", { a: 1 }],
  ["a reference to another document", object({ a: { $ref: "https://example.com/a.json" } }), { a: 1 }],
  ["a pattern, which the server checks", object({ a: { pattern: "^(a+)+$" } }), { a: `${"a".repeat(64)}!` }],
  [
    "properties that match a pattern",
    object({}, { patternProperties: { "^x": {} }, additionalProperties: false }),
    { x: 1 },
  ],
  ["an argument that is called pattern", object({ pattern: { type: "string" } }), { pattern: "x" }],
  ["a constant with a key called format", object({ a: { const: { format: "x" } } }), { a: { format: "x" } }],
  [
    "draft 7",
    object({ a: { items: [{ type: "string" }] } }, { $schema: "http://json-schema.org/draft-07/schema#" }),
    { a: ["x"] },
  ],
])("RG-3 accepts %s", (_, schema, given) => {
  expect(checkArguments(schema, given)).toBeUndefined();
});
