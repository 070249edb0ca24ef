// Assigns a unique legal name to each entry of the server file. A name that only other clients allow ("My Server") is
// converted; the file keeps the user's spelling. The same file always gives the same names.

import { NAME_MAX } from "../schema/limits.ts";
import { nameOf } from "./normalize.ts";
import { isPrototypeKey } from "./plain-object.ts";
import { LEGAL_NAME } from "../schema/text.ts";

export interface NamedEntry {
  readonly key: string;
  readonly entry: unknown;
  /** Legal and unique. */
  readonly name: string;
  /** The spelling in the file, if it is not legal. */
  readonly writtenAs?: string;
  /** The name in the file, if an earlier entry has it already. */
  readonly takenName?: string;
}

/** In file order. Legal names are assigned first, so that no generated name takes one of them. */
export function nameEntries(keys: Iterable<string>, entryOf: (key: string) => unknown): NamedEntry[] {
  const entries = [...keys].map((key) => {
    const entry = entryOf(key);
    const declared = nameOf(key, entry);
    return { key, entry, requested: typeof declared === "string" ? declared.trim() : key.trim() };
  });
  const taken = new Set<string>();
  const first = new Map<string, string>();
  for (const { key, requested } of entries) {
    if (!isLegal(requested) || taken.has(requested)) continue;
    taken.add(requested);
    first.set(key, requested);
  }
  return entries.map(({ key, entry, requested }): NamedEntry => {
    const name = first.get(key);
    if (name !== undefined) return { key, entry, name };
    const isTaken = isLegal(requested);
    const generated = unusedName(toLegalName(isTaken ? key : requested), taken);
    taken.add(generated);
    return { key, entry, name: generated, ...(isTaken ? { takenName: requested } : { writtenAs: requested }) };
  });
}

function isLegal(name: string): boolean {
  return name !== "" && name.length <= NAME_MAX && LEGAL_NAME.test(name) && !isPrototypeKey(name);
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

function unusedName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let n = 2; ; n++) {
    const suffix = `-${n}`;
    const candidate = name.slice(0, NAME_MAX - suffix.length) + suffix;
    if (!taken.has(candidate)) return candidate;
  }
}
