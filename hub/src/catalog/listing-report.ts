// What was wrong with a server's lists, as warnings that a person can act on. Equal faults of many entries are one warning,
// so that a careless serializer with a thousand tools makes one line and not a thousand.

import type { EntryKind, Fault } from "./repair.ts";
import { quote } from "./quote.ts";

const NOUNS: Readonly<Record<EntryKind, string>> = {
  tools: "tool",
  prompts: "prompt",
  resources: "resource",
  templates: "resource template",
};
/** Names that one warning mentions, and warnings of one listing. */
const MAX_NAMES = 3;
const MAX_WARNINGS = 50;
const MAX_LABEL = 60;

interface Counted {
  readonly kind: EntryKind;
  readonly what: string;
  /** What clients do not get comes first. */
  readonly isOmitted: boolean;
  readonly names: string[];
  /** Which was counted last: an entry may have the same fault several times. */
  last: string | undefined;
  count: number;
}

export class ListingReport {
  readonly #counted = new Map<string, Counted>();
  readonly #said = new Set<string>();

  repaired(kind: EntryKind, name: string, { member, problem, remedy }: Fault): void {
    this.#count(kind, name, `: ${member} ${problem}, ${remedy}`);
  }

  omitted(kind: EntryKind, name: string, reason: string): void {
    this.#count(kind, name, ` not listed: ${reason}`, true);
  }

  /** Something about an entry that changes nothing. */
  noted(kind: EntryKind, name: string, what: string): void {
    this.#count(kind, name, ` ${what}`);
  }

  say(warning: string): void {
    this.#said.add(warning);
  }

  get warnings(): readonly string[] {
    const counted = [...this.#counted.values()].toSorted((a, b) => Number(b.isOmitted) - Number(a.isOmitted));
    const all = [...this.#said, ...counted.map(worded)];
    if (all.length <= MAX_WARNINGS) return all;
    return [...all.slice(0, MAX_WARNINGS - 1), `${all.length - MAX_WARNINGS + 1} more warnings of this kind`];
  }

  #count(kind: EntryKind, name: string, what: string, isOmitted = false): void {
    const key = `${kind} ${what}`;
    const known = this.#counted.get(key) ?? { kind, what, isOmitted, names: [], last: undefined, count: 0 };
    if (known.last === name) return;
    known.last = name;
    known.count++;
    if (known.names.length < MAX_NAMES) known.names.push(name);
    this.#counted.set(key, known);
  }
}

/** @example 'Tool "a": description is null, left out', '7 tools ("a", "b", "c", …): description is null, left out' */
function worded({ kind, what, names, count }: Counted): string {
  const noun = NOUNS[kind];
  if (count === 1) return `${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${label(names[0] ?? "")}${what}`;
  const more = count > names.length ? ", …" : "";
  return `${count} ${noun}s (${names.map(label).join(", ")}${more})${what}`;
}

/** An entry without a name is shown by where it stands. */
function label(name: string): string {
  if (name.startsWith("#")) return name;
  return quote(name.length > MAX_LABEL ? `${name.slice(0, MAX_LABEL)}…` : name);
}
