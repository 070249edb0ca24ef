// Makes an entry of a server's list one that every client can read. Client libraries parse a list as a whole: a single
// `"description": null` takes the tools of all servers away. Where the meaning is plain the entry is repaired, otherwise it
// is left out. An entry without a fault is the very same object.

import * as z from "zod/mini";
import { isObject, type JsonObject, type Listing } from "./listing.ts";
import { findSchemaFault } from "./schema-fault.ts";

export type EntryKind = keyof Listing;

/** What was wrong with an entry. Names of the author's choosing are no part of it, so that equal faults can be counted. */
export interface Fault {
  /** @example "inputSchema.required" */
  readonly member: string;
  /** @example "is null" */
  readonly problem: string;
  /** @example "left out" */
  readonly remedy: string;
}

export type Repaired =
  | { readonly entry: JsonObject; readonly faults: readonly Fault[] }
  /** It cannot be offered. */
  | { readonly entry: undefined; readonly reason: string };

/** The member that names an entry of each kind. */
export const KEYS = {
  tools: "name",
  prompts: "name",
  resources: "uri",
  templates: "uriTemplate",
} as const satisfies Record<EntryKind, string>;

/** Of tools and prompts, as the requirements have it. */
export const MAX_NAME_LENGTH = 128;

const DROPPED = "left out";
const ABSENT = Symbol("absent");

type Report = (fault: Fault) => void;
/** What the value should be: the very same one where it is right, ABSENT where nothing can be made of it. */
type Check = (value: unknown, member: string, report: Report) => unknown;
type Checks = Readonly<Record<string, Check>>;

export function repairEntry(kind: EntryKind, entry: unknown): Repaired {
  if (!isObject(entry)) return { entry: undefined, reason: `it is ${nameOf(entry)} and no object` };
  const key = KEYS[kind];
  const id = entry[key];
  if (typeof id !== "string" || id === "") {
    return { entry: undefined, reason: Object.hasOwn(entry, key) ? `its ${key} ${problemOf(id)}` : `it has no ${key}` };
  }
  if (key === "name" && id.length > MAX_NAME_LENGTH) {
    const reason = `its name has ${id.length} characters, and ${MAX_NAME_LENGTH} are allowed`;
    return { entry: undefined, reason };
  }
  const faults: Fault[] = [];
  const report: Report = (fault) => void faults.push(fault);
  const checked = checkMembers(entry, CHECKS[kind], "", report);
  if (kind === "tools") return withInputSchema(checked, faults, report);
  return { entry: key === "name" ? checked : withName(checked, id, report), faults };
}

/** Arguments that no client could make sense of leave nothing to offer; that there are none is a plain thing to say. */
function withInputSchema(tool: JsonObject, faults: readonly Fault[], report: Report): Repaired {
  const schema = tool["inputSchema"];
  if (schema === undefined || schema === null || schema === true) {
    const problem = schema === undefined ? "is missing" : problemOf(schema);
    report({ member: "inputSchema", problem, remedy: 'taken as {"type":"object"}' });
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
  report({ member: "inputSchema.type", problem, remedy: 'taken as "object"' });
  return { ...schema, type: "object" };
}

/** Resources are found by their URI; the name is for people. */
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

/** Elements that do not fit are left out, the others stay. A single text may stand for a list of one, where `lone` says so. */
function listOf(check: Check, { lone = false }: { lone?: boolean } = {}): Check {
  return (value, member, report) => {
    if (lone && typeof value === "string" && check(value, member, () => undefined) === value) {
      report({ member, problem: "is a text", remedy: "taken as a list of one" });
      return [value];
    }
    if (!Array.isArray(value)) return drop(value, member, report);
    const checked = value.map((element) => check(element, `${member}[]`, report));
    return checked.every((element, index) => element === value[index])
      ? value
      : checked.filter((element) => element !== ABSENT);
  };
}

/** An object that is nothing without one of its members. */
function needing(key: string, check: Check): Check {
  return (value, member, report) => {
    if (isObject(value) && typeof value[key] !== "string") {
      return drop(value, member, report, `has no ${key}`);
    }
    return check(value, member, report);
  };
}

/** A property may be anything that JSON Schema takes for a schema; what it does not is taken as "any value". */
const properties: Check = (value, member, report) => {
  if (!isObject(value)) return drop(value, member, report);
  let changed: Record<string, unknown> | undefined;
  for (const [name, schema] of Object.entries(value)) {
    if (isObject(schema) || typeof schema === "boolean") continue;
    report({ member: `${member}.*`, problem: problemOf(schema), remedy: "taken as {}" });
    changed ??= { ...value };
    changed[name] = {};
  }
  return changed ?? value;
};

const SCHEMA: Checks = { $schema: text, properties, required: listOf(text) };

/** Its only use is to check results with, which some clients prepare for as soon as they have the list. */
const outputSchema: Check = (value, member, report) => {
  if (value === true) {
    report({ member, problem: "is true", remedy: "taken as {}" });
    return {};
  }
  if (!isObject(value)) return drop(value, member, report);
  const checked = checkMembers(value, SCHEMA, `${member}.`, report);
  const fault = findSchemaFault(checked);
  return fault === undefined ? checked : drop(value, member, report, `cannot be used: ${fault}`);
};

/** As the SDKs read it: with a time and a zone. */
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
    (value) => (typeof value === "string" ? "is no time with a zone" : problemOf(value)),
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

/** A value that is wrong although its type is right; cut, since it is the server's. */
function quoted(value: unknown): string {
  const isScalar = typeof value === "string" || typeof value === "number";
  return isScalar ? `is ${JSON.stringify(value).slice(0, 40)}` : problemOf(value);
}
