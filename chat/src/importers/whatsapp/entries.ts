// Joins lines into entries: a line without a header continues the message before it.

import type { Line } from "../lines.ts";
import type { WallTime } from "../../model/zone.ts";
import { toDay } from "./date-order.ts";
import { parseHeader } from "./header.ts";
import type { FileAnalysis } from "./file-analysis.ts";

export interface Entry {
  /** Number of its first line. */
  readonly line: number;
  readonly wall: WallTime;
  /** The first line after the header. */
  readonly rest: string;
  readonly more: readonly string[];
}

/** The app allows no longer message; further lines are dropped. */
const MAX_LINES = 70_000;

export class EntryReader {
  readonly #analysis: FileAnalysis;
  #open: { line: number; wall: WallTime; rest: string; more: string[] } | undefined;

  constructor(analysis: FileAnalysis) {
    this.#analysis = analysis;
  }

  /** The previous entry if this line starts a new one. "orphan" is a line that belongs to no message. */
  add({ text, number }: Line): Entry | "orphan" | undefined {
    const begun = this.#begin(text);
    const open = this.#open;
    if (begun === undefined) {
      if (open === undefined || open.more.length >= MAX_LINES) return "orphan";
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
    // A header in another style is quoted text.
    if (header === undefined || header.style !== this.#analysis.style) return undefined;
    const day = toDay(header.numbers, this.#analysis.dates.order);
    if (day === undefined) return undefined;
    const { year, month, day: dayOfMonth } = day;
    const { hour, minute, second } = header.time;
    return { wall: { year, month, day: dayOfMonth, hour, minute, second }, rest: text.slice(header.end) };
  }
}
