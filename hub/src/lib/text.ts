// Small texts: counts, first lines, and texts of others without control characters.

import { stripVTControlCharacters } from "node:util";
import { revealHidden } from "./hidden-text.ts";

const CONTROL = /[\p{Cc}\u2028\u2029]/gu;
const CONTROL_IN_LINES = /(?![\t\n])[\p{Cc}\u2028\u2029]/gu;

/** Untrusted text as one line, without control characters. */
export function oneLine(text: string): string {
  return revealHidden(stripVTControlCharacters(text).replace(CONTROL, " "));
}

/** Untrusted text without control characters, except line breaks. */
export function printable(text: string): string {
  return revealHidden(stripVTControlCharacters(text).replaceAll("\r\n", "\n").replace(CONTROL_IN_LINES, ""));
}

export function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

/** @example count(1, "tool") // "1 tool" */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
