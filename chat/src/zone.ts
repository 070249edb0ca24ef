// Wall clocks of one IANA time zone, with nothing but Intl: a zone's offset at an instant, and the instant of a wall time.

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
  /** By quarters of an hour since 1970. */
  readonly #offsets = new Map<number, number>();

  /** Throws a RangeError where there is no such zone. */
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
   * The instant of a wall time. One that was skipped counts on from before the gap; of one that came twice it is the first,
   * unless that is before `previous`.
   */
  instant(wall: WallTime, previous = -Infinity): number {
    const asUtc = toUtc(wall);
    const midnight = Math.floor(asUtc / DAY_MS) * DAY_MS;
    // A change near the day shows as two offsets; no zone changes twice in three days.
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
    // Asking Intl takes tens of microseconds. Since 1973 every change has come on a full quarter of an hour.
    if (at < QUARTERS_SINCE) return this.#ask(at);
    const quarter = Math.floor(at / QUARTER_MS);
    const known = this.#offsets.get(quarter);
    if (known !== undefined) return known;
    const offset = this.#ask(quarter * QUARTER_MS);
    if (this.#offsets.size >= MAX_OFFSETS) this.#offsets.clear();
    this.#offsets.set(quarter, offset);
    return offset;
  }

  #ask(at: number): number {
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

/** The same figures read as UTC; a day too many runs over into the next month. */
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
