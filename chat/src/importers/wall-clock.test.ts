import { describe, expect, it } from "vitest";
import { parseWallTime, zoneOf } from "./wall-clock.ts";

function utc(zone: string, text: string, previous?: string): string {
  const wall = parseWallTime(text);
  if (wall === undefined) throw new Error(`no time: ${text}`);
  const before = previous === undefined ? undefined : Date.parse(previous);
  return new Date(zoneOf(zone).instant(wall, before)).toISOString().slice(0, 19);
}

describe("CH-12 local times to UTC", () => {
  it.each([
    ["UTC", "2024-03-01T15:05:09", "2024-03-01T15:05:09"],
    ["Europe/Helsinki", "2024-03-01T15:05:00", "2024-03-01T13:05:00"],
    ["Europe/Helsinki", "2024-07-01T15:05:00", "2024-07-01T12:05:00"],
    ["America/New_York", "2024-12-31T23:59:59", "2025-01-01T04:59:59"],
    ["Asia/Kathmandu", "2024-03-01T00:00:00", "2024-02-29T18:15:00"],
    ["Pacific/Kiritimati", "2024-01-01T00:30:00", "2023-12-31T10:30:00"],
    ["Australia/Lord_Howe", "2024-01-15T12:00:00", "2024-01-15T01:00:00"],
  ])("in %s, %s is %s", (zone, wall, expected) => {
    expect(utc(zone, wall)).toBe(expected);
  });

  it("a time skipped in spring has the offset from before the change", () => {
    expect(utc("Europe/Berlin", "2024-03-31T01:59:59")).toBe("2024-03-31T00:59:59");
    expect(utc("Europe/Berlin", "2024-03-31T02:30:00")).toBe("2024-03-31T01:30:00");
    expect(utc("Europe/Berlin", "2024-03-31T03:00:00")).toBe("2024-03-31T01:00:00");
  });

  it("a repeated time in autumn is the first one, unless the previous message is later", () => {
    expect(utc("Europe/Berlin", "2024-10-27T02:30:00")).toBe("2024-10-27T00:30:00");
    expect(utc("Europe/Berlin", "2024-10-27T02:30:00", "2024-10-27T00:10:00Z")).toBe("2024-10-27T00:30:00");
    expect(utc("Europe/Berlin", "2024-10-27T02:10:00", "2024-10-27T00:50:00Z")).toBe("2024-10-27T01:10:00");
    expect(utc("Europe/Berlin", "2024-10-27T03:00:00")).toBe("2024-10-27T02:00:00");
  });

  it("a half-hour change, and a skipped day", () => {
    expect(utc("Australia/Lord_Howe", "2024-04-07T01:45:00")).toBe("2024-04-06T14:45:00");
    expect(utc("Pacific/Apia", "2011-12-29T12:00:00")).toBe("2011-12-29T22:00:00");
    expect(utc("Pacific/Apia", "2011-12-31T12:00:00")).toBe("2011-12-30T22:00:00");
  });

  it("an unknown time zone is rejected with a fix", () => {
    expect(() => zoneOf("Mars/Base")).toThrow(expect.objectContaining({ code: "INVALID_PARAMETER" }));
  });
});

it.each(["2024-02-30T10:00:00", "2024-13-01T10:00:00", "2024-01-01T24:00:00", "2024-01-01", "x"])(
  "%s is not a time",
  (text) => {
    expect(parseWallTime(text)).toBeUndefined();
  },
);
