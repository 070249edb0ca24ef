// The head of a line that begins a message: when it was, in one of many spellings. Which number is the day is left to
// date-order.ts, since it takes the whole file to tell.

import { type DayHalf, dayHalfOf, hourOf } from "./day-half.ts";
import { digitValue } from "./digits.ts";

export interface Header {
  /** As they stand there. */
  readonly numbers: readonly [number, number, number];
  readonly time: { readonly hour: number; readonly minute: number; readonly second: number };
  /** How it is written. Within one file, all heads are written alike. */
  readonly style: string;
  /** The words for the half of the day, as they are written. */
  readonly halfWord: string | undefined;
  /** Where in the line the rest begins: sender and text. */
  readonly end: number;
}

/** No head is longer. */
const MAX_CHARS = 90;

const DATE = /(\d{1,4})( ?[/.年년-] ?)(\d{1,2})( ?[/.月월-] ?)(\d{1,4})( ?[日일.])?/;
const GAP = /([^\d[\]:]{1,24}?)/;
const TIME = /(\d{1,2})(:|\.| ?h ?)(\d{2})(?:(:|\.| min )(\d{2})(?: s)?)?/;
const END = /([^\d[\]:-]{0,14}?)(\] ?| - | – |: |, )/;
const HEADER = new RegExp(`^(\\[?) ?${DATE.source}${GAP.source}${TIME.source}${END.source}`);

/** Undefined where the line does not begin a message. */
export function parseHeader(line: string): Header | undefined {
  if (!mayBegin(line)) return undefined;
  const found = match(line);
  if (found === undefined) return undefined;
  const [
    ,
    bracket,
    first,
    sep,
    second,
    sep2,
    third,
    dot,
    gap = "",
    hours,
    colon,
    minutes,
    colon2,
    seconds,
    after = "",
    end,
  ] = found.match;
  const before = readGap(gap);
  const afterHalf = dayHalfOf(after);
  if (before === undefined || (after.trim() !== "" && afterHalf === undefined)) return undefined;
  const half: DayHalf | undefined = before.half ?? afterHalf;
  const hour = hourOf(Number(hours), half);
  const time = { hour, minute: Number(minutes), second: Number(seconds ?? 0) };
  if (time.hour > 23 || time.minute > 59 || time.second > 59) return undefined;
  const isYearFirst = first?.length === 4 ? "Y" : "";
  const isYearLast = third?.length === 4 ? "Y" : "";
  const place = before.half === undefined ? (afterHalf === undefined ? "" : "after") : "before";
  return {
    numbers: [Number(first), Number(second), Number(third)],
    time,
    style: [bracket, isYearFirst, sep, sep2, isYearLast, dot, before.words, place, colon, colon2, end?.trim()].join(
      "|",
    ),
    halfWord: half === undefined ? undefined : (place === "before" ? before.word : after).trim(),
    end: found.end,
  };
}

/** Most lines that do not are told by their first letter. */
function mayBegin(line: string): boolean {
  let at = 0;
  while (isMark(line.charCodeAt(at))) at++;
  const letter = line.charAt(at);
  return letter === "[" || digitValue(letter) !== undefined;
}

/** The match, and where each of its letters stands in the line. Most heads are ASCII, and need no folding. */
function match(line: string): { readonly match: RegExpExecArray; readonly end: number } | undefined {
  const head = line.slice(0, MAX_CHARS);
  const plain = HEADER.exec(head);
  if (plain !== null && isAscii(head, plain[0].length)) return { match: plain, end: plain[0].length };
  if (isAscii(head, head.length)) return undefined;
  const { text, places } = fold(head);
  const folded = HEADER.exec(text);
  return folded === null ? undefined : { match: folded, end: places[folded[0].length] ?? head.length };
}

function isAscii(text: string, length: number): boolean {
  for (let at = 0; at < length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}

/** Without marks, with plain spaces and digits; and where each letter of that stands in the head. */
function fold(head: string): { readonly text: string; readonly places: readonly number[] } {
  let text = "";
  const places: number[] = [];
  for (let at = 0; at < head.length; at++) {
    const code = head.charCodeAt(at);
    if (isMark(code)) continue;
    places.push(at);
    const letter = head.charAt(at);
    text += isBlank(code) ? " " : (digitValue(letter) ?? letter);
  }
  return { text, places };
}

/** Marks of the byte order, and of the direction of writing. */
function isMark(code: number): boolean {
  return code === 0xfeff || code === 0x200e || code === 0x200f || (code >= 0x202a && code <= 0x202c);
}

/** Blanks that do not break, narrow ones, and the tab. */
function isBlank(code: number): boolean {
  return code === 0xa0 || code === 0x202f || code === 0x2009 || code === 0x09;
}

interface Gap {
  readonly half: DayHalf | undefined;
  readonly word: string;
  /** What is no half of the day, such as `klo`, and the comma. */
  readonly words: string;
}

/** Between date and time: a comma, a word or two, or the half of the day. Sentences are none of that. */
function readGap(gap: string): Gap | undefined {
  const text = gap.trim();
  const half = dayHalfOf(text.replace(/^[,،.]+ ?/u, ""));
  if (half !== undefined) return { half, word: text.replace(/^[,،.]+ ?/u, ""), words: /^[,،]/u.test(text) ? "," : "" };
  const last = text.split(" ").at(-1) ?? "";
  const lastHalf = dayHalfOf(last);
  const words = lastHalf === undefined ? text : text.slice(0, -last.length).trim();
  if (!/^[,،.]{0,2} ?(?:\p{L}{1,8}\.?,? ?){0,2}$/u.test(words)) return undefined;
  return { half: lastHalf, word: last, words };
}
