// Values as they come from SQLite, and what several queries select alike.

import type { SqlRow } from "./driver.ts";

export function text(row: SqlRow, column: string): string | null {
  const value = row[column];
  return typeof value === "string" ? value : null;
}

export function number(row: SqlRow, column: string): number | null {
  const value = row[column];
  return typeof value === "number" ? value : null;
}

export const keyOf = (row: SqlRow): number => Number(row["key"]);

/** SQL of the name that an address is shown by: its own, else another one of the same human, else what is known of it. */
export const nameOf = (address: string): string =>
  `coalesce(${address}.name, (SELECT name FROM address WHERE person = ${address}.person AND name IS NOT NULL
     ORDER BY key LIMIT 1), ${address}.username, ${address}.phone, ${address}.id)`;
