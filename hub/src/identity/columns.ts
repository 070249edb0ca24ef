// Values of columns, which may have any type in a damaged file. What makes no sense gives no rights.

import { parseJson } from "@plugboard/shared/lenient";

/** Of a database, by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>;

export function text(column: unknown): string {
  return typeof column === "string" ? column : "";
}

export function textOrNothing(column: unknown): string | undefined {
  return typeof column === "string" ? column : undefined;
}

export function numberOrNothing(column: unknown): number | undefined {
  return column === null || column === undefined ? undefined : Number(column);
}

/** A JSON list of texts. */
export function textList(column: unknown): string[] {
  const list = parseJson(text(column));
  return Array.isArray(list) ? list.filter((each): each is string => typeof each === "string") : [];
}
