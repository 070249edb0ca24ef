// Repairs entries of a server's lists. Client libraries validate a list as a whole: a single `"description": null` makes them lose
// the tools of all servers. If the meaning is clear the entry is repaired, otherwise it is omitted. An entry without a fault
// stays the same object.

import * as z from "zod/mini";
import type { Listing } from "./listing.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { findSchemaFault } from "./schema-fault.ts";

export type EntryKind = keyof Listing;

/** A fault of an entry. Without names of arguments and the like, so that equal faults can be counted. */
export interface Fault {
  /** @example "inputSchema.required" */
  readonly member: string;
  /** @example "is null" */
  readonly problem: string;
  /** @example "omitted" */
  readonly remedy: string;
}

export type Repaired =
  | { readonly entry: JsonObject; readonly faults: readonly Fault[] }
  /** It is omitted. */
  | { readonly entry: undefined; readonly reason: string };

/** The identifying member of each kind of entry. */
export const KEYS = {
  tools: "name",
  prompts: "name",
  resources: "uri",
  templates: "uriTemplate",
} as const satisfies Record<EntryKind, string>;

/** For tools and prompts. */
export const MAX_NAME_LENGTH = 128;

const DROPPED = "omitted";
const ABSENT = Symbol("absent");

type Report = (fault: Fault) => void;
/** Returns the value if it is valid, a repaired one, or ABSENT to remove it. */
type Check = (value: unknown, member: string, report: Report) => unknown;
type Checks = Readonly<Record<string, Check>>;

export function repairEntry(kind: EntryKind, entry: unknown): Repaired {
  if (!isObject(entry)) return { entry: undefined, reason: `it is ${nameOf(entry)}, not an object` };
  const key = KEYS[kind];
  const id = entry[key];
  if (typeof id !== "string" || id === "") {
    return { entry: undefined, reason: Object.hasOwn(entry, key) ? `its ${key} ${problemOf(id)}` : `it has no ${key}` };
  }
  if (key === "name" && id.length > MAX_NAME_LENGTH) {
    const reason = `its name has ${id.length} characters (at most ${MAX_NAME_LENGTH} are allowed)`;
    return { entry: undefined, reason };
  }
  const faults: Fault[] = [];
  const report: Report = (fault) => void faults.push(fault);
  const checked = checkMembers(entry, CHECKS[kind], "", report);
  if (kind === "tools") return withInputSchema(checked, faults, report);
  return { entry: key === "name" ? checked : withName(checked, id, report), faults };
}

/** A tool without an input schema takes no arguments. A tool with an unusable one is omitted. */
function withInputSchema(tool: JsonObject, faults: readonly Fault[], report: Report): Repaired {
  const schema = tool["inputSchema"];
  if (schema === undefined || schema === null || schema === true) {
    const problem = schema === undefined ? "is missing" : problemOf(schema);
    report({ member: "inputSchema", problem, remedy: 'treated as {"type":"object"}' });
    return { entry: { ...tool, inputSchema: { type: "object" } }, faults };
  }
  if (!isObject(schema)) return { entry: undefined, reason: `its inputSchema ${problemOf(schema)}` };
  const { type } = schema;
  const typed = type === "object" ? schema : withObjectType(schema, report);
  if (typed === undefined)
    return { entry: undefined, reason: `the type of its inputSchema is ${JSON.stringify(type)}` };
  const fit = checkMembers(typed, SCHEMA, "inputSchema.", report);
  return { entry: fit === schema ? tool : { ...tool, inputSchema: fit }, faults };
}

function withObjectType(schema: JsonObject, report: Report): JsonObject | undefined {
  const { type } = schema;
  const isMeant = type === undefined || type === null || (Array.isArray(type) && type.includes("object"));
  if (!isMeant) return undefined;
  const problem = type === undefined ? "is missing" : `is ${JSON.stringify(type)}`;
  report({ member: "inputSchema.type", problem, remedy: 'treated as "object"' });
  return { ...schema, type: "object" };
}

/** Resources are identified by their URI; the name is only shown. */
function withName(entry: JsonObject, id: string, report: Report): JsonObject {
  if (typeof entry["name"] === "string") return entry;
  const { title } = entry;
  const problem = Object.hasOwn(entry, "name") ? problemOf(entry["name"]) : "is missing";
  report({ member: "name", problem, remedy: typeof title === "string" ? "the title is used" : "the URI is used" });
  return { ...entry, name: typeof title === "string" ? title : id };
}

function checkMembers(object: JsonObject, checks: Checks, path: string, report: Report): JsonObject {
  let changed: Record<string, unknown> | undefined;
  for (const [key, check] of Object.entries(checks)) {
    if (!Object.hasOwn(object, key)) continue;
    const value = object[key];
    const right = check(value, path + key, report);
    if (right === value) continue;
    changed ??= { ...object };
    if (right === ABSENT) delete changed[key];
    else changed[key] = right;
  }
  return changed ?? object;
}

