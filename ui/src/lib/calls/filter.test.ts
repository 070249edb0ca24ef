import { describe, expect, it } from "vitest";
import { apiParams, chips, filterQuery, parseFilter, seriesParams, withoutChip } from "./filter.ts";

const now = Date.parse("2026-11-18T12:00:00Z");

describe("the filter of the Calls page", () => {
  it("is the address: every condition survives the way there and back", () => {
    const query = {
      server: "github",
      tool: "search_issues",
      group: "dev",
      client: "cursor",
      q: "is:open label:bug",
      outcome: "tool_error",
      slower: "250",
      since: "7d",
    };
    const filter = parseFilter(query);
    expect(parseFilter(filterQuery(filter))).toEqual(filter);
    expect(filterQuery(filter)).toMatchObject(query);
  });

  it("ignores what it does not understand", () => {
    const filter = parseFilter({ outcome: "nonsense", slower: "-1", since: "yesterday", server: "" });
    expect(chips(filter)).toEqual([]);
    expect(filter.range).toMatchObject({ kind: "last", span: "24h" });
  });

  it("becomes parameters of the API", () => {
    const params = apiParams(parseFilter({ ok: "no", server: "a/b", slower: "100", since: "1h", q: "x y" }), now);
    expect(Object.fromEntries(params)).toEqual({
      success: "false",
      server: "a/b",
      slower_than_ms: "100",
      since: "2026-11-18T11:00:00.000Z",
      q: "x y",
    });
    expect(Object.fromEntries(apiParams(parseFilter({ outcome: "cancelled", since: "all" }), now))).toEqual({
      outcome: "cancelled",
    });
  });

  it("leaves out of the series what the series do not know", () => {
    expect([...seriesParams(parseFilter({ ok: "no", q: "x", tool: "t" }), now).keys()].toSorted()).toEqual([
      "since",
      "tool",
    ]);
  });

  it("loses its conditions one by one", () => {
    let filter = parseFilter({ server: "github", ok: "no", slower: "5" });
    const removed: string[] = [];
    for (let chip = chips(filter).at(-1); chip !== undefined; chip = chips(filter).at(-1)) {
      removed.push(chip.member);
      filter = withoutChip(filter, chip.member);
    }
    expect(removed).toEqual(["slower", "outcome", "server"]);
  });
});
