// Local times to UTC, in any IANA zone, by Intl. A time that a zone skips in spring is read with the offset before the
// change; one that it has twice in autumn is the first, unless the message before it is later than that.

import { invalid } from "../errors.ts";

export interface WallTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

const DAY_MS = 86_400_000;
/** Of which the offsets are kept: messages come in order, mostly. */
const KEPT_DAYS = 4096;

export class WallClock {
  readonly #format: Intl.DateTimeFormat;
  /** By day of the wall: what may have to be subtracted, the larger offset first. */
  readonly #offsets = new Map<number, readonly number[]>();

  constructor(timeZone: string) {
    try {
      this.#format = new Intl.DateTimeFormat("en-US", {
        timeZone,
        hourCycle: "h23",
        era: "short",
        year: "numeric",
        month: "2-digit",
        day: "2-digit",
        hour: "2-digit",
        minute: "2-digit",
        second: "2-digit",
      });
    } catch {
      // Intl throws for nothing but an unknown zone here.
      throw invalid("timeZone", `Unknown time zone '${timeZone}'`, "Use an IANA name such as Europe/Helsinki or UTC");
    }
  }

  /** Milliseconds since 1970; `previous` is the time of the message before. */
  toUtc(wall: WallTime, previous?: number): number {
    const asUtc = wallMs(wall);
    const offsets = this.#offsetsAt(Math.floor(asUtc / DAY_MS));
    const [only, other] = offsets;
    if (only !== undefined && other === undefined) return asUtc - only;
    const [first, second] = offsets
      .map((offset) => asUtc - offset)
      .filter((time) => time + this.#offset(time) === asUtc);
    // Skipped by the zone: the clock went on by the offset that it had.
    if (first === undefined) return asUtc - this.#offset(asUtc - DAY_MS);
    return second !== undefined && previous !== undefined && previous > first ? second : first;
  }

  #offsetsAt(day: number): readonly number[] {
    const known = this.#offsets.get(day);
    if (known !== undefined) return known;
    // A change near the day shows as two offsets; no zone changes twice in three days.
    const around = [this.#offset((day - 1) * DAY_MS), this.#offset((day + 2) * DAY_MS)];
    const offsets = [...new Set(around)].toSorted((one, other) => other - one);
    if (this.#offsets.size >= KEPT_DAYS) this.#offsets.clear();
    this.#offsets.set(day, offsets);
    return offsets;
  }

  /** How far the wall is ahead of UTC at this instant. */
  #offset(time: number): number {
    const parts = new Map(this.#format.formatToParts(time).map(({ type, value }) => [type, value]));
    const number = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
    const year = parts.get("era") === "BC" ? 1 - number("year") : number("year");
    const wall = wallMs({
      year,
      month: number("month"),
      day: number("day"),
      hour: number("hour"),
      minute: number("minute"),
      second: number("second"),
    });
    return wall - Math.floor(time / 1000) * 1000;
  }
}

/** The wall's time as if it were UTC's. */
export function wallMs({ year, month, day, hour, minute, second }: WallTime): number {
  if (year > 99) return Date.UTC(year, month - 1, day, hour, minute, second);
  // Date.UTC takes these years for those of the last century.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.setUTCHours(hour, minute, second, 0);
}

/** Whether the calendar has such a day, and the day such a time. */
export function exists({ year, month, day, hour, minute, second }: WallTime): boolean {
  return hour <= 23 && minute <= 59 && second <= 59 && isDay(year, month, day);
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

export function isDay(year: number, month: number, day: number): boolean {
  const days = MONTH_DAYS[month - 1] ?? 0;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day >= 1 && day <= (month === 2 && isLeap ? 29 : days);
}

/** `2025-01-13T09:00:00`, as exports write it. */
export function parseWallTime(text: string): WallTime | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)$/.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second] = match.map(Number);
  const wall = { year, month, day, hour, minute, second };
  return isWallTime(wall) && exists(wall) ? wall : undefined;
}

function isWallTime(wall: Readonly<Record<keyof WallTime, number | undefined>>): wall is WallTime {
  return Object.values(wall).every((value) => value !== undefined);
}
