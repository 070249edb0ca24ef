// Splits a line into sender and text at a colon. Names and texts may contain colons too; the frequency of names decides.

import { carriedMedia, type FilesByName } from "./attachments.ts";
import { MARK } from "./phrases.ts";

export interface SplitLine {
  /** Undefined for a system message. */
  readonly sender: string | undefined;
  readonly content: string;
}

/** A name seen this often is not a coincidence. */
const MIN_OCCURRENCES = 3;
const MAX_NAME_CHARS = 100;
/** Above the members of any group; further names are not counted. */
const MAX_NAMES = 100_000;
/** Colons tried per line. */
const MAX_SPLITS = 4;

interface Count {
  readonly total: number;
  /** Lines with no further colon. */
  readonly alone: number;
  /** Lines where it is the first candidate. */
  readonly first: number;
  /** Lines marked as system messages. */
  readonly marked: number;
}

const NONE: Count = { total: 0, alone: 0, first: 0, marked: 0 };
const NO_FILES: FilesByName = new Map();

export class SenderStatistics {
  readonly #names = new Map<string, Count>();

  add(rest: string): void {
    const splits = splitsOf(rest);
    for (const [index, { sender, content }] of splits.entries()) {
      const { total, alone, first, marked } = this.#names.get(sender) ?? NONE;
      if (total === 0 && this.#names.size >= MAX_NAMES) return;
      this.#names.set(sender, {
        total: total + 1,
        alone: alone + (splits.length === 1 ? 1 : 0),
        first: first + (index === 0 ? 1 : 0),
        marked: marked + (content.startsWith(MARK) && carriedMedia(content, NO_FILES) === undefined ? 1 : 0),
      });
    }
  }

  /** All likely senders. */
  people(): readonly string[] {
    return [...this.#names].flatMap(([name, { first }]) => (first > 0 && !this.#isSentence(name) ? [name] : []));
  }

  /** Number of system messages under this name; undefined if a person wrote under it. */
  systemMessageCount(name: string): number | undefined {
    const { total, marked } = this.#names.get(name) ?? NONE;
    return total > 0 && total === marked ? marked : undefined;
  }

  /** `isChat` matches the chat's name, which in a direct chat is a person's. */
  split(rest: string, isChat: (name: string) => boolean = () => false): SplitLine {
    const [first, ...longer] = splitsOf(rest);
    if (first === undefined) return { sender: undefined, content: rest };
    if (this.#isSentence(first.sender)) return { sender: undefined, content: rest };
    if (longer.length === 0) return first;
    const known = this.#names.get(first.sender);
    // If the short name always comes with the same continuation, the longer name is the sender.
    const better = longer.findLast(({ sender }) => {
      if (isChat(sender)) return true;
      const total = this.#names.get(sender)?.total ?? 0;
      return known?.alone === 0 && total === known.total && total >= MIN_OCCURRENCES;
    });
    return better ?? first;
  }

  /** System messages may quote a colon: `Ann changed the subject to "Plan: B"`. The candidate then has an unclosed quote. */
  #isSentence(sender: string): boolean {
    if ((this.#names.get(sender)?.total ?? 0) >= MIN_OCCURRENCES) return false;
    return countQuotes(sender) % 2 === 1;
  }
}

const QUOTES = '"“”«»„「」';

/** Ignores quotes inside a word, as in Hebrew abbreviations. */
function countQuotes(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    if (QUOTES.includes(text.charAt(at)) && !(isLetter(text.charAt(at - 1)) && isLetter(text.charAt(at + 1)))) count++;
  }
  return count;
}

function isLetter(sign: string): boolean {
  return /^\p{L}$/u.test(sign);
}

function splitsOf(rest: string): { readonly sender: string; readonly content: string }[] {
  const splits: { sender: string; content: string }[] = [];
  const colon = /:(?: |\u00a0|\u202f|$)/g;
  for (let match = colon.exec(rest); match !== null && splits.length < MAX_SPLITS; match = colon.exec(rest)) {
    if (match.index > MAX_NAME_CHARS) break;
    const sender = nameOf(rest.slice(0, match.index));
    if (sender !== "") splits.push({ sender, content: rest.slice(match.index + match[0].length) });
    // A zero-width match at the end of the line would loop forever.
    if (colon.lastIndex >= rest.length) break;
  }
  return splits;
}

/** Removes marks, spaces, and the tilde before names outside the user's contacts. */
function nameOf(text: string): string {
  return text
    .replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
    .trim()
    .replace(/^~\s*/, "");
}
