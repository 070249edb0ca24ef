// Wraps the JSON Schema of any value into the schema of an object with that value in `result`, for clients that accept only
// objects as structured results. References inside are adjusted.

import { isObject, type JsonObject } from "../../lib/json/json.ts";

const AT = "#/properties/result";
const MAX_DEPTH = 64;

/** Keywords whose value maps names to schemas. */
const NAMED: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
/** Keywords whose value is data, where `$ref` has no meaning. */
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);
const REFERENCES: ReadonlySet<string> = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);

export function wrapSchema(schema: unknown): JsonObject {
  // `$schema` belongs at the root.
  const dialect = isObject(schema) && typeof schema["$schema"] === "string" ? { $schema: schema["$schema"] } : {};
  return { ...dialect, type: "object", properties: { result: moved(schema, 0) }, required: ["result"] };
}

/** The schema with references into the document adjusted to its new place. */
function moved(schema: unknown, depth: number): unknown {
  if (Array.isArray(schema)) return schema.map((part) => moved(part, depth + 1));
  // A schema with `$id` is a separate document.
  if (!isObject(schema) || typeof schema["$id"] === "string" || depth > MAX_DEPTH) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (DATA.has(key)) return [key, value];
      if (REFERENCES.has(key) && typeof value === "string") return [key, movedReference(value)];
      if (NAMED.has(key) && isObject(value)) {
        return [key, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, moved(part, depth + 1)]))];
      }
      return [key, moved(value, depth + 1)];
    }),
  );
}

/** References to anchors and other documents stay. */
function movedReference(reference: string): string {
  if (reference === "#") return AT;
  return reference.startsWith("#/") ? `${AT}${reference.slice(1)}` : reference;
}
