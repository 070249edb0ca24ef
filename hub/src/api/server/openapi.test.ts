// The document is OpenAPI 3.1 and complete, by our own rules. test/api/openapi.test.ts checks it with an independent validator,
// and against real answers.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { EventLog } from "./live/event-log.ts";
import { EventStreams } from "./live/event-streams.ts";
import { parseTopics } from "./live/topics.ts";
import { toDocument } from "./openapi.ts";
import { createRoutes } from "./route-table.ts";

// eslint-disable-next-line typescript/no-explicit-any -- the test walks through any JSON
type Any = any;

// Routes are data: they use the hub only when they run.
const routes = createRoutes({ hub: {}, paths: { data: "" } } as Any, new EventStreams(new EventLog()), {} as Any);
const document: Any = JSON.parse(JSON.stringify(toDocument(routes, "/api/v1")));

const TYPES = ["null", "boolean", "object", "array", "number", "integer", "string"];
const operations = Object.entries<Any>(document.paths).flatMap(([path, methods]) =>
  Object.entries<Any>(methods).map(([method, operation]) => ({ path, method, operation })),
);

/** Every schema of the document, with its path. */
function* schemas(node: Any, path = "#"): Generator<{ path: string; schema: Any }> {
  if (typeof node !== "object" || node === null) return;
  for (const [key, value] of Object.entries<Any>(node)) {
    const inside = `${path}/${key}`;
    if (key === "schema" || path === "#/components/schemas") yield* subschemas(value, inside);
    else yield* schemas(value, inside);
  }
}

function* subschemas(schema: Any, path: string): Generator<{ path: string; schema: Any }> {
  yield { path, schema };
  for (const [name, inner] of Object.entries(schema.properties ?? {}))
    yield* subschemas(inner, `${path}/properties/${name}`);
  for (const key of ["items", "additionalProperties", "not", "propertyNames"]) {
    if (typeof schema[key] === "object") yield* subschemas(schema[key], `${path}/${key}`);
  }
  for (const key of ["allOf", "anyOf", "oneOf", "prefixItems"]) {
    for (const [index, inner] of (schema[key] ?? []).entries()) yield* subschemas(inner, `${path}/${key}/${index}`);
  }
}

/** The keywords of JSON Schema 2020-12 and of OpenAPI that we use, to find misspelt ones. */
const KEYWORDS = new Set(
  (
    "$ref type properties required additionalProperties propertyNames items prefixItems enum const anyOf oneOf allOf not description " +
    "default minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength pattern format minItems maxItems title"
  ).split(" "),
);

/** Faults of one schema, without its subschemas. */
function faultsOf(schema: Any): string[] {
  const types: string[] = schema.type === undefined ? [] : [schema.type].flat();
  const faults = Object.keys(schema)
    .filter((key) => !KEYWORDS.has(key))
    // Such as `nullable` of OpenAPI 3.0.
    .map((key) => `unknown keyword ${key}`);
  if (types.some((type) => !TYPES.includes(type)) || new Set(types).size < types.length) faults.push("wrong type");
  if (types.includes("array") && (schema.items ?? schema.prefixItems) === undefined) faults.push("array without items");
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(schema.properties ?? {}, name)) faults.push(`${name} is required, but not a property`);
  }
  try {
    RegExp(schema.pattern ?? "", "u");
  } catch {
    faults.push(`invalid pattern ${schema.pattern}`);
  }
  return faults;
}

it("the check finds every fault", () => {
  const wrong = { type: ["text", "array"], nullable: true, required: ["a"], pattern: "(" };
  expect(faultsOf(wrong)).toHaveLength(5);
});

/** Of browsers that are not signed in yet. */
const SIGN_IN = ["post /api/v1/ui/session", "get /api/v1/ui/providers", "post /api/v1/ui/sign-ins"];

describe("docs/api.md", () => {
  const text = readFileSync(new URL("../../../../docs/api.md", import.meta.url), "utf8");

  it("lists exactly the existing routes", () => {
    const written = [...text.matchAll(/^\| `([A-Z]+) (\/[^`]*)`/gm)].map(([, method, path]) => `${method} ${path}`);
    const routed = routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(new Set(written)).toEqual(new Set([...routed, "GET /openapi.json"]));
    expect(written).toHaveLength(routed.length + 1);
  });

  it("lists exactly the existing topics and events", () => {
    const written = [...text.matchAll(/^\| `(\w+)` +\| `([\w.]+)`/gm)].map(([, topic, event]) => [topic, event]);
    for (const [topic, event] of written) expect([...parseTopics(topic)]).toContain(event);
    expect(new Set(written.map(([, event]) => event))).toEqual(parseTopics(undefined));
  });
});

describe("MG-3 the OpenAPI document", () => {
  it("is version 3.1, with a title and a version", () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    const allowed = ["openapi", "info", "paths", "components", "webhooks", "servers", "security", "tags"];
    expect(allowed).toEqual(expect.arrayContaining(Object.keys(document)));
  });

  it("has valid JSON Schema 2020-12 schemas", () => {
    const found = [...schemas(document)];
    expect(found.length).toBeGreaterThan(100);
    expect(found.flatMap(({ path, schema }) => faultsOf(schema).map((fault) => `${path}: ${fault}`))).toEqual([]);
  });

  it("has no dangling reference and no unused component", () => {
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? "");
    const components = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect(new Set(references)).toEqual(new Set(components));
  });

  it.each(operations)("$method $path is complete", ({ path, method, operation }) => {
    expect(operation).toMatchObject({ operationId: expect.stringMatching(/^[a-z]\w+$/), summary: expect.any(String) });
    expect(operation.security).toEqual(SIGN_IN.includes(`${method} ${path}`) ? [] : [{ management_token: [] }]);
    expect(document.components.securitySchemes.management_token).toEqual({ type: "http", scheme: "bearer" });
    const parameters: Any[] = operation.parameters ?? [];
    const keys = parameters.map(({ in: where, name }) => `${where} ${name}`);
    expect(new Set(keys).size).toBe(keys.length);
    const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    expect(new Set(parameters.filter((each) => each.in === "path").map(({ name }) => name))).toEqual(new Set(named));
    for (const parameter of parameters) {
      expect(["path", "query", "header"]).toContain(parameter.in);
      expect(parameter.schema).toBeDefined();
      if (parameter.in === "path") expect(parameter.required).toBe(true);
    }
    expect(Object.keys(operation.responses).filter((status) => status !== "304")).toEqual([
      expect.stringMatching(/^20[014]$/),
      "default",
    ]);
    for (const response of Object.values<Any>(operation.responses)) {
      expect(response.description).toEqual(expect.any(String));
      for (const media of Object.values<Any>(response.content ?? {})) expect(media.schema).toBeDefined();
    }
    expect(operation.responses["204"]?.content).toBeUndefined();
  });

  it("has a unique id for every operation", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("MG-1 names all eleven management commands", () => {
    const named = operations.map(({ operation }) => /\((\w+)\)$/.exec(operation.summary)?.[1]).filter(Boolean);
    expect(named).toHaveLength(11);
    expect(new Set(named)).toEqual(
      new Set([
        "list_mcp_servers",
        "get_mcp_server",
        "create_mcp_server",
        "update_mcp_server",
        "delete_mcp_server",
        "start_mcp_server",
        "stop_mcp_server",
        "test_mcp_server",
        "list_mcp_tools",
        "call_mcp_tool",
        "get_mcp_latency_metrics",
      ]),
    );
  });
});
