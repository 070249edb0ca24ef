import { expect, it } from "vitest";
import { clock, duration, parseDays, parseDuration, parseSince, seconds, span } from "./times.ts";

it.each([
  [0, "0.0s"],
  [840, "0.8s"],
  [61_000, "61.0s"],
])("seconds(%d) is %s", (ms, text) => expect(seconds(ms)).toBe(text));

it.each([
  [0, "0ms"],
  [0.25, "0.25ms"],
  [3, "3ms"],
  [3.44, "3.4ms"],
  [640, "640ms"],
  [999.6, "1000ms"],
  [1400, "1.4s"],
  [125_000, "2m"],
])("duration(%d) is %s", (ms, text) => expect(duration(ms)).toBe(text));

it.each([
  [-5, "0s"],
  [41_000, "41s"],
  [720_000, "12m"],
  [3_600_000, "1h"],
  [3_900_000, "1h5m"],
  [93_600_000, "1d2h"],
  [86_400_000, "1d"],
])("span(%d) is %s", (ms, text) => expect(span(ms)).toBe(text));

it("a time of today is shown without the date", () => {
  const noon = new Date(2026, 0, 31, 12, 5, 9);
  expect(clock(noon, new Date(2026, 0, 31, 23))).toBe("12:05:09");
  expect(clock(noon, new Date(2026, 1, 1))).toBe("2026-01-31 12:05:09");
});

it.each([
  ["500ms", 500],
  ["30s", 30_000],
  ["10m", 600_000],
  ["10min", 600_000],
  ["1.5h", 5_400_000],
  ["7d", 604_800_000],
])("%s is a duration", (text, ms) => expect(parseDuration(text, "slow")).toBe(ms));

it.each(["", "10", "m", "-1s", "1w", "1 s", "1e3s"])("%j is not a duration, and the field is named", (text) => {
  expect(() => parseDuration(text, "slow")).toThrow(
    expect.objectContaining({ field: "slow", code: "VALIDATION_ERROR" }),
  );
});

it("since is a duration before now, or a date", () => {
  expect(parseSince("1h", "since", 7_200_000).getTime()).toBe(3_600_000);
  expect(parseSince("2026-01-31", "since").toISOString()).toBe("2026-01-31T00:00:00.000Z");
  expect(parseSince("2026-01-31T12:00:00Z", "since").toISOString()).toBe("2026-01-31T12:00:00.000Z");
  expect(() => parseSince("2026-99-99", "since")).toThrow();
  expect(() => parseSince("yesterday", "since")).toThrow();
});

it("a validity is more than nothing", () => {
  expect([parseDays("36h", "expires"), parseDays("30d", "expires")]).toEqual([1.5, 30]);
  expect(() => parseDays("0d", "expires")).toThrow(
    expect.objectContaining({ kind: "InvalidArgument", field: "expires" }),
  );
});
