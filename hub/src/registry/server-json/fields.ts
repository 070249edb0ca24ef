// Reads members of documents that strangers wrote: in both spellings of a name, and of the wrong type without harm.

import { HubError } from "../../errors.ts";
import { isObject, type JsonObject } from "../../lib/json/json.ts";

/** A package, address or file that cannot be used, and why. */
export function unusable(reason: string): HubError {
  return new HubError("InvalidConfig", reason);
}

/** A member in camelCase or snake_case, under the first of these names that it has. Null counts as absent. */
export function member(json: JsonObject, ...names: readonly string[]): unknown {
  for (const name of names) {
    for (const spelling of [name, toSnake(name)]) {
      if (Object.hasOwn(json, spelling) && json[spelling] != null) return json[spelling];
    }
  }
  return undefined;
}

function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Text, trimmed; undefined if it is absent, empty or no text. */
export function textOf(json: JsonObject, ...names: readonly string[]): string | undefined {
  const value = member(json, ...names);
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** Text, or a number or truth value as text. Throws for anything else. */
export function valueOf(json: JsonObject, what: string, name: string): string | undefined {
  const value = member(json, name);
  const text = scalarText(value);
  if (value === undefined || text !== undefined) return text;
  throw unusable(`${what}: ${name} must be text`);
}

/** Text, or a number or truth value as text; undefined for anything else. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** Only the value true, or the text "true", is true. */
export function flagOf(json: JsonObject, ...names: readonly string[]): boolean {
  const value = member(json, ...names);
  return value === true || value === "true";
}

/** A list of at most `max` elements; empty if it is absent. Throws for anything else. */
export function listOf(json: JsonObject, name: string, max: number): readonly unknown[] {
  const value = member(json, name);
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw unusable(`${name} must be a list`);
  if (value.length > max) throw unusable(`${name} has more than ${max} elements`);
  return value;
}

export function requireObject(value: unknown, what: string): JsonObject {
  if (isObject(value)) return value;
  throw unusable(`${what} must be an object`);
}

/** Text for a list or a page: without control characters, and cut to `max` characters. */
export function shownLine(text: string | undefined, max: number): string | undefined {
  if (text === undefined) return undefined;
  const line = text
    .slice(0, max * 4)
    .replaceAll(/[\p{Cc}\p{Cs}\s]+/gu, " ")
    .trim();
  const letters = Array.from(line);
  if (letters.length === 0) return undefined;
  return letters.length <= max ? line : `${letters.slice(0, max - 1).join("")}…`;
}
