import { describe, expect, it } from "vitest";
import { ago, and, bytes, compact, date, DAY, duration, HOUR, MINUTE, ms, percent, plural } from "./format.ts";

describe("quantities", () => {
  it.each([
    [0.04, "0 ms"],
    [0.42, "0.4 ms"],
    [9.94, "9.9 ms"],
    [9.96, "10 ms"],
    [640.4, "640 ms"],
    [999.6, "1.0 s"],
    [5000, "5.0 s"],
    [59_960, "1 min"],
    [125_000, "2 min 5 s"],
  ])("a call of %d ms took %s", (value, text) => expect(ms(value)).toBe(text));

  it.each([
    [0, "0 s"],
    [41_200, "41 s"],
    [MINUTE, "1 min"],
    [HOUR + 5000, "1 h"],
    [3 * DAY + 2 * HOUR + MINUTE, "3 d 2 h"],
    [-5, "0 s"],
  ])("%d ms last %s", (value, text) => expect(duration(value)).toBe(text));

  it.each([
    [0, "0"],
    [310, "310"],
    [9_840, "9.8k"],
    [99_960, "100k"],
    [999_600, "1M"],
    [1_620_000, "1.6M"],
  ])("%d tokens are %s", (value, text) => expect(compact(value)).toBe(text));

  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1.0 kB"],
    [4_243_794, "4.2 MB"],
    [999_600, "1.0 MB"],
    [42_000_000, "42 MB"],
  ])("%d bytes are %s", (value, text) => expect(bytes(value)).toBe(text));

  it("a share is never rounded to nothing or to all", () => {
    expect(percent(0, 10)).toBe("0 %");
    expect(percent(1, 10_000)).toBe("< 0.1 %");
    expect(percent(9_999, 10_000)).toBe("> 99.9 %");
    expect(percent(10, 10)).toBe("100 %");
    expect(percent(4, 312)).toBe("1.3 %");
    expect(percent(0, 0)).toBe("–");
  });
});

describe("words", () => {
  it("counts things", () => {
    expect(plural(1, "server")).toBe("1 server");
    expect(plural(0, "server")).toBe("0 servers");
    expect(plural(12_480, "entry", "entries")).toBe("12,480 entries");
    expect(and(["a", "b"])).toBe("a and b");
  });
});

describe("times", () => {
  const now = Date.parse("2026-11-18T14:00:00Z");

  it.each([
    [0, "just now"],
    [12_000, "12 s ago"],
    [5 * MINUTE, "5 min ago"],
    [23 * HOUR, "23 h ago"],
    [-3000, "just now"],
    [-5 * MINUTE, "in 5 min"],
    [-3 * HOUR, "in 3 h"],
    [-46 * DAY, "3 Jan 2027"],
  ])("%d ms before now is %s", (age, text) => expect(ago(now - age, now)).toBe(text));

  it("a day or older is a date, with the year if it is another", () => {
    expect(ago(now - 46 * DAY, now)).toBe("3 Oct");
    expect(date(Date.parse("2025-10-03T12:00:00Z"), now)).toBe("3 Oct 2025");
  });
});
