// Parses tool arguments: one JSON object, or `key=value` pairs typed by the tool's schema.

import { parseJson } from "@plugboard/shared/lenient";
import { HubError } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import { rawParams, type RawParams } from "../../protocol/rpc/jsonrpc.ts";

/**
 * Numbers keep the digits as typed.
 *
 * @example parseArguments(["n=3", "text=3"], schema).value // { n: 3, text: "3" } where n is a number and text a string
 */
export function parseArguments(words: readonly string[], schema: unknown): RawParams {
  const [first] = words;
  if (words.length === 1 && first?.trimStart().startsWith("{")) return parseJsonObject(first);
  const properties = isObject(schema) && isObject(schema["properties"]) ? schema["properties"] : {};
  const args = new Map<string, string>();
  for (const word of words) {
    const equals = word.indexOf("=");
    if (equals < 1) {
      throw new HubError("InvalidArgument", `Invalid argument "${word}": use key=value or one JSON object`, {
        hint: `plugboard call server.tool key=value other='a b'   or   plugboard call server.tool '{"key": "value"}'`,
      });
    }
    const key = word.slice(0, equals);
    args.set(
      key,
      parseValue(key, word.slice(equals + 1), Object.hasOwn(properties, key) ? properties[key] : undefined),
    );
  }
  return parseJsonObject(`{${[...args].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(",")}}`);
}

export function parseJsonObject(text: string, what = "The arguments are"): RawParams {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new HubError("SerializationError", `${what} not valid JSON`, {
      detail: String(error),
      cause: error,
    });
  }
  if (isObject(value)) return rawParams(value, Buffer.from(text.trim()));
  throw new HubError("InvalidArgument", `${what} not a JSON object`);
}

/** Returns JSON. The declared types decide. Without any, text that parses as JSON is JSON, except JSON strings. */
function parseValue(key: string, text: string, schema: unknown): string {
  const types = declaredTypes(schema);
  const value = parseJson(text);
  if (typeof value !== "string" && types.some((type) => isOfType(value, type))) return text.trim();
  if (types.includes("string")) return JSON.stringify(text);
  if (types.length === 0) return value === undefined || typeof value === "string" ? JSON.stringify(text) : text.trim();
  throw new HubError("InvalidArgument", `"${text}" is not a valid ${types.join(" or ")}`, {
    field: key,
    hint: "plugboard tools --schema",
  });
}

/** The types that a schema allows. */
function declaredTypes(schema: unknown): string[] {
  if (!isObject(schema)) return [];
  const { type, anyOf, oneOf } = schema;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.filter((each) => typeof each === "string");
  const choices = [anyOf, oneOf].find((each) => Array.isArray(each)) ?? [];
  return choices.flatMap(declaredTypes);
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      return typeof value === type;
  }
}
