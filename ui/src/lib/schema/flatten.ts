// One plain schema from references, `allOf` and `null` alternatives.

import { isObject, memberOf, type Json, type JsonObject } from "../text/json.ts";

const MAX_REFERENCES = 8;

export interface Flat {
  readonly schema: JsonObject;
  readonly isNullable: boolean;
}

/** @example flatten({ anyOf: [{ type: "string" }, { type: "null" }] }, root) // { schema: { type: "string" }, isNullable: true } */
export function flatten(schema: Json, root: Json): Flat {
  return withoutNull(merged(schema, root, 0), root);
}

/** The alternatives of a schema with the rules beside them; undefined if it has none. */
export function toBranches(schema: JsonObject, root: Json): JsonObject[] | undefined {
  for (const word of ["oneOf", "anyOf"]) {
    const branches = schema[word];
    if (!Array.isArray(branches)) continue;
    const { [word]: _, ...base } = schema;
    return branches.map((branch) => mergeSchemas(withoutWords(base), flatten(branch, root).schema));
  }
  const { type } = schema;
  if (!Array.isArray(type) || type.length < 2) return undefined;
  return type.map((one) => ({ ...schema, type: one, title: typeof one === "string" ? one : "value" }));
}

/** The title and description of a union are shown once, above it. */
function withoutWords(schema: JsonObject): JsonObject {
  const { title: _, description: __, default: ___, examples: ____, ...rest } = schema;
  return rest;
}

function merged(schema: Json, root: Json, references: number): JsonObject {
  if (!isObject(schema)) return schema === false ? { not: {} } : {};
  const reference = schema["$ref"] ?? schema["$dynamicRef"];
  if (typeof reference === "string") {
    const { $ref: _, $dynamicRef: __, ...beside } = schema;
    const target = references < MAX_REFERENCES ? resolvePointer(root, reference) : undefined;
    if (target === undefined) return beside;
    return mergeSchemas(merged(target, root, references + 1), merged(beside, root, references + 1));
  }
  const parts = schema["allOf"];
  if (!Array.isArray(parts) || references >= MAX_REFERENCES) return schema;
  const { allOf: _, ...base } = schema;
  return parts.reduce<JsonObject>((all, part) => mergeSchemas(all, merged(part, root, references + 1)), base);
}

/** Only places in the same document: a reference to another address is never fetched. */
function resolvePointer(root: Json, reference: string): Json | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let at: Json | undefined = root;
  for (const part of reference.slice(2).split("/")) {
    const name = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
    at = Array.isArray(at) ? at[Number(name)] : memberOf(at, name);
  }
  return at;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Both apply. For a rule that both have, the second wins; lists of members are joined. */
function mergeSchemas(first: JsonObject, second: JsonObject): JsonObject {
  const result: JsonObject = { ...first, ...second };
  for (const word of ["properties", "$defs", "definitions", "patternProperties"]) {
    if (isObject(first[word]) && isObject(second[word])) result[word] = { ...first[word], ...second[word] };
  }
  if (Array.isArray(first["required"]) && Array.isArray(second["required"])) {
    result["required"] = [...new Set([...first["required"], ...second["required"]])];
  }
  if (first["additionalProperties"] === false && result["properties"] !== first["properties"]) {
    result["additionalProperties"] = second["additionalProperties"] ?? false;
  }
  return result;
}

function withoutNull(schema: JsonObject, root: Json): Flat {
  const isMarked = schema["nullable"] === true;
  const { type } = schema;
  if (Array.isArray(type) && type.includes("null")) {
    const rest = type.filter((one) => one !== "null");
    const only = rest.length === 1 ? rest[0] : undefined;
    return { schema: { ...schema, type: only ?? rest }, isNullable: true };
  }
  for (const word of ["anyOf", "oneOf"]) {
    const branches = schema[word];
    if (!Array.isArray(branches)) continue;
    const rest = branches.filter((branch) => merged(branch, root, 0)["type"] !== "null");
    if (rest.length === branches.length && rest.length !== 1) continue;
    const { [word]: _, ...base } = schema;
    const isNullable = rest.length < branches.length || isMarked;
    if (rest.length !== 1) return { schema: { ...base, [word]: rest }, isNullable };
    const inner = withoutNull(merged(rest[0] ?? true, root, 1), root);
    // What stands beside the alternatives (a title, a default) describes the whole.
    return { schema: { ...inner.schema, ...base }, isNullable: isNullable || inner.isNullable };
  }
  return { schema, isNullable: isMarked };
}
