// JSON Merge Patch, RFC 7396: what is given replaces, null removes, objects are merged member by member.

import type { Json, JsonObject } from "../../config/plain.ts";
import { isJsonObject } from "./object.ts";

/** The patched value; the target stays as it is. Both are plain JSON, so no key can reach a prototype. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const merged: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}
