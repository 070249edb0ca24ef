import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";
import { describe, expect, it } from "vitest";
import { ListingReport } from "./listing-report.ts";
import type { JsonObject } from "../lib/json/json.ts";
import { repairEntry, type EntryKind } from "./repair.ts";
import { findSchemaFault } from "./schema-fault.ts";

const OBJECT = { type: "object" };
const tool = (members: object = {}) => ({ name: "t", inputSchema: OBJECT, ...members });

describe("CL-4 an entry without a fault stays the same object", () => {
  it.each<[EntryKind, JsonObject]>([
    ["tools", tool()],
    ["tools", tool({ title: "T", description: "", icons: [], annotations: {}, execution: {}, _meta: {}, later: null })],
    ["tools", tool({ inputSchema: { ...OBJECT, properties: { a: true, b: {} }, required: ["a"], $defs: {} } })],
    ["tools", tool({ outputSchema: { type: "array", items: { $ref: "#/$defs/x" }, $defs: { x: {} } } })],
    ["tools", tool({ annotations: { title: "x", readOnlyHint: true, later: 5 } })],
    ["tools", tool({ icons: [{ src: "a", mimeType: "image/png", sizes: ["any"], theme: "dark" }] })],
    ["prompts", { name: "p", arguments: [{ name: "a", required: false, later: null }] }],
    ["resources", { uri: "a", name: "", size: 0, annotations: { audience: ["user"], priority: 1 } }],
    ["resources", { uri: "a", name: "a", annotations: { lastModified: "2025-01-12T15:00:58+02:00" } }],
    ["templates", { uriTemplate: "a/{b}", name: "b", mimeType: "text/plain" }],
  ])("%s %j", (kind, entry) => {
    const repaired = repairEntry(kind, entry);
    expect(repaired.entry).toBe(entry);
    expect(repaired).toMatchObject({ faults: [] });
  });
});

