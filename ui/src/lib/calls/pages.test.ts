import { describe, expect, it } from "vitest";
import { dropFar, noPages, rowAt, rowCount, wantedPages, withNewer, withPage, type Pages } from "./pages.ts";

const PAGE = 200;
const rows = (page: number): number[] => Array.from({ length: PAGE }, (_, n) => page * PAGE + n);

function read(count: number): Pages<number> {
  let list = noPages<number>();
  for (let page = 0; page < count; page += 1) {
    list = withPage(list, page === 0 ? undefined : `c${page}`, rows(page), `c${page + 1}`);
  }
  return list;
}

describe("a list that is read in pages", () => {
  it("wants its first page, then the next near the end, and nothing after the last", () => {
    expect(wantedPages(noPages(), 0, 30)).toEqual([undefined]);
    expect(wantedPages(read(1), 0, 30)).toEqual([]);
    expect(wantedPages(read(1), 130, 160)).toEqual(["c1"]);
    expect(wantedPages(withPage(noPages(), undefined, rows(0), null), 170, 199)).toEqual([]);
  });

  it("keeps its length when far pages are dropped, and reads them again when they are visible", () => {
    const list = dropFar(read(30), 5_800, 5_830);
    expect(rowCount(list)).toBe(30 * PAGE);
    expect(list.pages.filter((page) => page.rows !== undefined)).toHaveLength(5);
    expect(rowAt(list, 10)).toBeUndefined();
    expect(rowAt(list, 5_810)).toBe(5_810);
    expect(wantedPages(list, 190, 220)).toEqual([undefined, "c1"]);
    const again = withPage(list, "c1", rows(1), "c2");
    expect(rowAt(again, 215)).toBe(215);
    expect(again.next).toBe("c30");
  });

  it("puts newer rows before the first page", () => {
    const list = withNewer(withNewer(read(1), [-1]), [-3, -2]);
    expect([0, 1, 2, 3].map((index) => rowAt(list, index))).toEqual([-3, -2, -1, 0]);
    expect(rowCount(list)).toBe(PAGE + 3);
  });

  it("is the same object when there is nothing to drop", () => {
    const list = read(3);
    expect(dropFar(list, 0, 30)).toBe(list);
  });
});
