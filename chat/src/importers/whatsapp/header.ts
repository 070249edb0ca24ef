// Parses the header of a message line: date and time in one of many spellings. The order of day and month is left to
// date-order.ts, which needs the whole file.

import { type DayPeriod, dayPeriodOf, hourOf } from "./day-period.ts";
import { digitValue } from "./digits.ts";

export interface Header {
  /** In the order of the text. */
  readonly numbers: readonly [number, number, number];
  readonly time: { readonly hour: number; readonly minute: number; readonly second: number };
  /** The notation. All headers of a file share one. */
  readonly style: string;
  /** The day period (AM, PM) as written. */
  readonly periodWord: string | undefined;
  /** Index where sender and text begin. */
  readonly end: number;
}

/** Longest header. */
const MAX_CHARS = 90;

const DATE =
  /(?<first>\d{1,4})(?<sep> ?[/.年년-] ?)(?<second>\d{1,2})(?<sep2> ?[/.月월-] ?)(?<third>\d{1,4})(?<dot> ?[日일.])?/
    .source;
const GAP = /(?<gap>[^\d[\]:]{1,24}?)/.source;
const TIME = /(?<hours>\d{1,2})(?<colon>:|\.| ?h ?)(?<minutes>\d{2})(?:(?<colon2>:|\.| min )(?<seconds>\d{2})(?: s)?)?/
  .source;
const AFTER = /(?<after>[^\d[\]:-]{0,14}?)/.source;
const END = /(?<end>\] ?| - | – |: |, )/.source;
const DATE_FIRST = new RegExp(`^(?<bracket>\\[?) ?${DATE}${GAP}${TIME}${AFTER}${END}`);
/** As in Vietnamese: `21:05, 31/12/2024 - `. */
const TIME_FIRST = new RegExp(`^(?<bracket>\\[?) ?${TIME}${GAP}${DATE}${AFTER}(?<end>\\] ?| - )`);

/** Words beside a time that do not change it: Bulgarian, Hindi, Thai, German. */
const CLOCK_WORDS: readonly string[] = ["ч", "बजे", "น", "uhr"];

/** Undefined if the line does not begin a message. */
export function parseHeader(line: string): Header | undefined {
  if (!mayBegin(line)) return undefined;
  const found = match(line);
  if (found === undefined) return undefined;
  const { groups, isTimeFirst } = found;
  const { bracket, first, sep, second, sep2, third, dot, gap, hours, colon, minutes, colon2, seconds, after, end } =
    groups;
  const before = readGap(gap ?? "");
  const word = withoutClockWords(after ?? "");
  const afterHalf = dayPeriodOf(word);
  if (before === undefined || (word !== "" && afterHalf === undefined)) return undefined;
  const half: DayPeriod | undefined = before.half ?? afterHalf;
  const hour = hourOf(Number(hours), half);
  const time = { hour, minute: Number(minutes), second: Number(seconds ?? 0) };
  if (time.hour > 23 || time.minute > 59 || time.second > 59) return undefined;
  const isYearFirst = first?.length === 4 ? "Y" : "";
  const isYearLast = third?.length === 4 ? "Y" : "";
  const halfPosition = before.half === undefined ? (afterHalf === undefined ? "" : "after") : "before";
  const style = [
    bracket,
    isYearFirst,
    sep,
    sep2,
    isYearLast,
    dot,
    before.words,
    halfPosition,
    colon,
    colon2,
    end?.trim(),
  ];
  return {
    numbers: [Number(first), Number(second), Number(third)],
    time,
    style: [...style, isTimeFirst ? "time first" : ""].join("|"),
    periodWord: half === undefined ? undefined : (halfPosition === "before" ? before.word : word).trim(),
    end: found.end,
  };
}

function withoutClockWords(after: string): string {
  const words = after
    .split(" ")
    .filter((word) => word !== "" && !CLOCK_WORDS.includes(word.toLowerCase().replace(/\.$/, "")));
  return words.join(" ");
}

/** Fast check of the first character, which rejects most lines. */
function mayBegin(line: string): boolean {
  let at = 0;
  while (isMark(line.charCodeAt(at))) at++;
  const letter = line.charAt(at);
  return letter === "[" || digitValue(letter) !== undefined;
}

interface Found {
  readonly groups: Readonly<Record<string, string | undefined>>;
  readonly isTimeFirst: boolean;
  readonly end: number;
}

/** Most headers are ASCII and need no folding. */
function match(line: string): Found | undefined {
  const head = line.slice(0, MAX_CHARS);
  const plain = matchPlain(head);
  if (plain !== undefined && isAscii(head, plain.end)) return plain;
  if (isAscii(head, head.length)) return undefined;
  const { text, offsets } = fold(head);
  const folded = matchPlain(text);
  return folded === undefined ? undefined : { ...folded, end: offsets[folded.end] ?? head.length };
}

function matchPlain(head: string): Found | undefined {
  const dateFirst = DATE_FIRST.exec(head);
  const found = dateFirst ?? TIME_FIRST.exec(head);
  if (found?.groups === undefined) return undefined;
  return { groups: found.groups, isTimeFirst: dateFirst === null, end: found[0].length };
}

function isAscii(text: string, length: number): boolean {
  for (let at = 0; at < length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}

/** Removes marks, normalises spaces and digits, and maps each position back to the original. */
function fold(head: string): { readonly text: string; readonly offsets: readonly number[] } {
  let text = "";
  const offsets: number[] = [];
  for (let at = 0; at < head.length; at++) {
    const code = head.charCodeAt(at);
    if (isMark(code)) continue;
    offsets.push(at);
    const letter = head.charAt(at);
    text += isBlank(code) ? " " : (digitValue(letter) ?? letter);
  }
  return { text, offsets };
}

/** Byte order mark and direction marks. */
function isMark(code: number): boolean {
  return code === 0xfeff || code === 0x200e || code === 0x200f || (code >= 0x202a && code <= 0x202c);
}

/** Non-breaking and narrow spaces, and the tab. */
function isBlank(code: number): boolean {
  return code === 0xa0 || code === 0x202f || code === 0x2009 || code === 0x09;
}

interface Gap {
  readonly half: DayPeriod | undefined;
  readonly word: string;
  /** The rest, such as `klo` and the comma. */
  readonly words: string;
}

/** Text between date and time: a comma, at most two words, or the day period. Undefined for anything longer. */
function readGap(gap: string): Gap | undefined {
  const text = gap.trim();
  const half = dayPeriodOf(text.replace(/^[,،.]+ ?/u, ""));
  if (half !== undefined) return { half, word: text.replace(/^[,،.]+ ?/u, ""), words: /^[,،]/u.test(text) ? "," : "" };
  const last = text.split(" ").at(-1) ?? "";
  const lastHalf = dayPeriodOf(last);
  const words = lastHalf === undefined ? text : text.slice(0, -last.length).trim();
  if (!/^[,،.]{0,2} ?(?:\p{L}{1,8}\.?,? ?){0,2}$/u.test(words)) return undefined;
  return { half: lastHalf, word: last, words };
}
