// Parses times as users and models write them: ISO 8601, dates, spans back from now, today and yesterday.

import { invalid } from "../errors.ts";
import { toUtc, type WallTime, type Zone } from "./zone.ts";

export interface Clock {
  readonly now: () => number;
  /** Of dates and of times without a zone. */
  readonly zone: Zone;
}

export const TIME_FORMATS =
  "Use ISO 8601 (2025-01-13T09:00:00Z, 2025-01-13T09:00), a date (2025-01-13), a span back from now " +
  "(30min, 24h, 7d, 2w, 3mo, 1y), today or yesterday";

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;
const SPAN = /^(\d{1,6})\s?(min|h|d|w|mo|y)$/i;
const MINUTE_MS = 60_000;

/**
 * @example parseTime("7d", "since", clock) // the same time of day, a week ago
 */
export function parseTime(text: string, field: string, { now, zone }: Clock): number {
  const trimmed = text.trim();
  const time =
    parseIso(trimmed, zone) ??
    parseSpan(trimmed.toLowerCase(), now(), zone) ??
    parseDay(trimmed.toLowerCase(), now(), zone);
  if (time !== undefined && Number.isFinite(time)) return time;
  if (/^\d+\s?m$/i.test(trimmed)) {
    throw invalid(field, `'${text}' could be minutes or months: write ${trimmed}in or ${trimmed}o`, TIME_FORMATS);
  }
  throw invalid(field, `'${text}' is not a valid time for '${field}'. ${TIME_FORMATS}`, TIME_FORMATS);
}

/** @example describeSince("24h") // "in the last 24 hours" */
export function describeSince(text: string): string {
  const [, count, unit] = SPAN.exec(text.trim().toLowerCase()) ?? [];
  const word = unit === undefined ? undefined : UNITS[unit];
  if (word === undefined) return `since ${text.trim()}`;
  return Number(count) === 1 ? `in the last ${word}` : `in the last ${Number(count)} ${word}s`;
}

const UNITS: Readonly<Record<string, string>> = {
  min: "minute",
  h: "hour",
  d: "day",
  w: "week",
  mo: "month",
  y: "year",
};

function parseIso(text: string, zone: Zone): number | undefined {
  const match = ISO.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", offset] = match;
  const wall: WallTime = {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    ms: Number(fraction.padEnd(3, "0").slice(0, 3)),
  };
  if (!exists(wall)) return undefined;
  if (offset === undefined) return zone.instant(wall);
  return toUtc(wall) - offsetMs(offset);
}

/** False for the 30th of February and 25 o'clock. */
function exists(wall: WallTime): boolean {
  const date = new Date(toUtc({ ...wall, hour: 0, minute: 0, second: 0, ms: 0 }));
  return (
    date.getUTCMonth() + 1 === wall.month &&
    date.getUTCDate() === wall.day &&
    wall.hour < 24 &&
    wall.minute < 60 &&
    wall.second < 60
  );
}

function offsetMs(offset: string): number {
  if (/^z$/i.test(offset)) return 0;
  const [, sign, hours, minutes = "0"] = /^([+-])(\d{2}):?(\d{2})?$/.exec(offset) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
}

/** Minutes and hours are durations; days and longer are counted on the calendar and keep the time of day. */
function parseSpan(text: string, now: number, zone: Zone): number | undefined {
  const match = SPAN.exec(text);
  if (match === null) return undefined;
  const count = Number(match[1]);
  switch (match[2]) {
    case "min":
      return now - count * MINUTE_MS;
    case "h":
      return now - count * 60 * MINUTE_MS;
    case "d":
      return back(now, zone, { days: count });
    case "w":
      return back(now, zone, { days: count * 7 });
    case "mo":
      return back(now, zone, { months: count });
    case "y":
      return back(now, zone, { months: count * 12 });
    case undefined:
    default:
      return undefined;
  }
}

function back(now: number, zone: Zone, { days = 0, months = 0 }: { days?: number; months?: number }): number {
  const wall = zone.wallTime(now);
  const month = wall.month - months;
  // Three months before the 31st of May is the last day of February.
  const lastDay = new Date(toUtc({ ...wall, month: month + 1, day: 0 })).getUTCDate();
  return zone.instant(normal({ ...wall, month, day: Math.min(wall.day, lastDay) - days }));
}

function parseDay(text: string, now: number, zone: Zone): number | undefined {
  if (text === "now") return now;
  if (text !== "today" && text !== "yesterday") return undefined;
  const wall = zone.wallTime(now);
  const day = text === "today" ? wall.day : wall.day - 1;
  return zone.instant(normal({ ...wall, day, hour: 0, minute: 0, second: 0, ms: 0 }));
}

function normal(wall: WallTime): WallTime {
  const date = new Date(toUtc(wall));
  return { ...wall, year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}
