// Tables for the terminal. Cells may have any text: it is shown on one line, without control characters.

import * as shared from "@plugboard/shared/table";
import { oneLine } from "./text.ts";

export type { Cell, TableOptions } from "@plugboard/shared/table";
type Rows = readonly (readonly shared.Cell[])[];

export function table(rows: Rows, options?: shared.TableOptions): string {
  return shared.table(clean(rows), options);
}

/** The columns that fit into the width, after dropping columns in the order of `expendable`. */
export function fittingColumns(rows: Rows, options: Parameters<typeof shared.fittingColumns>[1]): number[] {
  return shared.fittingColumns(clean(rows), options);
}

/** The text of a cell as it is shown. */
export function textOf(cell: shared.Cell): string {
  return oneLine(typeof cell === "string" ? cell : cell.text);
}

function clean(rows: Rows): Rows {
  return rows.map((row) =>
    row.map((cell) => (typeof cell === "string" ? oneLine(cell) : { ...cell, text: oneLine(cell.text) })),
  );
}
