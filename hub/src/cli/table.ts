// Aligned tables without boxes. Cut to the terminal's width where there is one, whole everywhere else.

import type { Paint } from "./color.ts";
import { cut, oneLine, widthOf } from "./text.ts";

export type Cell = string | { readonly text: string; readonly paint: Paint };

export interface TableOptions {
  /** Columns of numbers, which are aligned at their ends. */
  readonly right?: readonly number[];
  /** The least that columns take. */
  readonly widths?: readonly number[];
  /** Longer lines are cut. */
  readonly width?: number | undefined;
}

/** Columns are as wide as their widest cell; the last one runs free. */
export function table(
  rows: readonly (readonly Cell[])[],
  { right = [], width, widths: least = [] }: TableOptions = {},
): string {
  const texts = rows.map((row) => row.map(textOf));
  const widths = [...least];
  for (const row of texts) {
    for (const [index, text] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(text));
  }
  return rows
    .map((row, at) => {
      const cells = (texts[at] ?? []).map((text, index) => {
        const blanks = " ".repeat((widths[index] ?? 0) - widthOf(text));
        if (right.includes(index)) return blanks + text;
        return index === row.length - 1 ? text : text + blanks;
      });
      return paintLine(trimLast(cells), row, width);
    })
    .map((line) => `${line}\n`)
    .join("");
}

const GAP = "  ";

/** Which columns fit into the width: as long as they do not, the next one of `expendable` is left out. */
export function fittingColumns(
  rows: readonly (readonly Cell[])[],
  { width, expendable }: { width: number | undefined; expendable: readonly number[] },
): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, widthOf(textOf(cell)));
  }
  let kept = widths.map((_, index) => index);
  const taken = () => kept.reduce((sum, index) => sum + (widths[index] ?? 0), (kept.length - 1) * GAP.length);
  for (const column of expendable) {
    if (width === undefined || taken() <= width) break;
    kept = kept.filter((index) => index !== column);
  }
  return kept;
}

/** The text of a cell as it is shown. */
export function textOf(cell: Cell): string {
  return oneLine(typeof cell === "string" ? cell : cell.text);
}

/** No blanks at the end of a line: trailing empty cells go, and the last one loses its own. */
function trimLast(cells: readonly string[]): string[] {
  const kept = cells.slice(0, cells.findLastIndex((cell) => cell.trim() !== "") + 1);
  return kept.map((cell, index) => (index === kept.length - 1 ? cell.trimEnd() : cell));
}

function paintLine(cells: readonly string[], row: readonly Cell[], width: number | undefined): string {
  let left = width ?? Number.POSITIVE_INFINITY;
  const shown: string[] = [];
  for (const [index, text] of cells.entries()) {
    const room = left - (index === 0 ? 0 : GAP.length);
    if (room <= 0) break;
    shown.push(cut(text, room));
    left = room - widthOf(text);
  }
  return trimLast(shown)
    .map((text, index) => {
      const cell = row[index];
      return typeof cell === "object" ? cell.paint(text) : text;
    })
    .join(GAP);
}
