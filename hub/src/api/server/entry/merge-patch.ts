// JSON Merge Patch, RFC 7396: values replace, null removes, objects are merged member by member.

import type { Json, JsonObject } from "../../../config/parse/plain-object.ts";
import { isJsonObject } from "./object.ts";

/** Returns the patched value; the target is unchanged. Both are plain JSON, so no key can reach a prototype. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const merged: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}
