// Aligned tables without borders. Cut to the terminal's width; not cut elsewhere.

import { truncate, widthOf } from "./text-width.ts";

/** One line. Colours are added by `paint`, after the text is cut. */
export type Cell = string | { readonly text: string; readonly paint: (text: string) => string };

export interface TableOptions {
  /** Right-aligned columns. */
  readonly right?: readonly number[];
  /** Minimum widths. */
  readonly widths?: readonly number[];
  /** Longer lines are cut. */
  readonly width?: number | undefined;
}

/** Columns are as wide as their widest cell; the last one is not padded. */
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

/** The columns that fit into the width, after dropping columns in the order of `expendable`. */
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

function textOf(cell: Cell): string {
  return typeof cell === "string" ? cell : cell.text;
}

/** Drops trailing empty cells and trailing blanks. */
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
    shown.push(truncate(text, room));
    left = room - widthOf(text);
  }
  return trimLast(shown)
    .map((text, index) => {
      const cell = row[index];
      return typeof cell === "object" ? cell.paint(text) : text;
    })
    .join(GAP);
}
