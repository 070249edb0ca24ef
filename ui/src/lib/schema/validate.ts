// Checks a value against its schema, in words for the person who fills in the form. The validator is loaded with the first check.

import type { OutputUnit, SchemaDraft } from "@cfworker/json-schema";
import { schemaText } from "../../text/schema.ts";
import { isObject, memberOf, toPlain, type Json } from "../text/json.ts";

export interface Issue {
  /** JSON pointer of the value: "/filter/name". */
  readonly pointer: string;
  readonly message: string;
}

/** Only say that something inside failed, which has an entry of its own. */
const CONTAINERS = new Set([
  "properties",
  "items",
  "prefixItems",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "allOf",
  "$ref",
  "$recursiveRef",
  "if",
  "dependentSchemas",
  "propertyNames",
]);
const VARIANTS = new Set(["anyOf", "oneOf"]);

/** The places that do not fit; undefined if the schema itself cannot be used, for example because it refers to another document. */
export async function validate(schema: Json, value: Json): Promise<Issue[] | undefined> {
  const { Validator } = await import("@cfworker/json-schema");
  try {
    // The validator writes into the schema, so it gets a copy.
    const validator = new Validator(toPlain(schema) as object, draftOf(schema), false);
    const { valid, errors } = validator.validate(toPlain(value));
    return valid ? [] : toIssues(errors, schema);
  } catch {
    return undefined;
  }
}

function draftOf(schema: Json): SchemaDraft {
  const named = memberOf(schema, "$schema");
  if (typeof named !== "string") return "2020-12";
  if (named.includes("draft-07") || named.includes("draft-06")) return "7";
  if (named.includes("draft-04")) return "4";
  return named.includes("2019-09") ? "2019-09" : "2020-12";
}

function toIssues(errors: readonly OutputUnit[], schema: Json): Issue[] {
  // The failures inside of each variant are only interesting to the author of the schema.
  const variants = errors
    .filter(({ keyword }) => VARIANTS.has(keyword))
    .map(({ keywordLocation }) => `${keywordLocation}/`);
  const issues = new Map<string, string>();
  for (const error of errors) {
    const pointer = toPointer(error.instanceLocation);
    const isInVariant = variants.some((place) => error.keywordLocation.startsWith(place));
    // Members that are absent are marked at their own place, by the form.
    if (CONTAINERS.has(error.keyword) || error.keyword === "required" || isInVariant || issues.has(pointer)) continue;
    issues.set(pointer, messageOf(error, schema));
  }
  for (const [pointer, names] of missing(errors, schema)) {
    if (!issues.has(pointer)) issues.set(pointer, schemaText.issues.missing(names.join(", ")));
  }
  return [...issues].map(([pointer, message]) => ({ pointer, message }));
}

/** Objects that lack required members, with the names that their schema demands. */
function missing(errors: readonly OutputUnit[], schema: Json): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { keyword, keywordLocation, instanceLocation } of errors) {
    if (keyword !== "required") continue;
    const names = ruleAt(schema, keywordLocation);
    const texts = Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
    found.set(toPointer(instanceLocation), texts);
  }
  return found;
}

function toPointer(location: string): string {
  return decode(location.replace(/^#/, ""));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The rule that failed, followed through references. */
function ruleAt(schema: Json, location: string): Json | undefined {
  let at: Json | undefined = schema;
  for (const part of location.split("/").slice(1)) {
    const name = decode(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (name === "$ref" && isObject(at) && typeof at["$ref"] === "string") at = ruleAt(schema, at["$ref"]);
    else at = Array.isArray(at) ? at[Number(name)] : memberOf(at, name);
  }
  return at;
}

function messageOf({ keyword, keywordLocation, error }: OutputUnit, schema: Json): string {
  const rule = ruleAt(schema, keywordLocation);
  const text = rule === undefined ? "" : typeof rule === "string" ? rule : JSON.stringify(rule);
  const { issues } = schemaText;
  switch (keyword) {
    case "type":
      return issues.type(
        (Array.isArray(rule) ? rule : [rule])
          .flatMap((type) => (typeof type === "string" ? [ARTICLES[type] ?? type] : []))
          .join(" or "),
      );
    case "enum":
      return issues.enum(Array.isArray(rule) ? rule.map((one) => JSON.stringify(one)).join(", ") : text);
    case "const":
    case "minimum":
    case "maximum":
    case "exclusiveMinimum":
    case "exclusiveMaximum":
    case "multipleOf":
    case "pattern":
    case "format":
      return issues[keyword](text);
    case "minLength":
    case "maxLength":
    case "minItems":
    case "maxItems":
      return issues[keyword](Number(text));
    case "uniqueItems":
      return issues.uniqueItems;
    case "anyOf":
    case "oneOf":
      return issues.variants;
    case "false":
      return issues.unexpected;
    default:
      return error;
  }
}

const ARTICLES: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
  null: "null",
};
