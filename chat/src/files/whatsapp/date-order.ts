// Which of a date's three numbers is the day. One file has one order, and its dates vote on it: what the calendar rules out,
// then what goes back in time, then how the clock is written; the user's word counts before all that proves nothing.

import { toUtc } from "../../zone.ts";
import { isDay } from "../wall-clock.ts";

export type DateOrder = "DMY" | "MDY" | "YMD";

export interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

type Numbers = readonly [number, number, number];

export interface Decision {
  readonly order: DateOrder;
  /** For the report: what decided, and by how much. */
  readonly why: string;
}

const ORDERS: readonly DateOrder[] = ["DMY", "MDY", "YMD"];
const DAY_MS = 86_400_000;
/** The calendar of Thailand counts from the death of the Buddha. */
const BUDDHIST_YEARS = 543;
/** WhatsApp's first. */
const FIRST_YEAR = 2009;
const LAST_YEAR = 2100;
/** Of the dates: quoted heads that are none. */
const SLIPS = 0.1;

interface Tally {
  readonly order: DateOrder;
  impossible: number;
  backwards: number;
  /** Days between one message and the next, in all. */
  moved: number;
  last: number | undefined;
}

export class DateVotes {
  readonly #tallies: readonly Tally[] = ORDERS.map((order) => ({
    order,
    impossible: 0,
    backwards: 0,
    moved: 0,
    last: undefined,
  }));
  #count = 0;
  #previous = "";

  /** The same date once more tells nothing. */
  add(numbers: Numbers): void {
    const spelled = numbers.join("/");
    if (spelled === this.#previous) return;
    this.#previous = spelled;
    this.#count++;
    for (const tally of this.#tallies) {
      const day = toDay(numbers, tally.order);
      if (day === undefined) {
        tally.impossible++;
        continue;
      }
      const at = toUtc({ ...day, hour: 0, minute: 0, second: 0 }) / DAY_MS;
      if (tally.last !== undefined) {
        if (at < tally.last) tally.backwards++;
        tally.moved += Math.abs(at - tally.last);
      }
      tally.last = at;
    }
  }

  decide({
    wish,
    halfWord,
  }: {
    readonly wish?: DateOrder | undefined;
    readonly halfWord?: string | undefined;
  }): Decision {
    const possible = this.#possible();
    const [only] = possible;
    if (only !== undefined && possible.length === 1) return this.#proven(only, wish);
    const wished = possible.find(({ order }) => order === wish);
    if (wished !== undefined) return { order: wished.order, why: "as you said; the dates allow it" };
    return byJumps(possible) ?? byClock(possible, halfWord) ?? bySpan(possible);
  }

  /** What the calendar speaks against least. Years of two digits come last but in few places: that takes more than a slip. */
  #possible(): readonly Tally[] {
    const yearLast = this.#tallies.filter(({ order }) => order !== "YMD");
    const best = leastImpossible(yearLast);
    const isPlausible = (best[0]?.impossible ?? 0) <= this.#count * SLIPS;
    return isPlausible ? best : leastImpossible(this.#tallies);
  }

  #proven({ order }: Tally, wish: DateOrder | undefined): Decision {
    const others = this.#tallies.flatMap((tally) => (tally.order === order ? [] : [tally.impossible]));
    const against = wish === undefined || wish === order ? "" : `; it cannot be ${wish}, as you said`;
    return { order, why: `${Math.min(...others)} of ${this.#count} dates allow no other${against}` };
  }
}

function leastImpossible(tallies: readonly Tally[]): readonly Tally[] {
  const least = Math.min(...tallies.map(({ impossible }) => impossible));
  return tallies.filter(({ impossible }) => impossible === least);
}

function byJumps(possible: readonly Tally[]): Decision | undefined {
  const [best, second] = possible.toSorted((one, other) => one.backwards - other.backwards);
  if (best === undefined || second === undefined || best.backwards === second.backwards) return undefined;
  return {
    order: best.order,
    why: `so ${best.backwards} dates go back in time, as ${second.order} ${second.backwards} would`,
  };
}

/** `PM` in capital letters is how the United States write it; others write small letters, or their own words. */
function byClock(possible: readonly Tally[], halfWord: string | undefined): Decision | undefined {
  const order = halfWord === undefined ? undefined : /^[AP]M$/.test(halfWord) ? "MDY" : "DMY";
  if (order === undefined || !possible.some((tally) => tally.order === order)) return undefined;
  return { order, why: `the dates do not tell; the clock is written with “${halfWord}”` };
}

function bySpan(possible: readonly Tally[]): Decision {
  const [best, second] = possible.toSorted((one, other) => one.moved - other.moved);
  const order = best?.order ?? "DMY";
  if (best === undefined || second === undefined || best.moved === second.moved) {
    return { order, why: "the dates do not tell; give the order if it is another" };
  }
  return {
    order,
    why: `the dates do not tell for certain; so they are ${best.moved} days apart in all, as ${second.order} ${second.moved}; give the order if it is another`,
  };
}

/** Undefined where the calendar has no such day. */
export function toDay([first, second, third]: Numbers, order: DateOrder): Day | undefined {
  const day =
    order === "YMD"
      ? { year: fullYear(first), month: second, day: third }
      : order === "DMY"
        ? { year: fullYear(third), month: second, day: first }
        : { year: fullYear(third), month: first, day: second };
  if (day.year < FIRST_YEAR || day.year > LAST_YEAR) return undefined;
  return isDay(day.year, day.month, day.day) ? day : undefined;
}

function fullYear(year: number): number {
  if (year < 100) return 2000 + year;
  return year > 2400 ? year - BUDDHIST_YEARS : year;
}
