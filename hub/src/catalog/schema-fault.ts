// Finds faults for which a validator refuses to compile a JSON Schema. The official TypeScript SDK (v1) compiles every output
// schema when it lists tools, so that one wrong type name fails the whole list. Unknown keywords are not checked.

import { decodeUri } from "@plugboard/shared/lenient";
import { isObject, type JsonObject } from "../lib/json/json.ts";

const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
const MAX_DEPTH = 200;

const NUMBERS = new Set(
  ["maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf"].concat(
    ...["Length", "Items", "Properties"].map((of) => [`max${of}`, `min${of}`]),
  ),
);
const SINGLE_SCHEMA = new Set([
  "additionalProperties",
  "additionalItems",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
]);
const SCHEMA_LIST = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const SCHEMA_MAP = new Set([
  "properties",
  "patternProperties",
  "definitions",
  "$defs",
  "dependentSchemas",
  "dependencies",
]);

interface Walk {
  readonly root: JsonObject;
  /** References, checked when all names are known. */
  readonly references: Set<string>;
  /** Ids and anchors that references may use, besides JSON pointers. */
  readonly names: Set<string>;
}

/** @example findSchemaFault({ type: "strng" }) // 'type "strng"' */
export function findSchemaFault(schema: JsonObject): string | undefined {
  const walk: Walk = { root: schema, references: new Set(), names: new Set() };
  const fault = faultOf(schema, walk, 0);
  if (fault !== undefined) return fault;
  const lost = [...walk.references].find((reference) => !isFound(reference, walk));
  return lost === undefined ? undefined : `$ref ${shown(lost)} does not resolve`;
}

function faultOf(schema: unknown, walk: Walk, depth: number): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isObject(schema)) return `${shown(schema)} instead of a schema`;
  if (depth > MAX_DEPTH) return "it is nested too deeply";
  for (const [keyword, value] of Object.entries(schema)) {
    const fault = keywordFault(keyword, value, schema) ?? partFault(keyword, value, walk, depth);
    if (fault !== undefined) return fault;
  }
  for (const key of ["$id", "$anchor", "$dynamicAnchor"]) {
    const name = schema[key];
    if (typeof name === "string") walk.names.add(key === "$id" || name.startsWith("#") ? name : `#${name}`);
  }
  const { $ref } = schema;
  if (typeof $ref === "string") walk.references.add($ref);
  return undefined;
}

function keywordFault(keyword: string, value: unknown, schema: JsonObject): string | undefined {
  const wrong = `${keyword} ${shown(value)}`;
  if (NUMBERS.has(keyword)) return typeof value === "number" ? undefined : wrong;
  switch (keyword) {
    case "type":
      return (Array.isArray(value) ? value : [value]).every((type) => TYPES.has(type)) ? undefined : wrong;
    case "nullable":
      return schema["type"] === undefined ? "nullable without a type" : undefined;
    case "required":
      return Array.isArray(value) ? undefined : wrong;
    case "enum":
      return Array.isArray(value) && value.length > 0 ? undefined : wrong;
    case "uniqueItems":
      return typeof value === "boolean" ? undefined : wrong;
    case "pattern":
      return typeof value === "string" && isPattern(value) ? undefined : wrong;
    case "format":
    case "$ref":
    case "$id":
      return typeof value === "string" ? undefined : wrong;
    case "id":
      return "id instead of $id";
    case "patternProperties":
      return isObject(value) && !Object.keys(value).every(isPattern) ? wrong : undefined;
    default:
      return undefined;
  }
}

/** Faults of the schemas inside a keyword. */
function partFault(keyword: string, value: unknown, walk: Walk, depth: number): string | undefined {
  const inside = (parts: readonly unknown[]) => {
    for (const part of parts) {
      const fault = faultOf(part, walk, depth + 1);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  if (SINGLE_SCHEMA.has(keyword)) return inside([value]);
  if (keyword === "items") return inside(Array.isArray(value) ? value : [value]);
  if (SCHEMA_LIST.has(keyword)) return Array.isArray(value) ? inside(value) : `${keyword} ${shown(value)}`;
  if (!SCHEMA_MAP.has(keyword)) return undefined;
  if (!isObject(value)) return `${keyword} ${shown(value)}`;
  // A dependency may also be a list of names.
  return inside(Object.values(value).filter((part) => keyword !== "dependencies" || !Array.isArray(part)));
}

function isFound(reference: string, { root, names }: Walk): boolean {
  if (reference === "#" || names.has(reference)) return true;
  if (reference.startsWith("#/")) return at(root, reference.slice(2).split("/")) !== undefined;
  const base = typeof root["$id"] === "string" ? root["$id"] : undefined;
  return base !== undefined && URL.canParse(reference, base) && names.has(new URL(reference, base).href);
}

function at(value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined) return value;
  const key = decodeUri(step).replaceAll("~1", "/").replaceAll("~0", "~");
  if (Array.isArray(value)) return at(value[Number(key)], rest);
  return isObject(value) && Object.hasOwn(value, key) ? at(value[key], rest) : undefined;
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
