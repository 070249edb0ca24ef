// Decides the order of day, month and year. All dates of a file share one order: impossible dates rule orders out, then the
// user's choice counts, then dates that go back in time, then the spelling of AM and PM.

import { toUtc } from "../../model/zone.ts";
import { isDay } from "../wall-clock.ts";
import { fromSolarHijri, isSolarHijriYear } from "./solar-hijri.ts";

export type DateOrder = "DMY" | "MDY" | "YMD";

export interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

type Numbers = readonly [number, number, number];

export interface Decision {
  readonly order: DateOrder;
  /** For the report: the evidence. */
  readonly why: string;
  /** Whether the years are of the Solar Hijri calendar (Iran). */
  readonly isSolarHijri: boolean;
}

type Order = Omit<Decision, "isSolarHijri">;

const ORDERS: readonly DateOrder[] = ["DMY", "MDY", "YMD"];
const DAY_MS = 86_400_000;
/** Offset of the Thai Buddhist calendar. */
const BUDDHIST_YEARS = 543;
/** WhatsApp was released in 2009. */
const FIRST_YEAR = 2009;
const LAST_YEAR = 2100;
/** Share of dates that may be quoted text instead of message headers. */
const MAX_OUTLIERS = 0.1;

interface Tally {
  readonly order: DateOrder;
  impossible: number;
  backwards: number;
  /** Sum of the days between consecutive messages. */
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
  #isSolarHijri = false;

  /** Consecutive equal dates count once. */
  add(numbers: Numbers): void {
    const spelled = numbers.join("/");
    if (spelled === this.#previous) return;
    this.#previous = spelled;
    this.#count++;
    if (numbers.some(isSolarHijriYear)) this.#isSolarHijri = true;
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

  decide(hints: { readonly wish?: DateOrder | undefined; readonly periodWord?: string | undefined }): Decision {
    return { ...this.#order(hints), isSolarHijri: this.#isSolarHijri };
  }

  #order({
    wish,
    periodWord,
  }: {
    readonly wish?: DateOrder | undefined;
    readonly periodWord?: string | undefined;
  }): Order {
    const possible = this.#possible();
    const [only] = possible;
    if (only !== undefined && possible.length === 1) return this.#proven(only, wish);
    const wished = possible.find(({ order }) => order === wish);
    if (wished !== undefined) return { order: wished.order, why: "as given; the dates allow it" };
    return byJumps(possible) ?? byClock(possible, periodWord) ?? bySpan(possible);
  }

  /** The orders with the fewest impossible dates. YMD with two-digit years is rare, so it needs stronger evidence. */
  #possible(): readonly Tally[] {
    const yearLast = this.#tallies.filter(({ order }) => order !== "YMD");
    const best = leastImpossible(yearLast);
    const isPlausible = (best[0]?.impossible ?? 0) <= this.#count * MAX_OUTLIERS;
    return isPlausible ? best : leastImpossible(this.#tallies);
  }

  #proven({ order }: Tally, wish: DateOrder | undefined): Order {
    const others = this.#tallies.flatMap((tally) => (tally.order === order ? [] : [tally.impossible]));
    const against = wish === undefined || wish === order ? "" : `; ${wish}, as given, is impossible`;
    return { order, why: `${Math.min(...others)} of ${this.#count} dates allow no other order${against}` };
  }
}

function leastImpossible(tallies: readonly Tally[]): readonly Tally[] {
  const least = Math.min(...tallies.map(({ impossible }) => impossible));
  return tallies.filter(({ impossible }) => impossible === least);
}

function byJumps(possible: readonly Tally[]): Order | undefined {
  const [best, second] = possible.toSorted((one, other) => one.backwards - other.backwards);
  if (best === undefined || second === undefined || best.backwards === second.backwards) return undefined;
  return {
    order: best.order,
    why: `${best.backwards} dates go back in time, with ${second.order} ${second.backwards} would`,
  };
}

/** Upper-case `PM` is US style; other locales use lower case or their own words. */
function byClock(possible: readonly Tally[], periodWord: string | undefined): Order | undefined {
  const order = periodWord === undefined ? undefined : /^[AP]M$/.test(periodWord) ? "MDY" : "DMY";
  if (order === undefined || !possible.some((tally) => tally.order === order)) return undefined;
  return { order, why: `the dates are ambiguous; times are written with “${periodWord}”` };
}

function bySpan(possible: readonly Tally[]): Order {
  const [best, second] = possible.toSorted((one, other) => one.moved - other.moved);
  const order = best?.order ?? "DMY";
  if (best === undefined || second === undefined || best.moved === second.moved) {
    return { order, why: "the dates are ambiguous; use --date-order if this is wrong" };
  }
  return {
    order,
    why: `the dates are ambiguous; this order spans ${best.moved} days in total, ${second.order} ${second.moved}; use --date-order if this is wrong`,
  };
}

/** Undefined if the date does not exist. */
export function toDay([first, second, third]: Numbers, order: DateOrder): Day | undefined {
  const day =
    order === "YMD"
      ? { year: fullYear(first), month: second, day: third }
      : order === "DMY"
        ? { year: fullYear(third), month: second, day: first }
        : { year: fullYear(third), month: first, day: second };
  if (isSolarHijriYear(day.year)) return fromSolarHijri(day);
  if (day.year < FIRST_YEAR || day.year > LAST_YEAR) return undefined;
  return isDay(day.year, day.month, day.day) ? day : undefined;
}

function fullYear(year: number): number {
  if (year < 100) return 2000 + year;
  return year > 2400 ? year - BUDDHIST_YEARS : year;
}
