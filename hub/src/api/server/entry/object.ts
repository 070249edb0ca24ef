// Converts JSON from outside into plain data.

import { toPlainJson, type Json, type JsonObject } from "../../../config/parse/plain-object.ts";
import { isObject } from "../../../lib/json/json.ts";
import { HubError } from "../../../errors.ts";

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return isObject(value);
}

/** A plain copy. Throws if the value is not an object, is too deep, or has keys of a prototype. */
export function toJsonObject(value: unknown, what = "A server"): JsonObject {
  const json = toPlainJson(value);
  if (isJsonObject(json)) return json;
  throw new HubError("InvalidArgument", `${what} must be an object`);
}
