// The value behind a form is the JSON itself, so nothing is lost between the form and its JSON text: the form only shows the members
// that it knows, and changes one place at a time.

import { isObject, memberOf, NumberText, toJsonText, type Json, type JsonObject } from "../text/json.ts";
import { isCredentialKey } from "../../../../hub/src/redaction/credential-key.ts";
import { describeField, MAX_DEPTH, typeOf, type Branch, type Field } from "./describe.ts";
import { flatten } from "./flatten.ts";

export interface InitialOptions {
  /** Also the defaults of members that are not required, for forms in which the person sees what is sent. */
  readonly withDefaults?: boolean;
}

/** The value with which a form begins: required members that have only one value, or a default. */
export function initialValue(schema: Json, root: Json, options: InitialOptions = {}, depth = 0): Json | undefined {
  const field = describeField(schema, root, depth);
  if (field.default !== undefined) return field.default;
  switch (field.kind) {
    case "const":
      return field.value;
    case "enum":
      return field.options.length === 1 ? field.options[0]?.value : undefined;
    case "object":
      return depth > MAX_DEPTH ? undefined : initialObject(field, root, options, depth);
    case "choice":
      return initialValue(field.branches[0]?.schema ?? true, root, options, depth + 1);
    case "array":
    case "multi":
      return options.withDefaults === true && depth === 0 ? [] : undefined;
    case "boolean":
    case "json":
    case "null":
    case "number":
    case "string":
      return undefined;
  }
}

function initialObject(
  { properties }: Extract<Field, { kind: "object" }>,
  root: Json,
  options: InitialOptions,
  depth: number,
): JsonObject {
  const members = properties.flatMap(({ name, schema, isRequired }): [string, Json][] => {
    if (!isRequired && options.withDefaults !== true) return [];
    const value = isRequired
      ? initialValue(schema, root, options, depth + 1)
      : describeField(schema, root, depth + 1).default;
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(members);
}

/** The branch of a union that fits a value best: by its type, constants and required members. */
export function branchOf(value: Json | undefined, branches: readonly Branch[], root: Json): number {
  if (value === undefined) return 0;
  const scores = branches.map(({ schema }) => fitOf(value, schema, root));
  return Math.max(0, scores.indexOf(Math.max(...scores)));
}

function fitOf(value: Json, schema: JsonObject, root: Json): number {
  if (Object.hasOwn(schema, "const")) return isSame(schema["const"] ?? null, value) ? 3 : -1;
  if (Array.isArray(schema["enum"])) return schema["enum"].some((one) => isSame(one, value)) ? 3 : -1;
  const type = typeOf(schema);
  if (type !== undefined && !isOfType(value, type)) return -1;
  if (!isObject(value)) return type === undefined ? 0 : 1;
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  let score = 1;
  for (const [name, property] of Object.entries(properties)) {
    const member = memberOf(value, name);
    const rule = flatten(property, root).schema;
    const only = Object.hasOwn(rule, "const") ? [rule["const"] ?? null] : rule["enum"];
    if (!Array.isArray(only) || member === undefined) {
      if (member !== undefined) score++;
    } else if (only.some((one) => isSame(one, member))) score += 4;
    else return -1;
  }
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return score - required.filter((name) => typeof name === "string" && memberOf(value, name) === undefined).length;
}

/** The value after a change to another branch: members that both know stay. */
export function switchBranch(value: Json | undefined, to: Branch, root: Json, depth: number): Json | undefined {
  const start = initialValue(to.schema, root, {}, depth);
  if (!isObject(value) || !isObject(start)) return start;
  const known = isObject(to.schema["properties"]) ? to.schema["properties"] : {};
  const kept = Object.entries(value).filter(([name]) => Object.hasOwn(known, name) && !Object.hasOwn(start, name));
  return { ...start, ...Object.fromEntries(kept) };
}

function isOfType(value: Json, type: string): boolean {
  switch (type) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "integer":
      return value instanceof NumberText || Number.isInteger(value);
    case "number":
      return value instanceof NumberText || typeof value === "number";
    default:
      return typeof value === type;
  }
}

export function isSame(first: Json | undefined, second: Json | undefined): boolean {
  if (first === undefined || second === undefined) return first === second;
  return toJsonText(first) === toJsonText(second);
}

/** @example toPointer("/a", "b/c") === "/a/b~1c" */
export function toPointer(parent: string, name: string | number): string {
  return `${parent}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The places of required members that are absent. */
export function missingMembers(schema: Json, value: Json | undefined, root: Json, at = "", depth = 0): string[] {
  const field = describeField(schema, root, depth);
  if (value === undefined || (value === null && field.isNullable)) return [];
  if (field.kind === "choice") {
    const branch = field.branches[branchOf(value, field.branches, root)];
    return branch === undefined ? [] : missingMembers(branch.schema, value, root, at, depth + 1);
  }
  if (field.kind === "array" && Array.isArray(value)) {
    return value.flatMap((item, index) => missingMembers(field.items, item, root, toPointer(at, index), depth + 1));
  }
  if (field.kind !== "object" || !isObject(value)) return [];
  return field.properties.flatMap(({ name, schema: inner, isRequired }) => {
    const member = memberOf(value, name);
    const place = toPointer(at, name);
    if (member === undefined) return isRequired ? [place] : [];
    return missingMembers(inner, member, root, place, depth + 1);
  });
}

/** Whether a form holds something that must not be in a URL, by the schema or by the hub's rule for names. */
export function hasSecret(schema: Json, value: Json | undefined, root: Json, name = "", depth = 0): boolean {
  if (value === undefined || value === null || value === "" || typeof value === "boolean") return false;
  const field = describeField(schema, root, depth);
  if (field.isSecret || (name !== "" && isCredentialKey(name))) return true;
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) {
    const items = field.kind === "array" ? field.items : true;
    return value.some((item) => hasSecret(items, item, root, "", depth + 1));
  }
  if (!isObject(value)) return false;
  const properties = isObject(field.schema["properties"]) ? field.schema["properties"] : {};
  return Object.entries(value).some(([key, member]) =>
    hasSecret(memberOf(properties, key) ?? true, member, root, key, depth + 1),
  );
}
