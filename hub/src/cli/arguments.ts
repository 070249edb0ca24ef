// The arguments of a tool, as people type them: one JSON object, or `key=value` pairs read by the tool's own schema.

import { HubError } from "../errors.ts";
import { isObject, type JsonObject } from "../wire/json.ts";

/** @example parseArguments(["n=3", "text=3"], schema) // { n: 3, text: "3" } where n is a number and text a string */
export function parseArguments(words: readonly string[], schema: unknown): JsonObject {
  const [first] = words;
  if (words.length === 1 && first?.trimStart().startsWith("{")) return parseJson(first);
  const properties = isObject(schema) && isObject(schema["properties"]) ? schema["properties"] : {};
  const args = new Map<string, unknown>();
  for (const word of words) {
    const equals = word.indexOf("=");
    if (equals < 1) {
      throw new HubError("InvalidConfig", `"${word}" is neither key=value nor a JSON object`, {
        hint: `plugboard call server.tool key=value other='a b'   or   plugboard call server.tool '{"key": "value"}'`,
      });
    }
    const key = word.slice(0, equals);
    args.set(
      key,
      parseValue(key, word.slice(equals + 1), Object.hasOwn(properties, key) ? properties[key] : undefined),
    );
  }
  return Object.fromEntries(args);
}

export function parseJson(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new HubError("SerializationError", "The arguments are not valid JSON", {
      detail: String(error),
      cause: error,
    });
  }
  if (isObject(value)) return value;
  throw new HubError("InvalidConfig", "The arguments must be a JSON object");
}

/** A declared type decides. Without one, text that is JSON other than a string is taken as such. */
function parseValue(key: string, text: string, schema: unknown): unknown {
  const type = isObject(schema) ? schema["type"] : undefined;
  if (type === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    if (type === undefined || Array.isArray(type)) return text;
    throw new HubError("InvalidConfig", `"${text}" is not a valid ${JSON.stringify(type)}`, { field: key });
  }
}
