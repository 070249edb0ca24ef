// Checks arguments against a tool's schema, so that a model that has seen only a signature learns what is wrong before the call.

import { Validator, type OutputUnit, type Schema } from "@cfworker/json-schema";
import { isObject, type JsonObject } from "../lib/json/json.ts";

export interface ArgumentProblem {
  /** The argument, such as `filter.since`; empty: all of them. */
  readonly field: string;
  readonly message: string;
}

/** Undefined if they match, or if the schema is beyond this check: then the server decides. */
export function checkArguments(schema: unknown, given: JsonObject): ArgumentProblem | undefined {
  if (!isObject(schema)) return undefined;
  try {
    const { valid, errors } = new Validator(withoutPatterns(schema), dialectOf(schema), false).validate(given);
    return valid ? undefined : problemIn(errors);
  } catch {
    return undefined; // such as a reference to another document
  }
}

/** The innermost error: those around it only repeat that a part does not match. */
function problemIn(errors: readonly OutputUnit[]): ArgumentProblem | undefined {
  const [first] = errors.filter(({ keyword }) => !WRAPPERS.has(keyword)).concat(errors);
  if (first === undefined) return undefined;
  const field = first.instanceLocation.replace(/^#\/?/, "").replaceAll("/", ".");
  return { field, message: first.keyword === FORBIDDEN ? "The tool has no such argument" : first.error };
}

const WRAPPERS: ReadonlySet<string> = new Set(
  "properties additionalProperties unevaluatedProperties items anyOf oneOf allOf $ref if then else".split(" "),
);
/** The keyword of a schema that is `false`. */
const FORBIDDEN = "false";

function dialectOf({ $schema }: JsonObject): "7" | "2019-09" | "2020-12" {
  if (typeof $schema !== "string") return "2020-12";
  if (/draft-0[467]/.test($schema)) return "7";
  return $schema.includes("2019-09") ? "2019-09" : "2020-12";
}

/** Regular expressions of servers may take forever: the server checks them itself. */
function withoutPatterns(schema: JsonObject): Schema {
  const hasPatterns = Object.hasOwn(schema, "patternProperties");
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      if (UNCHECKED.has(key) || (hasPatterns && REST.has(key))) return [];
      if (VALUES.has(key)) return [[key, value]];
      return [
        [key, MAPS.has(key) && isObject(value) ? mapValues(value, partWithoutPatterns) : partWithoutPatterns(value)],
      ];
    }),
  );
}

function partWithoutPatterns(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(partWithoutPatterns);
  return isObject(part) ? withoutPatterns(part) : part;
}

function mapValues(object: JsonObject, change: (value: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

const UNCHECKED: ReadonlySet<string> = new Set(["pattern", "patternProperties", "format"]);
/** Concern the properties that no pattern matches. */
const REST: ReadonlySet<string> = new Set(["additionalProperties", "unevaluatedProperties"]);
/** Members whose keys are names, not keywords. */
const MAPS: ReadonlySet<string> = new Set(["properties", "$defs", "definitions", "dependentSchemas", "dependencies"]);
/** Members that are not schemas. */
const VALUES: ReadonlySet<string> = new Set(["const", "enum", "default", "examples", "required", "dependentRequired"]);
