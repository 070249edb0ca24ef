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

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Hours of which the offsets are kept: messages come by the hour, in order. */
const KEPT_HOURS = 4096;

export class WallClock {
  readonly #format: Intl.DateTimeFormat;
  /** By hour of the wall: what may have to be subtracted, the larger offset first. */
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
    const offsets = this.#offsetsAt(Math.floor(asUtc / HOUR_MS));
    const [only, other] = offsets;
    if (only !== undefined && other === undefined) return asUtc - only;
    const [first, second] = offsets
      .map((offset) => asUtc - offset)
      .filter((time) => time + this.#offset(time) === asUtc);
    // Skipped by the zone: the clock went on by the offset that it had.
    if (first === undefined) return asUtc - this.#offset(asUtc - DAY_MS);
    return second !== undefined && previous !== undefined && previous > first ? second : first;
  }

  #offsetsAt(hour: number): readonly number[] {
    const known = this.#offsets.get(hour);
    if (known !== undefined) return known;
    const at = hour * HOUR_MS;
    // A change within a day of it shows as two offsets; no zone changes twice in two days.
    const around = [this.#offset(at - DAY_MS), this.#offset(at + DAY_MS)];
    const offsets = [...new Set(around)].toSorted((one, other) => other - one);
    if (this.#offsets.size >= KEPT_HOURS) this.#offsets.clear();
    this.#offsets.set(hour, offsets);
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
  const date = new Date(0);
  // Not Date.UTC: it takes years below 100 for those of the last century.
  date.setUTCFullYear(year, month - 1, day);
  return date.setUTCHours(hour, minute, second, 0);
}

/** Whether the calendar has such a day, and the day such a time. */
export function exists({ year, month, day, hour, minute, second }: WallTime): boolean {
  if (hour > 23 || minute > 59 || second > 59 || month < 1 || month > 12 || day < 1) return false;
  return day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
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