describe("CL-4 faults with a clear meaning are repaired", () => {
  it.each<[kind: EntryKind, entry: JsonObject, members: string[], repaired: JsonObject]>([
    ["tools", { name: "t" }, ["inputSchema"], tool()],
    ["tools", tool({ inputSchema: null }), ["inputSchema"], tool()],
    ["tools", tool({ inputSchema: true }), ["inputSchema"], tool()],
    ["tools", tool({ inputSchema: {} }), ["inputSchema.type"], tool()],
    ["tools", tool({ inputSchema: { type: null } }), ["inputSchema.type"], tool()],
    ["tools", tool({ inputSchema: { type: ["object", "null"] } }), ["inputSchema.type"], tool()],
    ["tools", tool({ inputSchema: { ...OBJECT, properties: null } }), ["inputSchema.properties"], tool()],
    ["tools", tool({ inputSchema: { ...OBJECT, properties: [] } }), ["inputSchema.properties"], tool()],
    ["tools", tool({ inputSchema: { ...OBJECT, required: "a" } }), ["inputSchema.required"], tool()],
    ["tools", tool({ inputSchema: { ...OBJECT, $schema: 7 } }), ["inputSchema.$schema"], tool()],
    [
      "tools",
      tool({ inputSchema: { ...OBJECT, required: ["a", 5] } }),
      ["inputSchema.required[]"],
      tool({ inputSchema: { ...OBJECT, required: ["a"] } }),
    ],
    [
      "tools",
      tool({ inputSchema: { ...OBJECT, properties: { a: null, b: {} } } }),
      ["inputSchema.properties.*"],
      tool({ inputSchema: { ...OBJECT, properties: { a: {}, b: {} } } }),
    ],
    ["tools", tool({ outputSchema: null }), ["outputSchema"], tool()],
    ["tools", tool({ outputSchema: "x" }), ["outputSchema"], tool()],
    ["tools", tool({ outputSchema: [] }), ["outputSchema"], tool()],
    ["tools", tool({ outputSchema: true }), ["outputSchema"], tool({ outputSchema: {} })],
    ["tools", tool({ outputSchema: { type: "strng" } }), ["outputSchema"], tool()],
    ...(["tools", "prompts", "resources", "templates"] as const).flatMap((kind) =>
      [
        ["description", 5],
        ["description", null],
        ["title", 7],
        ["icons", "x"],
        ["_meta", "x"],
        ["_meta", []],
      ].map(([member, value]): [EntryKind, JsonObject, string[], JsonObject] => {
        const entry = { tools: tool(), prompts: { name: "p" }, resources: { uri: "u", name: "n" } };
        const good = kind === "templates" ? { uriTemplate: "u", name: "n" } : entry[kind];
        return [kind, { ...good, [String(member)]: value }, [String(member)], good];
      }),
    ),
    ["tools", tool({ annotations: "x" }), ["annotations"], tool()],
    ["tools", tool({ annotations: null }), ["annotations"], tool()],
    [
      "tools",
      tool({ annotations: { title: 5, readOnlyHint: "yes", idempotentHint: true } }),
      ["annotations.title", "annotations.readOnlyHint"],
      tool({ annotations: { idempotentHint: true } }),
    ],
    ["tools", tool({ execution: "x" }), ["execution"], tool()],
    ["tools", tool({ execution: { taskSupport: "maybe" } }), ["execution.taskSupport"], tool({ execution: {} })],
    [
      "tools",
      tool({ icons: [{ src: "a", sizes: "48x48", theme: "blue" }, { src: 5 }, "x", { src: "b", mimeType: null }] }),
      ["icons[].sizes", "icons[].theme", "icons[]", "icons[]", "icons[].mimeType"],
      tool({ icons: [{ src: "a", sizes: ["48x48"] }, { src: "b" }] }),
    ],
    ["prompts", { name: "p", arguments: null }, ["arguments"], { name: "p" }],
    [
      "prompts",
      { name: "p", arguments: [{ description: "no name" }, { name: "a", required: "yes", description: null }] },
      ["arguments[]", "arguments[].description", "arguments[].required"],
      { name: "p", arguments: [{ name: "a" }] },
    ],
    ["resources", { uri: "u" }, ["name"], { uri: "u", name: "u" }],
    ["resources", { uri: "u", name: null, title: "T" }, ["name"], { uri: "u", name: "T", title: "T" }],
    ["resources", { uri: "u", name: "n", mimeType: null, size: "big" }, ["mimeType", "size"], { uri: "u", name: "n" }],
    ["resources", { uri: "u", name: "n", size: 1.5 }, ["size"], { uri: "u", name: "n" }],
    [
      "resources",
      { uri: "u", name: "n", annotations: { audience: "user", priority: 5, lastModified: "2025-01-12T15:00:58" } },
      ["annotations.audience", "annotations.priority", "annotations.lastModified"],
      { uri: "u", name: "n", annotations: { audience: ["user"] } },
    ],
    [
      "resources",
      { uri: "u", name: "n", annotations: { audience: ["user", "robot"] } },
      ["annotations.audience[]"],
      { uri: "u", name: "n", annotations: { audience: ["user"] } },
    ],
    ["templates", { uriTemplate: "u", annotations: [] }, ["annotations", "name"], { uriTemplate: "u", name: "u" }],
  ])("%s %j: %j", (kind, entry, members, repaired) => {
    const result = repairEntry(kind, entry);
    expect(result.entry).toEqual(repaired);
    expect("faults" in result && result.faults.map(({ member }) => member)).toEqual(members);
  });
});

