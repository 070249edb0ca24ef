import { describe, expect, it } from "vitest";
import { ChatError } from "../errors.ts";
import { describeSince, parseTime } from "./times.ts";
import { Zone } from "./zone.ts";

const NOW = Date.parse("2026-03-31T10:20:30Z");
const at = (text: string, zone = "UTC", now = NOW): string =>
  new Date(parseTime(text, "since", { now: () => now, zone: new Zone(zone) })).toISOString();

describe("times", () => {
  it.each([
    ["2025-01-13T00:00:00Z", "UTC", "2025-01-13T00:00:00.000Z"],
    ["2025-01-13T00:00:00+02:00", "UTC", "2025-01-12T22:00:00.000Z"],
    ["2025-01-13T00:00:00-0330", "UTC", "2025-01-13T03:30:00.000Z"],
    ["2025-01-13 09:15", "Europe/Helsinki", "2025-01-13T07:15:00.000Z"],
    ["2025-07-13T09:15:10.25", "Europe/Helsinki", "2025-07-13T06:15:10.250Z"],
    ["2025-01-13", "America/New_York", "2025-01-13T05:00:00.000Z"],
    ["2025-01-13", "Asia/Kathmandu", "2025-01-12T18:15:00.000Z"],
    ["30min", "UTC", "2026-03-31T09:50:30.000Z"],
    ["24h", "Europe/Helsinki", "2026-03-30T10:20:30.000Z"],
    ["7d", "UTC", "2026-03-24T10:20:30.000Z"],
    ["2w", "UTC", "2026-03-17T10:20:30.000Z"],
    ["1mo", "UTC", "2026-02-28T10:20:30.000Z"],
    ["3mo", "UTC", "2025-12-31T10:20:30.000Z"],
    ["1y", "UTC", "2025-03-31T10:20:30.000Z"],
    ["today", "UTC", "2026-03-31T00:00:00.000Z"],
    ["Yesterday", "Asia/Tokyo", "2026-03-29T15:00:00.000Z"],
    // Helsinki switched to summer time on 29 March 2026: that day has 23 hours, and 7d ends at the same time of day.
    ["3d", "Europe/Helsinki", "2026-03-28T11:20:30.000Z"],
    ["72h", "Europe/Helsinki", "2026-03-28T10:20:30.000Z"],
    ["2026-03-29T03:30", "Europe/Helsinki", "2026-03-29T01:30:00.000Z"],
    // 03:30 occurred twice on 25 October 2026: the first one counts.
    ["2026-10-25T03:30", "Europe/Helsinki", "2026-10-25T00:30:00.000Z"],
    // A zone that skips midnight (Beirut, 29 March 2026): the day begins at one.
    ["2026-03-29", "Asia/Beirut", "2026-03-28T22:00:00.000Z"],
    // Lord Howe moves by half an hour.
    ["2026-04-05T01:45", "Australia/Lord_Howe", "2026-04-04T14:45:00.000Z"],
    // A zone that skipped a whole day (Samoa, 30 December 2011).
    ["2011-12-31", "Pacific/Apia", "2011-12-30T10:00:00.000Z"],
    ["0099-01-01T00:00:00Z", "UTC", "0099-01-01T00:00:00.000Z"],
  ])("CH-5 %s in %s is %s", (text, zone, expected) => {
    expect(at(text, zone)).toBe(expected);
  });

  it.each(["invalid-date", "", "2025-02-30", "2025-13-01", "2025-01-13T25:00", "7", "d", "-7d", "last week", "7d7d"])(
    "CH-8 %j is refused, and the error lists the valid formats",
    (text) => {
      const error = thrown(() => at(text));
      expect(error.code).toBe("INVALID_PARAMETER");
      expect(error.details.field).toBe("since");
      expect(error.message).toMatch(/ISO 8601.*2025-01-13.*24h.*yesterday/);
    },
  );

  it("CH-8 a bare m is refused: it could be minutes or months", () => {
    expect(thrown(() => at("30m")).message).toBe("'30m' could be minutes or months: write 30min or 30mo");
  });

  it.each([
    ["24h", "in the last 24 hours"],
    ["1d", "in the last day"],
    [" 2W ", "in the last 2 weeks"],
    ["30min", "in the last 30 minutes"],
    ["3mo", "in the last 3 months"],
    ["yesterday", "since yesterday"],
    ["2025-01-13", "since 2025-01-13"],
  ])("CH-7 %s is described as: %s", (text, words) => {
    expect(describeSince(text)).toBe(words);
  });

  it("CH-5 a time is written in the zone and reads back the same", () => {
    for (const name of ["UTC", "Europe/Helsinki", "America/St_Johns", "Pacific/Chatham"]) {
      const zone = new Zone(name);
      for (
        let time = Date.parse("2026-01-01T00:00:00Z");
        time < Date.parse("2027-01-01T00:00:00Z");
        time += 12_345_678
      ) {
        expect(Date.parse(zone.format(time))).toBe(time);
        const again = zone.instant(zone.wallTime(time));
        expect(zone.wallTime(again)).toEqual(zone.wallTime(time));
      }
    }
  });
});

function thrown(run: () => unknown): ChatError {
  try {
    run();
  } catch (error) {
    if (error instanceof ChatError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
