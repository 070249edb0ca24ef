import { describe, expect, it } from "vitest";
import { parseJson, toJsonText, withMember, type Json, type JsonObject } from "../text/json.ts";
import { describeField, MAX_DEPTH } from "./describe.ts";
import { branchOf, hasSecret, initialValue, missingMembers, switchBranch } from "./values.ts";

const kindOf = (schema: Json, root: Json = schema) => describeField(schema, root).kind;

describe("how a schema is shown as a form", () => {
  it.each<[string, Json, string]>([
    ["a string", { type: "string" }, "string"],
    ["an integer", { type: "integer" }, "number"],
    ["a boolean", { type: "boolean" }, "boolean"],
    ["an enum", { type: "string", enum: ["a", "b"] }, "enum"],
    ["an enum with titles", { oneOf: [{ const: "a", title: "A" }, { const: "b" }] }, "enum"],
    ["a constant", { const: 5 }, "const"],
    ["several of an enum", { type: "array", items: { enum: ["a", "b"] } }, "multi"],
    ["a list", { type: "array", items: { type: "string" } }, "array"],
    ["a list without a rule for its items", { type: "array" }, "json"],
    ["a tuple", { type: "array", prefixItems: [{ type: "string" }] }, "json"],
    ["an object", { type: "object", properties: { a: {} } }, "object"],
    ["an object of any members of one type", { type: "object", additionalProperties: { type: "number" } }, "object"],
    ["an object without rules", { type: "object" }, "json"],
    ["names by pattern", { type: "object", patternProperties: { "^x": {} } }, "json"],
    ["no rule at all", {}, "json"],
    ["true", true, "json"],
    ["a union", { anyOf: [{ type: "string" }, { type: "object", properties: { a: {} } }] }, "choice"],
    ["two types", { type: ["string", "number"] }, "choice"],
    ["a nullable string", { type: ["string", "null"] }, "string"],
    ["an optional value of Python", { anyOf: [{ type: "integer" }, { type: "null" }], default: null }, "number"],
    ["properties without a type", { properties: { a: { type: "string" } } }, "object"],
    ["a string by its length", { minLength: 1 }, "string"],
  ])("%s", (_, schema, expected) => {
    expect(kindOf(schema)).toBe(expected);
  });

  it.each<[JsonObject, string]>([
    [{ format: "date" }, "date"],
    [{ format: "date-time" }, "date-time"],
    [{ format: "email" }, "email"],
    [{ format: "uri" }, "uri"],
    [{ format: "password" }, "password"],
    [{ format: "markdown" }, "textarea"],
    [{ maxLength: 5000 }, "textarea"],
    [{ maxLength: 20 }, "text"],
    [{ format: "unknown" }, "text"],
  ])("a string with %j", (rules, widget) => {
    expect(describeField({ type: "string", ...rules }, true)).toMatchObject({ kind: "string", widget });
  });

  it("follows references, also beside other words, and percent-encoded", () => {
    const root: Json = { $defs: { "a b/c": { type: "string", title: "inner" } }, properties: {} };
    expect(describeField({ $ref: "#/$defs/a%20b~1c", description: "outer" }, root)).toMatchObject({
      kind: "string",
      title: "inner",
      description: "outer",
    });
  });

  it("a schema that contains itself ends as JSON", () => {
    const root: Json = { type: "object", properties: { child: { $ref: "#" } } };
    let field = describeField(root, root);
    for (let depth = 1; depth <= MAX_DEPTH; depth++) field = describeField({ $ref: "#" }, root, depth);
    expect(field.kind).toBe("json");
    expect(kindOf({ $ref: "#/$defs/loop" }, { $defs: { loop: { $ref: "#/$defs/loop" } } })).toBe("json");
    expect(kindOf({ $ref: "https://example.com/schema" })).toBe("json");
  });

  it("merges allOf: members of both, required of both", () => {
    const schema: Json = {
      allOf: [{ $ref: "#/$defs/base" }, { properties: { b: { type: "number" } }, required: ["b"] }],
      $defs: { base: { type: "object", properties: { a: { type: "string" } }, required: ["a"] } },
    };
    const field = describeField(schema, schema);
    expect(field.kind === "object" && field.properties.map(({ name, isRequired }) => [name, isRequired])).toEqual([
      ["a", true],
      ["b", true],
    ]);
  });

  it("required members come first", () => {
    const field = describeField({ type: "object", properties: { a: {}, b: {} }, required: ["b"] }, true);
    expect(field.kind === "object" && field.properties.map(({ name }) => name)).toEqual(["b", "a"]);
  });

  it("names the branches of a union by title, constant, required members or type", () => {
    const field = describeField(
      {
        oneOf: [
          { title: "By name", type: "object" },
          { type: "object", properties: { type: { const: "file" } } },
          { type: "object", properties: { x: {} }, required: ["x"] },
          { type: "string" },
          {},
        ],
      },
      true,
    );
    expect(field.kind === "choice" && field.branches.map(({ label }) => label)).toEqual([
      "By name",
      "type file",
      "with x",
      "string",
      "variant 5",
    ]);
  });

  it("null alternatives keep the title and the default of the whole", () => {
    const field = describeField({ anyOf: [{ type: "string" }, { type: "null" }], title: "Name", default: null }, true);
    expect(field).toMatchObject({ kind: "string", title: "Name", default: null, isNullable: true });
  });
});

