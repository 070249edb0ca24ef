import { isObject, type JsonObject } from "../lib/json/json.ts";

/** The JSON object in a text. Undefined: it is something else. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
