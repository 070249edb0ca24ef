// What each entry of the server file is called. A name that the hub cannot use ("My Server", as other clients allow it)
// is turned into one that it can; the file keeps the user's spelling. The same file always gives the same names.

import { NAME_MAX } from "./limits.ts";
import { nameOf } from "./normalize.ts";
import { isMagicKey } from "./plain.ts";
import { LEGAL_NAME } from "./text.ts";

export interface NamedEntry {
  readonly key: string;
  readonly entry: unknown;
  /** Legal, and no other entry's. */
  readonly name: string;
  /** The spelling of the file, where it is not legal. */
  readonly writtenAs?: string;
  /** The name that it asks for, and that an entry before it has. */
  readonly takenName?: string;
}

/** In the order of the file. Legal names are given out first, so that no made-up one takes the place of a real one. */
export function nameEntries(keys: Iterable<string>, entryOf: (key: string) => unknown): NamedEntry[] {
  const entries = [...keys].map((key) => {
    const entry = entryOf(key);
    const own = nameOf(key, entry);
    return { key, entry, wanted: typeof own === "string" ? own.trim() : key.trim() };
  });
  const taken = new Set<string>();
  const first = new Map<string, string>();
  for (const { key, wanted } of entries) {
    if (!isLegal(wanted) || taken.has(wanted)) continue;
    taken.add(wanted);
    first.set(key, wanted);
  }
  return entries.map(({ key, entry, wanted }): NamedEntry => {
    const name = first.get(key);
    if (name !== undefined) return { key, entry, name };
    const isTaken = isLegal(wanted);
    const made = free(toLegalName(isTaken ? key : wanted), taken);
    taken.add(made);
    return { key, entry, name: made, ...(isTaken ? { takenName: wanted } : { writtenAs: wanted }) };
  });
}

function isLegal(name: string): boolean {
  return name !== "" && name.length <= NAME_MAX && LEGAL_NAME.test(name) && !isMagicKey(name);
}

/** @example toLegalName("My Server 2.0") // "My-Server-2-0" */
export function toLegalName(text: string): string {
  const words = text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .split(/[^A-Za-z0-9_]/);
  const name = words
    .filter((word) => word !== "")
    .join("-")
    .slice(0, NAME_MAX);
  return isLegal(name) ? name : "server";
}

function free(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let n = 2; ; n++) {
    const suffix = `-${n}`;
    const candidate = name.slice(0, NAME_MAX - suffix.length) + suffix;
    if (!taken.has(candidate)) return candidate;
  }
}
