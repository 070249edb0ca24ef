// Comparison of log levels.

import { describe, expect, it } from "vitest";
import { isLogLevel, lowestLevel, passesLevel } from "./log-level.ts";

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

describe("log levels", () => {
  it.each([
    ...LEVELS.map((level) => [level, true] as const),
    ["", false],
    ["Info", false],
    ["trace", false],
    ["constructor", false],
  ] as const)("GR-7 %j is a level: %s", (level, expected) => {
    expect(isLogLevel(level)).toBe(expected);
  });

  it("GR-7 a message passes at or above the client's level", () => {
    const passing = LEVELS.map((wanted) => LEVELS.filter((level) => passesLevel({ level }, wanted)));
    expect(passing).toEqual(LEVELS.map((_, index) => LEVELS.slice(index)));
  });

  it.each([
    ["no level is named: everything passes", { level: "debug" }, undefined, true],
    ["a message without a level is not held back", {}, "emergency", true],
    ["nor is one that is no object", "boom", "emergency", true],
    ["nor one whose level nobody knows", { level: "fatal" }, "alert", true],
    ["a level as a number is none", { level: 3 }, "emergency", true],
  ])("GR-7 %s", (_, message, wanted, expected) => {
    expect(passesLevel(message, wanted)).toBe(expected);
  });

  it.each([
    [[], undefined],
    [[undefined, undefined], undefined],
    [["error"], "error"],
    [["error", undefined, "info"], "info"],
    [["emergency", "debug", "alert"], "debug"],
  ])("GR-7 of %j the lowest is %s", (levels, expected) => {
    expect(lowestLevel(levels)).toBe(expected);
  });
});
