// Phone and card numbers: runs of digits, however they are grouped.

import type { Span } from "./span.ts";

/** A maximal run: digits with at most two separators between them. */
const RUN = /\+?\(?\d(?:[ .\-()/]{0,2}\d)*/g;
const DATES = [
  /^\d{4}[-./]\d{1,2}[-./]\d{1,2}$/,
  /^\d{1,2}[-./]\d{1,2}[-./](?:\d{2}|\d{4})$/,
  /^\d{4}-\d{2}-\d{2} \d{1,2}$/,
];
const IP_ADDRESS = /^\d{1,3}(?:\.\d{1,3}){3}$/;
/** Without a plus or groups, fewer digits are rather an amount or an id. */
const MIN_BARE_DIGITS = 9;
const MIN_DIGITS = 7;
const MAX_DIGITS = 15;

export function findPhones(view: string): readonly Span[] {
  return runsOf(view)
    .flatMap(splitNumbers)
    .filter(isPhone)
    .map(({ start, end }) => ({ kind: "phone", start, end }));
}

export function findCards(view: string): readonly Span[] {
  return runsOf(view).flatMap(cardsIn);
}

interface Run {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function runsOf(view: string): readonly Run[] {
  return [...view.matchAll(RUN)].map(({ 0: text, index }) => ({ text, start: index, end: index + text.length }));
}

/** Several numbers with a space between them are one run; it is taken apart where each part can stand for itself. */
function splitNumbers(run: Run): readonly Run[] {
  if (digitsOf(run.text).length <= MAX_DIGITS) return [run];
  const parts = [...run.text.matchAll(/[^ ]+/g)].map(({ 0: text, index }) => {
    return { text, start: run.start + index, end: run.start + index + text.length };
  });
  return parts.every(({ text }) => digitsOf(text).length >= MIN_DIGITS) ? parts : [run];
}

function isPhone({ text }: Run): boolean {
  const count = digitsOf(text).length;
  if (text.startsWith("+")) return count >= MIN_DIGITS;
  if (DATES.some((date) => date.test(text)) || IP_ADDRESS.test(text)) return false;
  return count >= (/^\d+$/.test(text) ? MIN_BARE_DIGITS : MIN_DIGITS);
}

/** A card may be followed by its date, so every row of whole groups is tried; the longest that passes is it. */
function cardsIn({ text, start }: Run): readonly Span[] {
  const groups = [...text.matchAll(/\d+/g)];
  for (let from = 0; from < groups.length; from++) {
    for (let to = groups.length - 1; to >= from; to--) {
      const digits = groups
        .slice(from, to + 1)
        .map(([group]) => group)
        .join("");
      if (digits.length < 13) break;
      if (digits.length > 19 || !passesLuhn(digits)) continue;
      const [first, last] = [groups[from], groups[to]];
      if (first === undefined || last === undefined) continue;
      const end = last.index + last[0].length;
      const rest = { text: text.slice(end), start: start + end, end: start + text.length };
      return [{ kind: "card", start: start + first.index, end: start + end }, ...cardsIn(rest)];
    }
  }
  return [];
}

function passesLuhn(digits: string): boolean {
  const sum = digits
    .split("")
    .toReversed()
    .reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}

function digitsOf(text: string): string {
  return text.replace(/\D/g, "");
}