function drop(value: unknown, member: string, report: Report, problem = problemOf(value)): typeof ABSENT {
  report({ member, problem, remedy: DROPPED });
  return ABSENT;
}

function only(isRight: (value: unknown) => boolean, describe?: (value: unknown) => string): Check {
  return (value, member, report) => (isRight(value) ? value : drop(value, member, report, describe?.(value)));
}

const text = only((value) => typeof value === "string");
const flag = only((value) => typeof value === "boolean");
const anyObject = only(isObject);

function oneOf(...allowed: readonly string[]): Check {
  return only((value) => typeof value === "string" && allowed.includes(value), quoted);
}

function objectOf(checks: Checks): Check {
  return (value, member, report) =>
    isObject(value) ? checkMembers(value, checks, `${member}.`, report) : drop(value, member, report);
}

/** Removes invalid elements. With `lone`, a single string is treated as a list of one. */
function listOf(check: Check, { lone = false }: { lone?: boolean } = {}): Check {
  return (value, member, report) => {
    if (lone && typeof value === "string" && check(value, member, () => undefined) === value) {
      report({ member, problem: "is a text", remedy: "treated as a list of one" });
      return [value];
    }
    if (!Array.isArray(value)) return drop(value, member, report);
    const checked = value.map((element) => check(element, `${member}[]`, report));
    return checked.every((element, index) => element === value[index])
      ? value
      : checked.filter((element) => element !== ABSENT);
  };
}

/** An object that is removed if it lacks one member. */
function needing(key: string, check: Check): Check {
  return (value, member, report) => {
    if (isObject(value) && typeof value[key] !== "string") {
      return drop(value, member, report, `has no ${key}`);
    }
    return check(value, member, report);
  };
}

/** A property that is not a JSON Schema is treated as "any value". */
const properties: Check = (value, member, report) => {
  if (!isObject(value)) return drop(value, member, report);
  let changed: Record<string, unknown> | undefined;
  for (const [name, schema] of Object.entries(value)) {
    if (isObject(schema) || typeof schema === "boolean") continue;
    report({ member: `${member}.*`, problem: problemOf(schema), remedy: "treated as {}" });
    changed ??= { ...value };
    changed[name] = {};
  }
  return changed ?? value;
};

const SCHEMA: Checks = { $schema: text, properties, required: listOf(text) };

/** Some clients compile output schemas when they list tools, so an invalid one must be removed. */
const outputSchema: Check = (value, member, report) => {
  if (value === true) {
    report({ member, problem: "is true", remedy: "treated as {}" });
    return {};
  }
  if (!isObject(value)) return drop(value, member, report);
  const checked = checkMembers(value, SCHEMA, `${member}.`, report);
  const fault = findSchemaFault(checked);
  return fault === undefined ? checked : drop(value, member, report, `cannot be used: ${fault}`);
};

/** As the SDKs require it: with a time and a zone. */
const instant = z.iso.datetime({ offset: true });

const icon = needing(
  "src",
  objectOf({ mimeType: text, sizes: listOf(text, { lone: true }), theme: oneOf("light", "dark") }),
);

const annotations = objectOf({
  audience: listOf(oneOf("user", "assistant"), { lone: true }),
  priority: only((value) => typeof value === "number" && value >= 0 && value <= 1, quoted),
  lastModified: only(
    (value) => instant.safeParse(value).success,
    (value) => (typeof value === "string" ? "is not a time with a zone" : problemOf(value)),
  ),
});

const COMMON: Checks = { title: text, description: text, icons: listOf(icon), _meta: anyObject };

const CHECKS: Readonly<Record<EntryKind, Checks>> = {
  tools: {
    ...COMMON,
    outputSchema,
    annotations: objectOf({
      title: text,
      readOnlyHint: flag,
      destructiveHint: flag,
      idempotentHint: flag,
      openWorldHint: flag,
    }),
    execution: objectOf({ taskSupport: oneOf("required", "optional", "forbidden") }),
  },
  prompts: {
    ...COMMON,
    arguments: listOf(needing("name", objectOf({ title: text, description: text, required: flag }))),
  },
  resources: {
    ...COMMON,
    mimeType: text,
    size: only((value) => Number.isSafeInteger(value) && Number(value) >= 0, quoted),
    annotations,
  },
  templates: { ...COMMON, mimeType: text, annotations },
};

/** @example problemOf(null) // "is null" */
function problemOf(value: unknown): string {
  return `is ${nameOf(value)}`;
}

function nameOf(value: unknown): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (value === "") return "empty";
  if (Array.isArray(value)) return "a list";
  return { string: "a text", number: "a number", object: "an object" }[typeof value as string] ?? "missing";
}

/** For an invalid value of the right type; cut, since it comes from the server. */
function quoted(value: unknown): string {
  const isScalar = typeof value === "string" || typeof value === "number";
  return isScalar ? `is ${JSON.stringify(value).slice(0, 40)}` : problemOf(value);
}
