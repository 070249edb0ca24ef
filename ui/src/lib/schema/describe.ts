// Decides how a JSON Schema is shown as a form. Whatever has no field of its own is edited as JSON, so no schema is a dead end.

import { isObject, memberOf, NumberText, type Json, type JsonObject } from "../text/json.ts";
import { flatten, toBranches } from "./flatten.ts";

/** Deeper than this, a value is edited as JSON: schemas may contain themselves. */
export const MAX_DEPTH = 8;
const LONG_TEXT = 200;

export type StringWidget = "text" | "textarea" | "password" | "date" | "date-time" | "time" | "email" | "uri";

export interface Option {
  readonly value: Json;
  readonly label: string;
}

/** What every field has. */
interface Common {
  readonly schema: JsonObject;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly default: Json | undefined;
  readonly examples: readonly Json[];
  readonly isNullable: boolean;
  readonly isDeprecated: boolean;
  /** Must not be in the URL, nor shown while it is typed. */
  readonly isSecret: boolean;
}

export interface Property {
  readonly name: string;
  readonly schema: Json;
  readonly isRequired: boolean;
}

export type Shape =
  | {
      readonly kind: "object";
      readonly properties: readonly Property[];
      /** The schema of members that are not listed; false: there are none. */
      readonly others: Json;
    }
  | { readonly kind: "array"; readonly items: Json; readonly min: number; readonly max: number }
  | { readonly kind: "string"; readonly widget: StringWidget; readonly maxLength: number | undefined }
  | {
      readonly kind: "number";
      readonly isInteger: boolean;
      readonly min: number | undefined;
      readonly max: number | undefined;
      readonly step: number | undefined;
    }
  | { readonly kind: "boolean" }
  | { readonly kind: "null" }
  | { readonly kind: "const"; readonly value: Json }
  | { readonly kind: "enum"; readonly options: readonly Option[] }
  /** Several of some options. */
  | { readonly kind: "multi"; readonly options: readonly Option[] }
  | { readonly kind: "choice"; readonly branches: readonly Branch[] }
  | { readonly kind: "json" };

export interface Branch {
  readonly label: string;
  readonly schema: JsonObject;
}

export type Field = Common & Shape;

/** @example describeField({ type: "string", enum: ["a"] }, root).kind === "enum" */
export function describeField(schema: Json, root: Json, depth = 0): Field {
  const { schema: flat, isNullable } = flatten(schema, root);
  const examples = flat["examples"];
  return {
    schema: flat,
    title: textOf(flat["title"]),
    description: textOf(flat["description"]),
    default: memberOf(flat, "default"),
    examples: Array.isArray(examples) ? examples : [],
    isNullable,
    isDeprecated: flat["deprecated"] === true,
    isSecret: flat["format"] === "password" || flat["writeOnly"] === true,
    ...shapeOf(flat, root, depth),
  };
}

function shapeOf(schema: JsonObject, root: Json, depth: number): Shape {
  if (Object.hasOwn(schema, "const")) return { kind: "const", value: schema["const"] ?? null };
  const options = optionsOf(schema, root);
  if (options !== undefined) return { kind: "enum", options };
  const branches = toBranches(schema, root);
  if (branches !== undefined) {
    if (depth >= MAX_DEPTH || branches.length === 0) return { kind: "json" };
    return {
      kind: "choice",
      branches: branches.map((branch, index) => ({ label: labelOf(branch, root, index), schema: branch })),
    };
  }
  switch (typeOf(schema) ?? "") {
    case "object":
      return depth >= MAX_DEPTH ? { kind: "json" } : objectShape(schema);
    case "array":
      return depth >= MAX_DEPTH ? { kind: "json" } : arrayShape(schema, root);
    case "string":
      return { kind: "string", widget: widgetOf(schema), maxLength: numberOf(schema["maxLength"]) };
    case "integer":
    case "number":
      return numberShape(schema);
    case "boolean":
      return { kind: "boolean" };
    case "null":
      return { kind: "null" };
    default:
      return { kind: "json" };
  }
}

function objectShape(schema: JsonObject): Shape {
  const listed = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const names = Object.keys(listed);
  const others = schema["additionalProperties"] ?? names.length === 0;
  if (isObject(schema["patternProperties"]) && names.length === 0) return { kind: "json" };
  // An object without any rule may hold anything: rows of names and values would only be a worse JSON editor.
  if (names.length === 0 && others === true) return { kind: "json" };
  const properties = names.map((name) => ({ name, schema: listed[name] ?? true, isRequired: required.has(name) }));
  // Required members come first; otherwise the order of the schema.
  return {
    kind: "object",
    properties: properties.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired)),
    others,
  };
}

