// Rows of a long list that is read in keyset pages. Only pages near the visible part keep their rows; the number of rows of a
// dropped page stays known, so that nothing moves, and the page is read again when it becomes visible.

export interface Page<Row> {
  /** Where the page begins: the cursor of its request; undefined for the first one. */
  readonly cursor: string | undefined;
  readonly count: number;
  readonly rows: readonly Row[] | undefined;
}

export interface Pages<Row> {
  readonly pages: readonly Page<Row>[];
  /** Rows that arrived after the first page was read, newest first. */
  readonly head: readonly Row[];
  /** Cursor of the page after the last known one; null at the end of the list. */
  readonly next: string | null | undefined;
}

/** Pages kept on each side of the visible part: with 200 rows each, about 2,000 rows in memory. */
const KEEP_AROUND = 4;

export function noPages<Row>(): Pages<Row> {
  return { pages: [], head: [], next: undefined };
}

export function rowCount<Row>(list: Pages<Row>): number {
  let count = list.head.length;
  for (const page of list.pages) count += page.count;
  return count;
}

/** Adds a page that was read: at the end, or in the place of a dropped one with the same cursor. */
export function withPage<Row>(
  list: Pages<Row>,
  cursor: string | undefined,
  rows: readonly Row[],
  next: string | null,
): Pages<Row> {
  const page = { cursor, count: rows.length, rows };
  const index = list.pages.findIndex((known) => known.cursor === cursor);
  if (index === -1) return { ...list, pages: [...list.pages, page], next };
  const pages = list.pages.with(index, page);
  return index === pages.length - 1 ? { ...list, pages, next } : { ...list, pages };
}

export function withNewer<Row>(list: Pages<Row>, rows: readonly Row[]): Pages<Row> {
  return { ...list, head: [...rows, ...list.head] };
}

/** The row at a place; undefined if its page is not in memory. */
export function rowAt<Row>(list: Pages<Row>, index: number): Row | undefined {
  if (index < list.head.length) return list.head[index];
  let rest = index - list.head.length;
  for (const page of list.pages) {
    if (rest < page.count) return page.rows?.[rest];
    rest -= page.count;
  }
  return undefined;
}

/** What to read so that the rows from `first` to `last` can be shown: dropped pages, and the next one near the end. */
export function wantedPages<Row>(list: Pages<Row>, first: number, last: number): (string | undefined)[] {
  const wanted: (string | undefined)[] = [];
  let start = list.head.length;
  for (const page of list.pages) {
    if (page.rows === undefined && start <= last && start + page.count > first) wanted.push(page.cursor);
    start += page.count;
  }
  const nearEnd = last >= start - 50;
  if (nearEnd && list.next !== null && (list.next !== undefined || list.pages.length === 0)) wanted.push(list.next);
  return wanted;
}

/** Drops the rows of pages that are far from the visible part. */
export function dropFar<Row>(list: Pages<Row>, first: number, last: number): Pages<Row> {
  let start = list.head.length;
  const visible: number[] = [];
  for (const [index, page] of list.pages.entries()) {
    if (start <= last && start + page.count > first) visible.push(index);
    start += page.count;
  }
  const low = (visible[0] ?? 0) - KEEP_AROUND;
  const high = (visible.at(-1) ?? 0) + KEEP_AROUND;
  const far = (index: number): boolean => index < low || index > high;
  if (!list.pages.some((page, index) => page.rows !== undefined && far(index))) return list;
  return { ...list, pages: list.pages.map((page, index) => (far(index) ? { ...page, rows: undefined } : page)) };
}
