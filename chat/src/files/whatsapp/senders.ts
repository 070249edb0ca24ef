// Who wrote: the name before the colon. Names and texts may have colons themselves; how often a name comes tells them apart.

import { carriedBy } from "./attachments.ts";

export interface Said {
  /** Absent where nobody is named: the app itself says it. */
  readonly sender: string | undefined;
  readonly content: string;
}

/** What follows more often under one name than this is no chance. */
const SURE = 3;
const MAX_NAME_CHARS = 100;
/** More names than a group has members; what comes after them is not counted. */
const MAX_NAMES = 100_000;
/** Splits that are looked at in one line. */
const MAX_SPLITS = 4;

interface Count {
  readonly total: number;
  /** With no other colon behind the name. */
  readonly alone: number;
  /** As the first name in the line. */
  readonly first: number;
  /** Where the app marks what it says itself. */
  readonly marked: number;
}

const NONE: Count = { total: 0, alone: 0, first: 0, marked: 0 };
const NO_FILES: ReadonlySet<string> = new Set();
const MARK = "\u200e";

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
        marked: marked + (content.startsWith(MARK) && carriedBy(content, NO_FILES) === undefined ? 1 : 0),
      });
    }
  }

  /** Everybody who may have written something. */
  people(): readonly string[] {
    return [...this.#names].flatMap(([name, { first }]) => (first > 0 && !this.#isSentence(name) ? [name] : []));
  }

  /** How often the app spoke under this name; undefined where somebody did. */
  voice(name: string): number | undefined {
    const { total, marked } = this.#names.get(name) ?? NONE;
    return total > 0 && total === marked ? marked : undefined;
  }

  /** `isChat` says whether this is the name of the chat, which is a person's where two talk. */
  split(rest: string, isChat: (name: string) => boolean = () => false): Said {
    const [first, ...longer] = splitsOf(rest);
    if (first === undefined) return { sender: undefined, content: rest };
    if (longer.length === 0) return this.#isSentence(first.sender) ? { sender: undefined, content: rest } : first;
    const known = this.#names.get(first.sender);
    // A name with a colon never stands alone, and its first part is nobody.
    const better = longer.findLast(({ sender }) => {
      if (isChat(sender)) return true;
      const total = this.#names.get(sender)?.total ?? 0;
      return known?.alone === 0 && total === known.total && total >= SURE;
    });
    return better ?? first;
  }

  /** What the app says of a change may quote a colon: `Ann changed the subject to "Plan: B"`. */
  #isSentence(sender: string): boolean {
    return (this.#names.get(sender)?.total ?? 0) <= 1 && /["“”«»„]/.test(sender);
  }
}

function splitsOf(rest: string): { readonly sender: string; readonly content: string }[] {
  const splits: { sender: string; content: string }[] = [];
  const colon = /:(?: |\u00a0|\u202f|$)/g;
  for (let match = colon.exec(rest); match !== null && splits.length < MAX_SPLITS; match = colon.exec(rest)) {
    if (match.index > MAX_NAME_CHARS) break;
    const sender = nameOf(rest.slice(0, match.index));
    if (sender !== "") splits.push({ sender, content: rest.slice(match.index + match[0].length) });
    // At the end of the line a colon has no width behind it.
    if (colon.lastIndex >= rest.length) break;
  }
  return splits;
}

/** Without marks and spaces around it, and without the tilde before a name that is not in the user's contacts. */
function nameOf(text: string): string {
  return text
    .replaceAll(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
    .trim()
    .replace(/^~\s*/, "");
}