function arrayShape(schema: JsonObject, root: Json): Shape {
  const items = schema["items"];
  if (schema["prefixItems"] !== undefined || Array.isArray(items)) return { kind: "json" };
  if (items === undefined || typeof items === "boolean") return { kind: "json" };
  const options = optionsOf(flatten(items, root).schema, root);
  if (options !== undefined && schema["uniqueItems"] !== false) return { kind: "multi", options };
  return {
    kind: "array",
    items,
    min: numberOf(schema["minItems"]) ?? 0,
    max: numberOf(schema["maxItems"]) ?? Number.POSITIVE_INFINITY,
  };
}

function numberShape(schema: JsonObject): Shape {
  const isInteger = typeOf(schema) === "integer";
  const step = numberOf(schema["multipleOf"]);
  return {
    kind: "number",
    isInteger,
    min: numberOf(schema["minimum"]) ?? numberOf(schema["exclusiveMinimum"]),
    max: numberOf(schema["maximum"]) ?? numberOf(schema["exclusiveMaximum"]),
    step: step ?? (isInteger ? 1 : undefined),
  };
}

/** The values of an enum, with titles: `enum`, `enum` + `enumNames`, or `oneOf` of constants. */
function optionsOf(schema: JsonObject, root: Json): Option[] | undefined {
  const values = schema["enum"];
  if (Array.isArray(values)) {
    const names = Array.isArray(schema["enumNames"]) ? schema["enumNames"] : [];
    return values.map((value, index) => ({ value, label: textOf(names[index]) ?? show(value) }));
  }
  for (const word of ["oneOf", "anyOf"]) {
    const branches = schema[word];
    if (!Array.isArray(branches) || branches.length === 0) continue;
    const flat = branches.map((branch) => flatten(branch, root).schema);
    if (!flat.every((branch) => Object.hasOwn(branch, "const"))) continue;
    return flat.map((branch) => ({
      value: branch["const"] ?? null,
      label: textOf(branch["title"]) ?? show(branch["const"] ?? null),
    }));
  }
  return undefined;
}

function labelOf(branch: JsonObject, root: Json, index: number): string {
  const title = textOf(branch["title"]);
  if (title !== undefined) return title;
  // A constant member tells the branches of a union apart: { "type": "file" }.
  const properties = isObject(branch["properties"]) ? branch["properties"] : {};
  for (const [name, property] of Object.entries(properties)) {
    const { schema } = flatten(property, root);
    const only = Array.isArray(schema["enum"]) && schema["enum"].length === 1 ? schema["enum"][0] : schema["const"];
    if (only !== undefined) return `${name} ${show(only)}`;
  }
  const required = Array.isArray(branch["required"])
    ? branch["required"].filter((name) => typeof name === "string")
    : [];
  if (required.length > 0 && required.length < 4) return `with ${required.join(", ")}`;
  const type = typeOf(branch);
  return type === undefined ? `variant ${index + 1}` : type;
}

export function typeOf(schema: JsonObject): string | undefined {
  const type = schema["type"];
  if (typeof type === "string") return type;
  if (Array.isArray(type) && typeof type[0] === "string") return type[0];
  if (isObject(schema["properties"]) || isObject(schema["additionalProperties"])) return "object";
  if (schema["items"] !== undefined) return "array";
  if (schema["pattern"] !== undefined || schema["minLength"] !== undefined || schema["maxLength"] !== undefined)
    return "string";
  if (schema["minimum"] !== undefined || schema["maximum"] !== undefined) return "number";
  return undefined;
}

function widgetOf(schema: JsonObject): StringWidget {
  const format = textOf(schema["format"]) ?? "";
  switch (format) {
    case "date":
    case "date-time":
    case "time":
    case "email":
    case "uri":
    case "password":
      return format;
    case "url":
      return "uri";
    case "markdown":
    case "textarea":
      return "textarea";
    default:
      return (numberOf(schema["maxLength"]) ?? 0) > LONG_TEXT ? "textarea" : "text";
  }
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberOf(value: Json | undefined): number | undefined {
  if (value instanceof NumberText) return Number(value.text);
  return typeof value === "number" ? value : undefined;
}

/** A constant in words. */
function show(value: Json): string {
  if (typeof value === "string") return value;
  return value instanceof NumberText ? value.text : JSON.stringify(value);
}
