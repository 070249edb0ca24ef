// Merges pages of lists of any kind: each has its entries in its only array member. The entries keep their bytes.

import { arrayOf } from "../../protocol/rpc/json-edit.ts";
import { elementsOf, isObject, membersOf, valueOf, type JsonObject } from "../../lib/json/json.ts";
import { raw, type Raw } from "../../protocol/rpc/jsonrpc.ts";

/** Undefined if there are no pages, or if they differ in form. */
export function mergeLists(pages: readonly Raw[]): Raw | undefined {
  const read = pages.map(({ bytes, value }) => ({ bytes, value: isObject(value) ? value : {} }));
  const [first] = read;
  const key = first && listKey(first.value);
  if (key === undefined || read.some(({ value }) => listKey(value) !== key)) return undefined;
  const entries = read.flatMap(({ bytes, value }) => entriesOf(bytes, value[key], key));
  const list = arrayOf(entries);
  const rest = cacheMembers(read.map(({ value }) => value));
  const members = [[key, list] as const, ...Object.entries(rest).map(([name, value]) => [name, raw(value)] as const)];
  const bytes = members.flatMap(([name, { bytes: part }], index) => [
    Buffer.from(`${index === 0 ? "{" : ","}${JSON.stringify(name)}:`),
    part,
  ]);
  return {
    bytes: Buffer.concat([...bytes, Buffer.from("}")]),
    value: Object.fromEntries(members.map(([name, { value }]) => [name, value])),
  };
}

function listKey(value: JsonObject): string | undefined {
  const keys = Object.keys(value).filter((key) => Array.isArray(value[key]));
  return keys.length === 1 ? keys[0] : undefined;
}

function entriesOf(bytes: Buffer, entries: unknown, key: string): Raw[] {
  const values: unknown[] = Array.isArray(entries) ? entries : [];
  const parts = elementsOf(valueOf(bytes, membersOf(bytes) ?? [], key) ?? Buffer.from("[]"), values.length) ?? [];
  return parts.map((part, index) => ({ bytes: part, value: values[index] }));
}

/** The shortest lifetime and the narrowest scope of the pages. */
function cacheMembers(values: readonly JsonObject[]): JsonObject {
  const ttls = values.map(({ ttlMs }) => ttlMs);
  const shortest = ttls.every((ttlMs) => typeof ttlMs === "number") ? Math.min(...ttls) : undefined;
  const isPublic = values.every(({ cacheScope }) => cacheScope === "public");
  return shortest === undefined ? {} : { ttlMs: shortest, cacheScope: isPublic ? "public" : "private" };
}
