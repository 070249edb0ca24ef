// Reads parsed JSON of which nothing is certain: a field has the type that is asked for, or it is not there.

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields | undefined {
  return isFields(value) ? value : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Undefined where the text is no JSON, or no object. The parser's own words would quote the message. */
export function parseFields(json: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(json));
  } catch {
    return undefined;
  }
}

/** An empty text tells nothing. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Numbers come as numbers or, where they may be large, as strings. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "string" || !/^-?\d{1,19}(?:\.\d{1,9})?$/.test(value)) return undefined;
  return Number(value);
}

/** An id, spelled as it came. Beyond 2^53 a JSON number has lost digits, but the same ones each time. */
export function idOf(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  return textOf(value);
}

/** The latest time that a Date can hold; beyond it no time can be told. */
const MAX_TIME = 8.64e15;

/** Milliseconds since 1970; of a positive time that exists. */
export function timeOf(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 && value < MAX_TIME ? Math.round(value) : undefined;
}

export function isoTimeOf(value: unknown): number | undefined {
  return typeof value === "string" ? timeOf(Date.parse(value)) : undefined;
}
