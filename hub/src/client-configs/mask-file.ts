// Hides credentials in the text of a client's file, so that a change of the file can be shown. Everything else stays as written.

import { isObject } from "../lib/json/json.ts";
import { hideAll, isCredentialName, maskArgs, maskSecret, maskText, maskUrl, MASK } from "../redaction/mask.ts";

const HEADERS = /^(?:http_|request)?headers$/i;
/** Shorter values are replaced only where they are a whole word. */
const MIN_LENGTH = 6;

/** `data`: what the texts contain, parsed. */
export function maskFileText(text: string, data: unknown): string {
  const pairs = new Map<string, string>();
  collect(data, "", (value, shown) => {
    if (value !== shown) pairs.set(value, shown);
  });
  // The longest first: one may contain another.
  const sorted = [...pairs].toSorted(([a], [b]) => b.length - a.length);
  return sorted.reduce((masked, [value, shown]) => replace(masked, value, shown), text);
}

function collect(value: unknown, name: string, found: (value: string, shown: string) => void): void {
  if (typeof value === "string") return found(value, shownOf(name, value));
  if (Array.isArray(value)) {
    const words: unknown[] = value;
    if (words.every((word) => typeof word === "string")) {
      const masked = maskArgs(words, hideAll);
      for (const [index, word] of words.entries()) found(word, masked[index] ?? MASK);
    } else for (const item of words) collect(item, name, found);
    return;
  }
  if (!isObject(value)) return;
  for (const [key, member] of Object.entries(value)) {
    if (HEADERS.test(key) && isObject(member)) {
      for (const header of Object.values(member))
        if (typeof header === "string") found(header, maskSecret(header, hideAll));
    } else collect(member, key, found);
  }
}

function shownOf(name: string, value: string): string {
  if (isCredentialName(name)) return maskSecret(value, hideAll);
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? maskUrl(value, hideAll) : maskText(value, hideAll);
}

/** As written in the text: plain, or with the escapes of JSON. */
function replace(text: string, value: string, shown: string): string {
  const escaped = JSON.stringify(value).slice(1, -1);
  const spellings = escaped === value ? [value] : [escaped, value];
  return spellings.reduce((masked, each) => {
    if (each.length >= MIN_LENGTH) return masked.replaceAll(each, () => shown);
    return masked.replaceAll(`"${each}"`, () => `"${shown}"`).replaceAll(`'${each}'`, () => `'${shown}'`);
  }, text);
}
