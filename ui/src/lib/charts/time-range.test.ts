import { describe, expect, it } from "vitest";
import { axisTime, bounds, parseRange, rangeQuery, ticks } from "./time-range.ts";

const now = Date.parse("2026-11-18T12:00:00Z");

describe("the time range of an address", () => {
  it.each([
    [undefined, undefined, now - 86_400_000, undefined],
    ["15m", undefined, now - 900_000, undefined],
    ["2h", undefined, now - 7_200_000, undefined],
    ["all", undefined, undefined, undefined],
    ["2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z", Date.parse("2026-11-01"), Date.parse("2026-11-02")],
    ["2026-11-01T00:00:00Z", undefined, Date.parse("2026-11-01"), Date.parse("2026-11-01T01:00:00Z")],
    ["2026-11-02", "2026-11-01", Date.parse("2026-11-02"), Date.parse("2026-11-02T01:00:00Z")],
  ])("since=%s until=%s", (since, until, from, end) => {
    expect(bounds(parseRange(since, until, "24h"), now)).toEqual({ from, until: end });
  });

  it.each(["", "0m", "-5m", "99999d", "5w", "<script>", "1e3h"])("takes the default for %j", (since) => {
    expect(parseRange(since, undefined, "24h")).toMatchObject({ kind: "last", span: "24h" });
  });

  it.each(["15m", "7d", "all", "2026-11-01T00:00:00.000Z"])("%s survives the way into an address and back", (since) => {
    const range = parseRange(since, undefined, "24h");
    const query = rangeQuery(range, "24h");
    expect(parseRange(query.since, query.until, "24h")).toEqual(range);
  });

  it("leaves the default out of the address", () => {
    expect(rangeQuery(parseRange(undefined, undefined, "24h"), "24h")).toEqual({ since: undefined, until: undefined });
  });
});

describe("the ticks of a time axis", () => {
  it("are named by the clock, and by the day at midnight and on long axes", () => {
    const local = (hour: number): number => new Date(2026, 10, 18, hour, 30).getTime();
    expect(axisTime(local(14), 86_400_000)).toBe("14:30");
    expect(axisTime(local(14), 60_000)).toBe("14:30:00");
    expect(axisTime(local(14), 30 * 86_400_000)).toBe("18 Nov");
    expect(axisTime(new Date(2026, 10, 18).getTime(), 86_400_000)).toBe("18 Nov");
  });

  it("are round and never more than asked for", () => {
    for (const span of [10, 1_500, 60_000, 3_600_000, 86_400_000, 30 * 86_400_000]) {
      const { stepMs, times } = ticks(now, now + span, 8);
      expect(times.length).toBeLessThanOrEqual(9);
      expect(times.length).toBeGreaterThan(1);
      expect(span / stepMs).toBeLessThanOrEqual(8);
    }
    expect(ticks(now + 1, now + 3_600_000, 6).times[0]).toBe(now + 600_000);
  });
});
