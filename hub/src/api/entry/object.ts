// A JSON object from outside, as plain data.

import { isObject, toPlainJson, type Json, type JsonObject } from "../../config/plain.ts";
import { HubError } from "../../errors.ts";

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return isObject(value);
}

/** A clean copy; what is no object, is too deep, or reaches for a prototype is refused. */
export function toJsonObject(value: unknown, what = "A server"): JsonObject {
  const json = toPlainJson(value);
  if (isJsonObject(json)) return json;
  throw new HubError("InvalidConfig", `${what} must be an object`);
}
