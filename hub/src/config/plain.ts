// A clean copy of JSON-like data from outside: bounded in depth, without the keys that reach an object's prototype.
// What the data means is left to schema.ts.

import { HubError } from "../errors.ts";
import { DEPTH_MAX } from "./limits.ts";

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

const MAGIC_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** True for the names that a plain object already has a meaning for. */
export function isMagicKey(key: string): boolean {
  return MAGIC_KEYS.has(key);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Copies what JSON can say; refuses the rest. Members that are undefined are left out, as JSON.stringify does. */
export function toPlainJson(value: unknown, path: readonly string[] = []): Json {
  if (path.length > DEPTH_MAX) throw refused(path.slice(0, 3), `is nested deeper than ${DEPTH_MAX} levels`);
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  // JSON knows no -0, and a copy must equal what a later load reads.
  if (typeof value === "number" && Number.isFinite(value)) return value === 0 ? 0 : value;
  if (Array.isArray(value))
    return Array.from(value, (item: unknown, index) => toPlainJson(item, [...path, String(index)]));
  if (!isObject(value)) throw refused(path, "is not JSON");
  const copy: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    if (isMagicKey(key)) throw refused([...path, key], `"${key}" cannot be used as a name`);
    if (member !== undefined) copy[key] = toPlainJson(member, [...path, key]);
  }
  return copy;
}

function refused(path: readonly string[], problem: string): HubError {
  const field = path.join(".");
  if (field === "") return new HubError("InvalidConfig", `The entry ${problem}`);
  return new HubError("InvalidConfig", problem.startsWith('"') ? problem : `${field} ${problem}`, { field });
}
