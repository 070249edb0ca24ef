// How the config of another hub or gateway is read: its servers in the spelling that clients use, its groups, and notes on what has
// no equivalent here. import/plan.ts translates the result.

import * as z from "zod/mini";
import type { JsonObject } from "../../config/parse/plain-object.ts";
import type { ToolSettings } from "../../config/schema/tool-settings.ts";

export interface Product {
  /** Throws InvalidConfig with the field if the data is not in the product's format. */
  readonly read: (data: unknown, beside: ReadBeside) => Promise<ProductConfig> | ProductConfig;
  /** Where its config comes from, if no file is found. */
  readonly hint: string;
}

/** The data of another file in the same folder; undefined if there is none. */
export type ReadBeside = (name: string) => Promise<unknown>;

export interface ProductConfig {
  readonly servers: readonly ProductServer[];
  readonly groups: readonly ProductGroup[];
  /** On settings of the whole file. Notes never contain credentials. */
  readonly notes: readonly string[];
}

export interface ProductServer {
  readonly name: string;
  /** In the spelling of clients. */
  readonly entry: JsonObject;
  /** More members, in the hub's spelling. */
  readonly settings?: JsonObject;
  /** By tool. They count in each group that has the server. */
  readonly toolSettings?: Readonly<Record<string, ToolSettings>>;
  readonly notes: readonly string[];
}

export interface ProductGroup {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly members: readonly GroupMember[];
  /** `server:tool` patterns. If any selects tools, no others are exposed. */
  readonly patterns?: readonly string[];
  readonly exposure?: "all" | "search" | undefined;
  readonly notes?: readonly string[];
}

export interface GroupMember {
  /** Its name in the product. */
  readonly server: string;
  /** Undefined: all tools. */
  readonly include?: readonly string[] | undefined;
  readonly exclude?: readonly string[];
  readonly toolSettings?: Readonly<Record<string, ToolSettings>>;
}

/** What to do instead of a setting that has no equivalent. */
export type Advice = Readonly<Record<string, string>>;

/** Notes on the members that are set and not translated: with advice, or as unknown. */
export function notesOn(entry: object, translated: object, advice: Advice): string[] {
  return Object.entries(entry).flatMap(([key, value]) => {
    if (!isSet(value) || Object.hasOwn(translated, key)) return [];
    return [Object.hasOwn(advice, key) ? `"${key}": ${advice[key]}` : `"${key}" is not known and is ignored`];
  });
}

/** False and empty values say the same as no value. */
function isSet(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === "") return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

/** Omits undefined members. */
export function compact(members: Readonly<Record<string, JsonObject[string] | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).flatMap(([key, value]) => (value === undefined || value === null ? [] : [[key, value]])),
  );
}

const scalar = z.union([z.string(), z.number(), z.boolean()]);
export const texts = z.array(z.string());
/** Variables or headers. */
export const values = z.record(z.string(), scalar);
export const milliseconds = z.number().check(z.gte(0));

/** The group that stands for its address of all servers, if that does not expose all tools. */
export function groupOfAll(id: string, product: string, servers: readonly ProductServer[]): ProductGroup[] {
  const selects = servers.some(
    ({ entry, toolSettings = {} }) =>
      entry["enabled_tools"] !== undefined ||
      (Array.isArray(entry["disabled_tools"]) && entry["disabled_tools"].length > 0) ||
      Object.keys(toolSettings).length > 0,
  );
  const members = servers.map(({ name }) => ({ server: name }));
  return selects ? [{ name: id, description: `Tools for ${product}`, members }] : [];
}

/** "1 key", "2 keys" */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
