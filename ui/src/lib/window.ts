// Which rows of a long list are near the visible part: the others are not in the document.

export interface Span {
  /** The first row to draw. */
  readonly from: number;
  /** The row after the last one. */
  readonly to: number;
}

const OVERSCAN = 6;

/** Rows of one height. `top` is how far the list is scrolled, negative before its start. */
export function visibleSpan(rows: number, rowHeight: number, top: number, height: number): Span {
  const from = clamp(Math.floor(top / rowHeight) - OVERSCAN, rows);
  const to = clamp(Math.ceil((top + height) / rowHeight) + OVERSCAN, rows);
  return { from, to };
}

const clamp = (row: number, rows: number) => Math.max(0, Math.min(row, rows));

interface Place {
  readonly active: number;
  readonly rows: number;
  readonly rowHeight: number;
  /** Of the visible part. */
  readonly height: number;
}

/** The row that a key of the keyboard goes to; undefined: it goes to none. */
export function rowForKey(key: string, { active, rows, rowHeight, height }: Place): number | undefined {
  const page = Math.max(1, Math.floor(height / rowHeight) - 1);
  const target = {
    ArrowDown: active + 1,
    j: active + 1,
    ArrowUp: active - 1,
    k: active - 1,
    PageDown: active + page,
    PageUp: active - page,
    Home: 0,
    End: rows - 1,
  }[key];
  return target === undefined || rows === 0 ? undefined : Math.max(0, Math.min(target, rows - 1));
}

/** Scrolls no further than needed to show a row. */
export function scrollToRow(box: HTMLElement, row: number, rowHeight: number): void {
  const start = row * rowHeight;
  if (start < box.scrollTop) box.scrollTop = start;
  else if (start + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = start + rowHeight - box.clientHeight;
}
