// Tables for the terminal, cut to its width.

import { stripVTControlCharacters } from "node:util";
import * as shared from "@plugboard/shared/table";
import { cleanName } from "../model/lines.ts";

export function table(rows: readonly (readonly string[])[], width: number | undefined): string {
  const clean = rows.map((row) => row.map((cell) => cleanName(stripVTControlCharacters(cell))));
  return shared.table(clean, { width });
}
