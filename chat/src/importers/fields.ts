// Typed access to untrusted JSON: a field has the requested type or is undefined.

import { parseJson } from "@plugboard/shared/lenient";

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields | undefined {
  return isFields(value) ? value : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Undefined if the text is not a JSON object. */
export function parseFields(json: string): Fields | undefined {
  return fieldsOf(parseJson(json));
}

export function isJson(text: string): boolean {
  return parseJson(text) !== undefined;
}

/** Undefined for an empty string too. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Accepts numbers and, as exports write large values, numeric strings. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "string" || !/^-?\d{1,19}(?:\.\d{1,9})?$/.test(value)) return undefined;
  return Number(value);
}

/** Ids beyond 2^53 must be strings: as JSON numbers they have lost digits and are dropped. */
export function idOf(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  return textOf(value);
}

/** The latest time that a Date can represent. */
const MAX_TIME = 8.64e15;

/** Rounded milliseconds since 1970; undefined outside the range of Date. */
export function timeOf(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 && value < MAX_TIME ? Math.round(value) : undefined;
}

export function isoTimeOf(value: unknown): number | undefined {
  return typeof value === "string" ? timeOf(Date.parse(value)) : undefined;
}
