// Collects the faults of a server's lists as warnings for users. Equal faults of many entries become one warning, so that a faulty
// serializer with a thousand tools causes one line.

import type { EntryKind, Fault } from "./repair.ts";
import { quote } from "./quote.ts";

const NOUNS: Readonly<Record<EntryKind, string>> = {
  tools: "tool",
  prompts: "prompt",
  resources: "resource",
  templates: "resource template",
};
/** Names in one warning. */
const MAX_NAMES = 3;
const MAX_WARNINGS = 50;
const MAX_LABEL = 60;

interface FaultCount {
  readonly kind: EntryKind;
  readonly what: string;
  /** Warnings about omitted entries come first. */
  readonly isOmitted: boolean;
  readonly names: string[];
  /** The last counted entry: an entry may have the same fault several times. */
  last: string | undefined;
  count: number;
}

export class ListingReport {
  readonly #counted = new Map<string, FaultCount>();
  readonly #warnings = new Set<string>();

  repaired(kind: EntryKind, name: string, { member, problem, remedy }: Fault): void {
    this.#count(kind, name, `: ${member} ${problem}, ${remedy}`);
  }

  omitted(kind: EntryKind, name: string, reason: string): void {
    this.#count(kind, name, ` not listed: ${reason}`, true);
  }

  /** A remark about an entry that is not changed. */
  noted(kind: EntryKind, name: string, what: string): void {
    this.#count(kind, name, ` ${what}`);
  }

  add(warning: string): void {
    this.#warnings.add(warning);
  }

  get warnings(): readonly string[] {
    const counted = [...this.#counted.values()].toSorted((a, b) => Number(b.isOmitted) - Number(a.isOmitted));
    const all = [...this.#warnings, ...counted.map(toText)];
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

/** @example 'Tool "a": description is null, omitted', '7 tools ("a", "b", "c", …): description is null, omitted' */
function toText({ kind, what, names, count }: FaultCount): string {
  const noun = NOUNS[kind];
  if (count === 1) return `${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${label(names[0] ?? "")}${what}`;
  const more = count > names.length ? ", …" : "";
  return `${count} ${noun}s (${names.map(label).join(", ")}${more})${what}`;
}

/** An entry without a name is shown by its position. */
function label(name: string): string {
  if (name.startsWith("#")) return name;
  return quote(name.length > MAX_LABEL ? `${name.slice(0, MAX_LABEL)}…` : name);
}
