// Copies untrusted data into plain JSON: limits its depth and rejects keys that reach an object's prototype.

import { HubError } from "../../errors.ts";
import { isObject } from "../../lib/json/json.ts";
import { DEPTH_MAX } from "../schema/limits.ts";

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

const PROTOTYPE_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Whether a key reaches the prototype of a plain object. */
export function isPrototypeKey(key: string): boolean {
  return PROTOTYPE_KEYS.has(key);
}

/** Copies JSON values and throws for all others. Undefined members are omitted, as in JSON.stringify. */
export function toPlainJson(value: unknown, path: readonly string[] = []): Json {
  if (path.length > DEPTH_MAX) throw invalid(path.slice(0, 3), `is nested deeper than ${DEPTH_MAX} levels`);
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  // JSON has no -0, and the copy must equal what a later load reads.
  if (typeof value === "number" && Number.isFinite(value)) return value === 0 ? 0 : value;
  if (Array.isArray(value))
    return Array.from(value, (item: unknown, index) => toPlainJson(item, [...path, String(index)]));
  if (!isObject(value)) throw invalid(path, "is not JSON");
  const copy: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    if (isPrototypeKey(key)) throw invalid([...path, key], `"${key}" is a reserved name`);
    if (member !== undefined) copy[key] = toPlainJson(member, [...path, key]);
  }
  return copy;
}

function invalid(path: readonly string[], problem: string): HubError {
  const field = path.join(".");
  if (field === "") return new HubError("InvalidConfig", `The entry ${problem}`);
  return new HubError("InvalidConfig", problem.startsWith('"') ? problem : `${field} ${problem}`, { field });
}
