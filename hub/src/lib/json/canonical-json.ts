// Canonical JSON: equal values have the same text, whatever the order of their keys. For hashes and comparisons.

import { isObject } from "./json.ts";

/** @example canonicalJson({ b: 1, a: [2] }) // '{"a":[2],"b":1}' */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value ?? null, withSortedKeys);
}

/** Keys in the order of their code units, as in RFC 8785. */
function withSortedKeys(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  const keys = Object.keys(value).toSorted(byCodeUnits);
  // Without a prototype: a key `__proto__` is a key like others.
  const sorted: Record<string, unknown> = Object.create(null);
  for (const key of keys) sorted[key] = value[key];
  return sorted;
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
