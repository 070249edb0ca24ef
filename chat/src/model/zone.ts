// Wall times of one IANA time zone, on top of Intl: the offset at an instant, and the instant of a wall time.

/** A wall time. Months count from 1. */
export interface WallTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly ms?: number;
}

const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;
const QUARTERS_SINCE = Date.UTC(1973, 0, 1);
const MAX_OFFSETS = 4096;

export class Zone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  /** Cache by quarter-hours since 1970. */
  readonly #offsets = new Map<number, number>();

  /** Throws a RangeError if there is no such zone. */
  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    this.name = name;
  }

  wallTime(at: number): WallTime {
    const wall = new Date(at + this.offsetMs(at));
    return {
      year: wall.getUTCFullYear(),
      month: wall.getUTCMonth() + 1,
      day: wall.getUTCDate(),
      hour: wall.getUTCHours(),
      minute: wall.getUTCMinutes(),
      second: wall.getUTCSeconds(),
      ms: wall.getUTCMilliseconds(),
    };
  }

  /**
   * The instant of a wall time. A time that a clock change skipped is read with the offset before the change. Of a time that
   * occurs twice it is the first, unless that is before `previous`.
   */
  instant(wall: WallTime, previous = -Infinity): number {
    const asUtc = toUtc(wall);
    const midnight = Math.floor(asUtc / DAY_MS) * DAY_MS;
    // Two different offsets around the day mean a clock change; no zone changes twice in three days.
    const before = this.offsetMs(midnight - DAY_MS);
    const after = this.offsetMs(midnight + 2 * DAY_MS);
    if (before === after) return asUtc - before;
    const [first, second] = [asUtc - Math.max(before, after), asUtc - Math.min(before, after)].filter(
      (time) => time + this.offsetMs(time) === asUtc,
    );
    if (first === undefined) return asUtc - before;
    return second !== undefined && previous > first ? second : first;
  }

  /** @example new Zone("Europe/Helsinki").format(0) // "1970-01-01T02:00:00+02:00" */
  format(at: number): string {
    const offset = this.offsetMs(at);
    const wall = new Date(at + offset).toISOString().replace(/\.000Z$|Z$/, "");
    if (offset === 0) return `${wall}Z`;
    const minutes = Math.abs(Math.round(offset / 60_000));
    return `${wall}${offset < 0 ? "-" : "+"}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
  }

  offsetMs(at: number): number {
    // Intl takes tens of microseconds. Since 1973 every clock change was at a full quarter of an hour.
    if (at < QUARTERS_SINCE) return this.#readOffset(at);
    const quarter = Math.floor(at / QUARTER_MS);
    const known = this.#offsets.get(quarter);
    if (known !== undefined) return known;
    const offset = this.#readOffset(quarter * QUARTER_MS);
    if (this.#offsets.size >= MAX_OFFSETS) this.#offsets.clear();
    this.#offsets.set(quarter, offset);
    return offset;
  }

  #readOffset(at: number): number {
    const whole = Math.floor(at / 1000) * 1000;
    const part: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
    for (const { type, value } of this.#format.formatToParts(whole)) part[type] = value;
    const year = Number(part.year) * (part.era === "BC" ? -1 : 1) + (part.era === "BC" ? 1 : 0);
    const wall = toUtc({
      year,
      month: Number(part.month),
      day: Number(part.day),
      hour: Number(part.hour),
      minute: Number(part.minute),
      second: Number(part.second),
    });
    return wall - whole;
  }
}

/** The wall time read as UTC; days overflow into the next month. */
export function toUtc({ year, month, day, hour, minute, second, ms = 0 }: WallTime): number {
  if (year > 99) return Date.UTC(year, month - 1, day, hour, minute, second, ms);
  // Date.UTC takes the years 0 to 99 for 19xx; setUTCFullYear does not.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, ms);
  return date.getTime();
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
