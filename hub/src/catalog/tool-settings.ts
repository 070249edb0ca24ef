// How a group changes tools: their names, descriptions and arguments. From the config and the server's definition only.

import type { ToolSettings, ToolSettingsMap } from "../config/schema/tool-settings.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { ToolFilter } from "./tool-filter.ts";

/** What a group has set for one tool. */
export interface ToolOverride {
  readonly settings: ToolSettings;
  /** As the server sent it: calls go by this. */
  readonly definition: JsonObject;
  /** Arguments that callers do not see and may not send. */
  readonly hidden: ReadonlySet<string>;
  /** Values that the hub sends, by argument. */
  readonly fixed: ReadonlyMap<string, unknown>;
}

interface Entry {
  readonly settings: ToolSettings;
  /** The entry with the higher one wins. */
  readonly rank: number;
  readonly filter: ToolFilter;
}

/** The settings of a group, looked up by tool. */
export class GroupToolSettings {
  readonly #entries: readonly Entry[];
  /** `server:tool` by the name that the group gives it. */
  readonly #named = new Map<string, string>();

  constructor(settings: ToolSettingsMap | undefined, maxNameLength: number) {
    this.#entries = Object.entries(settings ?? {})
      .map(([pattern, each]) => ({ settings: each, rank: rankOf(pattern), filter: new ToolFilter([pattern]) }))
      .toReversed()
      .toSorted((a, b) => a.rank - b.rank);
    for (const [pattern, { as }] of Object.entries(settings ?? {})) {
      if (as !== undefined && as.length <= maxNameLength) this.#named.set(as, pattern);
    }
  }

  /** Names that only the tools have to which the group gives them. */
  get names(): ReadonlyMap<string, string> {
    return this.#named;
  }

  /** Undefined for nearly all tools. */
  of(server: string, own: string, definition: JsonObject): ToolOverride | undefined {
    if (this.#entries.length === 0) return undefined;
    const entries = this.#entries.filter(({ filter }) => filter.admits(server, own));
    if (entries.length === 0) return undefined;
    const settings = entries.map((entry) => entry.settings).reduce(merged);
    const given = Object.entries(settings.arguments ?? {});
    const fixed = given.filter(([, argument]) => Object.hasOwn(argument, "const"));
    const required = requiredOf(definition);
    // Without a value, no call could succeed.
    const hidden = given.filter(([name, argument]) => argument.hidden === true && !required.has(name));
    return {
      settings,
      definition,
      hidden: new Set([...fixed, ...hidden].map(([name]) => name)),
      fixed: new Map(fixed.map(([name, argument]) => [name, argument.const])),
    };
  }
}

/** The more exactly a pattern names a tool, the more its settings count. Of two alike, the first counts. */
function rankOf(pattern: string): number {
  if (pattern.includes("*")) return 0;
  return pattern.includes(":") ? 2 : 1;
}

function merged(general: ToolSettings, special: ToolSettings): ToolSettings {
  const names = { ...general.arguments, ...special.arguments };
  return { ...general, ...special, ...(Object.keys(names).length === 0 ? {} : { arguments: names }) };
}

export function requiredOf({ inputSchema }: JsonObject): ReadonlySet<string> {
  const required = isObject(inputSchema) ? inputSchema["required"] : undefined;
  return new Set(Array.isArray(required) ? required.filter((name) => typeof name === "string") : []);
}

/** The definition that clients get, but for the name. */
export function overridden(definition: JsonObject, { settings, hidden }: ToolOverride): JsonObject {
  const { description } = settings;
  if (description === undefined && hidden.size === 0) return definition;
  const { inputSchema } = definition;
  return {
    ...definition,
    ...(description === undefined ? {} : { description }),
    ...(hidden.size === 0 || !isObject(inputSchema) ? {} : { inputSchema: without(inputSchema, hidden) }),
  };
}

/** Members with schemas of the same object. */
const SAME_OBJECT = ["allOf", "anyOf", "oneOf"] as const;

/** The schema of the same object without some of its properties. */
function without(schema: JsonObject, hidden: ReadonlySet<string>): JsonObject {
  const { properties, required, dependentRequired } = schema;
  return {
    ...schema,
    ...(isObject(properties) ? { properties: omit(properties, hidden) } : {}),
    ...(Array.isArray(required) ? { required: required.filter((name) => !hidden.has(String(name))) } : {}),
    ...(isObject(dependentRequired) ? { dependentRequired: withoutDependents(dependentRequired, hidden) } : {}),
    ...Object.fromEntries(
      SAME_OBJECT.flatMap((key) => {
        const parts = schema[key];
        if (!Array.isArray(parts)) return [];
        return [[key, parts.map((part: unknown) => (isObject(part) ? without(part, hidden) : part))]];
      }),
    ),
  };
}

function withoutDependents(map: JsonObject, hidden: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(
    Object.entries(omit(map, hidden)).map(([key, names]) => [
      key,
      Array.isArray(names) ? names.filter((name) => !hidden.has(String(name))) : names,
    ]),
  );
}

function omit(object: JsonObject, hidden: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !hidden.has(key)));
}