describe("the value of a form", () => {
  const schema: Json = {
    type: "object",
    properties: {
      kind: { const: "x" },
      count: { type: "integer", default: 3 },
      limit: { type: "integer", default: 10 },
      inner: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    },
    required: ["kind", "count", "inner"],
  };

  it("begins with what is required and known; optional defaults are left to the server", () => {
    expect(initialValue(schema, schema)).toEqual({ kind: "x", count: 3, inner: {} });
    expect(initialValue(schema, schema, { withDefaults: true })).toEqual({ kind: "x", count: 3, inner: {}, limit: 10 });
  });

  it("names required members that are absent", () => {
    expect(missingMembers(schema, { kind: "x", inner: {} }, schema)).toEqual(["/count", "/inner/a"]);
    expect(missingMembers(schema, { kind: "x", count: 1, inner: { a: "" } }, schema)).toEqual([]);
  });

  it("a change of one member keeps unknown ones and big integers", () => {
    const text = '{"id":9007199254740993,"unknown":{"x":[1.10]},"count":1}';
    const value = parseJson(text) as JsonObject;
    expect(toJsonText(withMember(value, "count", 2))).toBe(text.replace('"count":1', '"count":2'));
  });

  it("finds the branch of a value", () => {
    const union = describeField(
      {
        oneOf: [
          { type: "object", properties: { type: { const: "a" }, x: {} }, required: ["type"] },
          { type: "object", properties: { type: { const: "b" }, y: {} }, required: ["type"] },
          { type: "string" },
        ],
      },
      true,
    );
    const branches = union.kind === "choice" ? union.branches : [];
    const branch = (value: Json) => branchOf(value, branches, true);
    expect([branch({ type: "b" }), branch("text"), branch({ type: "a", y: 1 })]).toEqual([1, 2, 0]);
    expect(branchOf(undefined, branches, true)).toBe(0);
    expect(switchBranch({ type: "a", x: 1, y: 2 }, branches[1] ?? { label: "", schema: {} }, true, 1)).toEqual({
      type: "b",
      y: 2,
    });
  });

  it.each<[Json, Json, boolean]>([
    [{ properties: { pin: { type: "string", format: "password" } } }, { pin: "1234" }, true],
    [{ properties: { api_key: { type: "string" } } }, { api_key: "k" }, true],
    [{ properties: { a: { properties: { token: {} } } } }, { a: { token: "t" } }, true],
    [{}, { list: [{ password: "p" }] }, true],
    [{ properties: { api_key: { type: "string" } } }, { api_key: "" }, false],
    [{ properties: { query: { type: "string" } } }, { query: "password" }, false],
    [{ properties: { page_token: {} } }, { page_token: "x" }, false],
  ])("%j with %j is secret: %s", (given, value, expected) => {
    expect(hasSecret(given, value, given)).toBe(expected);
  });
});
