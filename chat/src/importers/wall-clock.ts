// Local times in exports, interpreted in the time zone that the user gives.

import { invalid } from "../errors.ts";
import { Zone, type WallTime } from "../model/zone.ts";

/** Throws INVALID_PARAMETER for an unknown zone. */
export function zoneOf(timeZone: string): Zone {
  try {
    return new Zone(timeZone);
  } catch {
    // Intl throws only for an unknown zone here.
    throw invalid("timeZone", `Unknown time zone '${timeZone}'`, "Use an IANA name such as Europe/Helsinki or UTC");
  }
}

/** Whether the date and time exist in the calendar. */
export function exists({ year, month, day, hour, minute, second }: WallTime): boolean {
  return hour <= 23 && minute <= 59 && second <= 59 && isDay(year, month, day);
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

export function isDay(year: number, month: number, day: number): boolean {
  const days = MONTH_DAYS[month - 1] ?? 0;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day >= 1 && day <= (month === 2 && isLeap ? 29 : days);
}

/** Parses `2025-01-13T09:00:00`. */
export function parseWallTime(text: string): WallTime | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)$/.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match.map(Number);
  const wall = { year, month, day, hour, minute, second };
  return isWallTime(wall) && exists(wall) ? wall : undefined;
}

function isWallTime(wall: Readonly<Record<Exclude<keyof WallTime, "ms">, number | undefined>>): wall is WallTime {
  return Object.values(wall).every((value) => value !== undefined);
}
