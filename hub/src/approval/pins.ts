// Pins: the definitions of a server's tools as they were approved, and what has changed since. Only the order of keys may differ.

import { diffTools, type ToolDifference } from "../catalog/tool-diff.ts";
import type { JsonObject } from "../lib/json/json.ts";
import { digestOf } from "./run.ts";

export interface Pin {
  /** Of the whole definition: name, description, schemas, annotations, `_meta` and what else there is. */
  readonly digest: string;
  /** As approved, to show what has changed. */
  readonly definition: JsonObject;
  /** Who approved it. */
  readonly by: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** By the name of the tool. */
export type Pins = ReadonlyMap<string, Pin>;

export type ToolState = "added" | "changed";

/** Digests of definitions, each computed once: a listing is compared again with every change of the approvals. */
export class Digests {
  readonly #known = new WeakMap<JsonObject, string>();

  of(definition: JsonObject): string {
    const known = this.#known.get(definition);
    if (known !== undefined) return known;
    const digest = digestOf(definition);
    this.#known.set(definition, digest);
    return digest;
  }
}

export function pinAll(
  tools: readonly JsonObject[],
  { by, at, digests }: { readonly by: string; readonly at: number; readonly digests: Digests },
): Pins {
  const pins = [...byName(tools)].map(
    ([name, definition]) => [name, { digest: digests.of(definition), definition, by, at }] as const,
  );
  return new Map(pins);
}

/** The tools that are not as they were approved. */
export function comparePins(
  pins: Pins,
  tools: readonly JsonObject[],
  digests: Digests,
): ReadonlyMap<string, ToolState> {
  const changes = new Map<string, ToolState>();
  for (const [name, definition] of byName(tools)) {
    const pin = pins.get(name);
    if (pin === undefined) changes.set(name, "added");
    else if (pin.digest !== digests.of(definition)) changes.set(name, "changed");
  }
  return changes;
}

/** What differs between the pins and the tools of now, in detail. */
export function diffPins(pins: Pins, tools: readonly JsonObject[]): ToolDifference[] {
  return diffTools(
    [...pins.values()].map(({ definition }) => definition),
    tools,
  );
}

/** Of two tools with one name the first is exposed. */
export function byName(tools: readonly JsonObject[]): Map<string, JsonObject> {
  const named = new Map<string, JsonObject>();
  for (const tool of tools) {
    const name = String(tool["name"]);
    if (!named.has(name)) named.set(name, tool);
  }
  return named;
}
