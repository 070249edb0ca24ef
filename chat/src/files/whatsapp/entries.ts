// Puts lines together to what was said: a line without a head goes on with the message before it.

import type { Line } from "../lines.ts";
import type { WallTime } from "../../zone.ts";
import { toDay } from "./date-order.ts";
import { parseHeader } from "./header.ts";
import type { Survey } from "./survey.ts";

export interface Entry {
  /** Of its first line. */
  readonly line: number;
  readonly wall: WallTime;
  /** What follows the head, and the lines after it. */
  readonly rest: string;
  readonly more: readonly string[];
}

/** A message is cut there: the app allows no longer one, so it is none. */
const MAX_LINES = 70_000;

export class EntryReader {
  readonly #survey: Survey;
  #open: { line: number; wall: WallTime; rest: string; more: string[] } | undefined;

  constructor(survey: Survey) {
    this.#survey = survey;
  }

  /** The message that this line ends, where it does. "lost" is a line that belongs to none. */
  add({ text, number }: Line): Entry | "lost" | undefined {
    const begun = this.#begin(text);
    const open = this.#open;
    if (begun === undefined) {
      if (open === undefined || open.more.length >= MAX_LINES) return "lost";
      open.more.push(text);
      return undefined;
    }
    this.#open = { line: number, wall: begun.wall, rest: begun.rest, more: [] };
    return open;
  }

  end(): Entry | undefined {
    const open = this.#open;
    this.#open = undefined;
    return open;
  }

  #begin(text: string): { wall: WallTime; rest: string } | undefined {
    const header = parseHeader(text);
    // A head in another style is quoted in a text.
    if (header === undefined || header.style !== this.#survey.style) return undefined;
    const day = toDay(header.numbers, this.#survey.dates.order);
    if (day === undefined) return undefined;
    const { year, month, day: dayOfMonth } = day;
    const { hour, minute, second } = header.time;
    return { wall: { year, month, day: dayOfMonth, hour, minute, second }, rest: text.slice(header.end) };
  }
}
