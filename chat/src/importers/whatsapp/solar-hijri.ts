// The Solar Hijri calendar of Iran, which phones there use in exports.

import type { Day } from "./date-order.ts";

/** From WhatsApp's release on. Later years would be of the lunar calendar. */
const FIRST_YEAR = 1387;
const LAST_YEAR = 1429;
const DAY_MS = 86_400_000;

export function isSolarHijriYear(year: number): boolean {
  return year >= FIRST_YEAR && year <= LAST_YEAR;
}

/** Undefined if the date does not exist. */
export function fromSolarHijri({ year, month, day }: Day): Day | undefined {
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  const date = new Date((ordinal(year, month, day) - UNIX_EPOCH) * DAY_MS);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

function daysIn(year: number, month: number): number {
  if (month <= 6) return 31;
  if (month <= 11) return 30;
  return ordinal(year + 1, 1, 1) - ordinal(year, 1, 1) === 366 ? 30 : 29;
}

/** Days since an arbitrary epoch. 8 of 33 years are leap years, which is exact for these centuries. */
function ordinal(year: number, month: number, day: number): number {
  const since = year + 1595;
  const leapDays = Math.floor(since / 33) * 8 + Math.floor(((since % 33) + 3) / 4);
  const before = month <= 7 ? (month - 1) * 31 : 186 + (month - 7) * 30;
  return since * 365 + leapDays + before + day;
}

const UNIX_EPOCH = ordinal(1348, 10, 11);
