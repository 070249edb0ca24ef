// The HTTP headers of the modern era that repeat parts of the body (`Mcp-Method`, `Mcp-Name`, `Mcp-Param-*`):
// encodes their values, builds those of a request, and checks those of an incoming request against its body.

import { isObject, type JsonObject } from "../../lib/json/json.ts";

/** Sent by the bridge of `plugboard stdio`: the request comes from a client behind it. */
export const BRIDGE_HEADER = "plugboard-bridge";

const PREFIX = "=?base64?";
const SUFFIX = "?=";
/** Printable ASCII; spaces and tabs only inside. */
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const MAX_SCHEMA_DEPTH = 32;

export function encodeHeader(value: string | number | boolean): string {
  const text = String(value);
  if (PLAIN.test(text) && !(text.startsWith(PREFIX) && text.endsWith(SUFFIX))) return text;
  return PREFIX + Buffer.from(text).toString("base64") + SUFFIX;
}

/** The decoded text; undefined if the value is marked as base64 and is not canonical base64 of UTF-8. */
export function decodeHeader(value: string): string | undefined {
  if (!value.startsWith(PREFIX) || !value.endsWith(SUFFIX)) return value;
  const base64 = value.slice(PREFIX.length, -SUFFIX.length);
  const text = Buffer.from(base64, "base64").toString();
  return Buffer.from(text).toString("base64") === base64 ? text : undefined;
}

/** The part of the params that `Mcp-Name` repeats, by method. */
export function headerName(method: string, params: JsonObject | undefined): string | undefined {
  const key = NAME_PARAM.get(method);
  const value = key === undefined ? undefined : params?.[key];
  return typeof value === "string" ? value : undefined;
}

const NAME_PARAM: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/** An argument of a tool that is repeated in a header: `x-mcp-header` in the tool's schema. */
export interface HeaderParam {
  readonly header: string;
  readonly path: readonly string[];
}

/** The headers that a tool's schema requires, or why it is invalid (such a tool is not usable over HTTP). */
export function headerParams(schema: unknown): readonly HeaderParam[] | { readonly invalid: string } {
  const found: HeaderParam[] = [];
  const invalid = collect(schema, [], found);
  if (invalid !== undefined) return { invalid };
  const names = found.map(({ header }) => header.toLowerCase());
  return new Set(names).size === names.length ? found : { invalid: "two arguments share one header name" };
}

/** The headers of each tool definition, cached because every modern call over HTTP needs them. Empty if invalid. */
export class HeaderRules {
  readonly #known = new WeakMap<JsonObject, readonly HeaderParam[]>();

  of(tool: JsonObject): readonly HeaderParam[] {
    const known = this.#known.get(tool);
    if (known !== undefined) return known;
    const found = headerParams(tool["inputSchema"]);
    const rules = "invalid" in found ? [] : found;
    this.#known.set(tool, rules);
    return rules;
  }
}

function collect(schema: unknown, path: readonly string[], found: HeaderParam[]): string | undefined {
  if (!isObject(schema) || path.length > MAX_SCHEMA_DEPTH) return undefined;
  const header = schema["x-mcp-header"];
  if (header !== undefined) {
    const { type } = schema;
    if (path.length === 0) return MISPLACED;
    if (typeof header !== "string" || !TOKEN.test(header)) return "x-mcp-header is not a header name";
    if (type !== "string" && type !== "integer" && type !== "boolean")
      return `${header} has a type that fits no header`;
    found.push({ header, path });
  }
  if (ELSEWHERE.some((keyword) => mentionsHeader(schema[keyword], MAX_SCHEMA_DEPTH))) return MISPLACED;
  for (const [key, property] of Object.entries(isObject(schema["properties"]) ? schema["properties"] : {})) {
    const invalid = collect(property, [...path, key], found);
    if (invalid !== undefined) return invalid;
  }
  return undefined;
}

const MISPLACED = "x-mcp-header is at a place that is not a single argument";

/** Keywords whose schemas do not describe a single argument: lists, choices, definitions. */
const ELSEWHERE: readonly string[] = [
  ["items", "prefixItems", "contains", "unevaluatedItems"],
  ["additionalProperties", "unevaluatedProperties", "propertyNames", "patternProperties", "dependentSchemas"],
  ["oneOf", "anyOf", "allOf", "not", "if", "then", "else", "$defs", "definitions"],
].flat();

/** Only if it is a string: an argument may have this name too, and its value is a schema. */
function mentionsHeader(value: unknown, depthLeft: number): boolean {
  if (typeof value === "object" && value !== null && depthLeft > 0) {
    return Object.entries(value).some(
      ([key, inner]) => (key === "x-mcp-header" && typeof inner === "string") || mentionsHeader(inner, depthLeft - 1),
    );
  }
  return false;
}

function argumentAt(args: unknown, path: readonly string[]): string | number | boolean | undefined {
  let value = args;
  for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : undefined;
}

/** The headers of one outgoing modern request. */
export function requestHeaders(
  method: string,
  params: JsonObject | undefined,
  paramHeaders: readonly HeaderParam[] = [],
): Record<string, string> {
  const headers: Record<string, string> = { "mcp-method": method };
  const name = headerName(method, params);
  if (name !== undefined) headers["mcp-name"] = encodeHeader(name);
  for (const { header, path } of paramHeaders) {
    const value = argumentAt(params?.["arguments"], path);
    if (value !== undefined) headers[paramHeaderName(header)] = encodeHeader(value);
  }
  return headers;
}

function paramHeaderName(header: string): string {
  return `mcp-param-${header.toLowerCase()}`;
}

/** Which header of an incoming modern request contradicts its body, if any. */
export function headerMismatch(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  method: string,
  params: JsonObject | undefined,
  paramHeaders: readonly HeaderParam[] = [],
): string | undefined {
  const numbers = paramHeaders.filter(({ path }) => typeof argumentAt(params?.["arguments"], path) === "number");
  const numeric = new Set(numbers.map(({ header }) => paramHeaderName(header)));
  for (const [name, expected] of Object.entries(requestHeaders(method, params, paramHeaders))) {
    const given = headers[name];
    if (given === undefined) return `The header ${name} is missing`;
    const text = typeof given === "string" ? decodeHeader(given) : undefined;
    const same = text === decodeHeader(expected) || (numeric.has(name) && sameNumber(text, expected));
    if (text === undefined || !same) return `The header ${name} does not match the body`;
  }
  return undefined;
}

function sameNumber(given: string | undefined, expected: string): boolean {
  return given !== undefined && /^-?\d+(\.\d+)?$/.test(given) && Number(given) === Number(expected);
}
