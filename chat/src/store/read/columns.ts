// Reads values from SQLite rows, and SQL expressions that several queries share.

import type { SqlRow } from "@plugboard/shared/sqlite/driver";

export function text(row: SqlRow, column: string): string | null {
  const value = row[column];
  return typeof value === "string" ? value : null;
}

export function number(row: SqlRow, column: string): number | null {
  const value = row[column];
  return typeof value === "number" ? value : null;
}

export const keyOf = (row: SqlRow): number => Number(row["key"]);

/**
 * SQL of the display name of an address: its own name, else another name of the same person in the source, else username,
 * number or id. A name from another source may come from a hidden chat, so it is not used.
 */
export const nameOf = (address: string): string =>
  `coalesce(${address}.name, (SELECT name FROM address WHERE person = ${address}.person AND source = ${address}.source
     AND name IS NOT NULL ORDER BY key LIMIT 1), ${address}.username, ${address}.phone, ${address}.id)`;
