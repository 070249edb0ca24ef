// The HTTP headers of the modern era that repeat parts of the body (`Mcp-Method`, `Mcp-Name`, `Mcp-Param-*`):
// how values are encoded, which a request needs, and whether those that came fit the body.

import { isObject, type JsonObject } from "./json.ts";

const PREFIX = "=?base64?";
const SUFFIX = "?=";
/** Visible ASCII, with blanks and tabs only inside. */
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const MAX_SCHEMA_DEPTH = 32;

export function encodeHeader(value: string | number | boolean): string {
  const text = String(value);
  if (PLAIN.test(text) && !(text.startsWith(PREFIX) && text.endsWith(SUFFIX))) return text;
  return PREFIX + Buffer.from(text).toString("base64") + SUFFIX;
}

export function decodeHeader(value: string): string {
  if (!value.startsWith(PREFIX) || !value.endsWith(SUFFIX)) return value;
  return Buffer.from(value.slice(PREFIX.length, -SUFFIX.length), "base64").toString();
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

/** Where an argument of a tool goes to a header of its own: `x-mcp-header` in the tool's schema. */
export interface HeaderParam {
  readonly header: string;
  readonly path: readonly string[];
}

/** The headers that a tool's schema asks for, or why the schema is not valid (such a tool is not usable over HTTP). */
export function headerParams(schema: unknown): readonly HeaderParam[] | { readonly invalid: string } {
  const found: HeaderParam[] = [];
  const invalid = collect(schema, [], found);
  if (invalid !== undefined) return { invalid };
  const names = found.map(({ header }) => header.toLowerCase());
  return new Set(names).size === names.length ? found : { invalid: "two arguments share one header name" };
}

function collect(schema: unknown, path: readonly string[], found: HeaderParam[]): string | undefined {
  if (!isObject(schema) || path.length > MAX_SCHEMA_DEPTH) return undefined;
  const header = schema["x-mcp-header"];
  if (header !== undefined) {
    const { type } = schema;
    if (typeof header !== "string" || !TOKEN.test(header)) return "x-mcp-header is not a header name";
    if (type !== "string" && type !== "integer" && type !== "boolean")
      return `${header} has a type that fits no header`;
    found.push({ header, path });
  }
  for (const [key, property] of Object.entries(isObject(schema["properties"]) ? schema["properties"] : {})) {
    const invalid = collect(property, [...path, key], found);
    if (invalid !== undefined) return invalid;
  }
  return undefined;
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
    if (value !== undefined) headers[`mcp-param-${header.toLowerCase()}`] = encodeHeader(value);
  }
  return headers;
}

/** Which header of an incoming modern request contradicts its body, if any. */
export function headerMismatch(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  method: string,
  params: JsonObject | undefined,
  paramHeaders: readonly HeaderParam[] = [],
): string | undefined {
  for (const [name, expected] of Object.entries(requestHeaders(method, params, paramHeaders))) {
    const given = headers[name];
    if (given === undefined) return `The header ${name} is missing`;
    if (typeof given !== "string" || !sameValue(decodeHeader(given), decodeHeader(expected))) {
      return `The header ${name} does not match the body`;
    }
  }
  return undefined;
}

function sameValue(given: string, expected: string): boolean {
  if (given === expected) return true;
  const integer = /^-?\d+(\.0+)?$/;
  return integer.test(given) && integer.test(expected) && Number(given) === Number(expected);
}