describe("CL-4 other faulty entries are omitted", () => {
  it.each<[EntryKind, unknown, string]>([
    ["tools", null, "it is null, not an object"],
    ["tools", [], "it is a list, not an object"],
    ["tools", {}, "it has no name"],
    ["tools", { name: 5 }, "its name is a number"],
    ["tools", { name: "" }, "its name is empty"],
    ["tools", tool({ name: "x".repeat(129) }), "its name has 129 characters (at most 128 are allowed)"],
    ["tools", tool({ inputSchema: "x" }), "its inputSchema is a text"],
    ["tools", tool({ inputSchema: [] }), "its inputSchema is a list"],
    ["tools", tool({ inputSchema: { type: "string" } }), 'the type of its inputSchema is "string"'],
    ["prompts", { name: null }, "its name is null"],
    ["resources", { name: "n" }, "it has no uri"],
    ["resources", { uri: 5, name: "n" }, "its uri is a number"],
    ["templates", { uri: "u" }, "it has no uriTemplate"],
  ])("%s %j: %s", (kind, entry, reason) => {
    expect(repairEntry(kind, entry)).toEqual({ entry: undefined, reason });
  });
});

describe("CL-4 output schemas that the SDK cannot compile are detected", () => {
  const compiles = (schema: object) => {
    try {
      new AjvJsonSchemaValidator().getValidator(schema);
      return true;
    } catch {
      return false;
    }
  };

  it.each<[object, string | undefined]>([
    [{}, undefined],
    [{ type: ["string", "null"], format: "no-such", nullable: true }, undefined],
    [{ properties: { id: { type: "string" }, type: { enum: [1] }, required: true } }, undefined],
    [{ properties: { a: { $ref: "#/$defs/a~1b" }, b: { $ref: "#" } }, $defs: { "a/b": {} } }, undefined],
    [{ $defs: { x: { $id: "#x", type: "null" } }, items: { $ref: "#x" } }, undefined],
    [{ dependencies: { a: ["b"], c: {} }, additionalProperties: false, items: [{}, true] }, undefined],
    [{ type: "strng" }, 'type "strng"'],
    [{ type: null }, "type null"],
    [{ properties: { a: { type: "any" } } }, 'type "any"'],
    [{ items: "string" }, '"string" instead of a schema'],
    [{ properties: [] }, "properties []"],
    [{ required: "a" }, 'required "a"'],
    [{ properties: { a: { required: true } } }, "required true"],
    [{ properties: { a: { type: "number", exclusiveMinimum: true } } }, "exclusiveMinimum true"],
    [{ items: { maxLength: "5" } }, 'maxLength "5"'],
    [{ anyOf: {} }, "anyOf {}"],
    [{ allOf: [null] }, "null instead of a schema"],
    [{ enum: [] }, "enum []"],
    [{ enum: "a" }, 'enum "a"'],
    [{ pattern: "(" }, 'pattern "("'],
    [{ patternProperties: { "[": { type: "null" } } }, 'patternProperties {"[":{"type":"null"}}'],
    [{ uniqueItems: "yes" }, 'uniqueItems "yes"'],
    [{ format: 5 }, "format 5"],
    [{ nullable: true }, "nullable without a type"],
    [{ id: "x" }, "id instead of $id"],
    [{ $ref: "#/definitions/gone" }, '$ref "#/definitions/gone" does not resolve'],
    [{ items: { $ref: "https://example.com/schema.json" } }, '$ref "https://example.com/schema.json" does not resolve'],
    [{ not: { $ref: "#gone" } }, '$ref "#gone" does not resolve'],
  ])("%j: %s", (schema, fault) => {
    expect(findSchemaFault(schema as JsonObject)).toBe(fault);
    expect(compiles(schema)).toBe(fault === undefined);
  });
});

it("CL-4 equal faults of many entries are one warning, and warnings are bounded", () => {
  const report = new ListingReport();
  const fault = { member: "description", problem: "is null", remedy: "omitted" };
  for (let n = 0; n < 1000; n++) report.repaired("tools", `t${n}`, fault);
  report.repaired("prompts", "p", fault);
  report.repaired("prompts", "p", fault);
  expect(report.warnings).toEqual([
    '1000 tools ("t0", "t1", "t2", …): description is null, omitted',
    'Prompt "p": description is null, omitted',
  ]);
  for (let n = 0; n < 1000; n++) report.omitted("tools", `t${n}`, `reason ${n}`);
  expect(report.warnings).toHaveLength(50);
});
