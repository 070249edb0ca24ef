// A JSON Schema of any value as the schema of an object with that value in `result`, for clients that know of structured
// results as objects only. References inside it still find what they meant.

import { isObject, type JsonObject } from "./json.ts";

const AT = "#/properties/result";
const MAX_DEPTH = 64;

/** Members that hold schemas by names of the author's choosing. */
const NAMED: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
/** Members that hold data, in which a `$ref` is none. */
const DATA: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);
const REFERENCES: ReadonlySet<string> = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);

export function wrapSchema(schema: unknown): JsonObject {
  // The dialect is the whole document's.
  const dialect = isObject(schema) && typeof schema["$schema"] === "string" ? { $schema: schema["$schema"] } : {};
  return { ...dialect, type: "object", properties: { result: moved(schema, 0) }, required: ["result"] };
}

/** The schema with its references into the document pointing to where the document now is. */
function moved(schema: unknown, depth: number): unknown {
  if (Array.isArray(schema)) return schema.map((part) => moved(part, depth + 1));
  // A schema with an id of its own is a document of its own.
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

/** Anchors and other documents are found as before. */
function movedReference(reference: string): string {
  if (reference === "#") return AT;
  return reference.startsWith("#/") ? `${AT}${reference.slice(1)}` : reference;
}
