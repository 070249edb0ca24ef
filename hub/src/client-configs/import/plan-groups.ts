// Plans the groups of a product's file: which servers and tools they have here, under which names.

import {
  groupTools,
  patternsOf,
  settingsOf,
  toGroupTools,
  type ToolSettings,
} from "../../config/schema/tool-settings.ts";
import { parseWith } from "../../config/schema/schema.ts";
import { HubError } from "../../errors.ts";
import type { GroupMember, ProductGroup } from "../products/product.ts";
import type { PlannedGroup, PlanOptions } from "./plan.ts";

/** A server of the file as it is in the hub. */
export interface JoinedServer {
  readonly name: string;
  /** The tools that the product exposes of it; undefined: all. */
  readonly include: readonly string[] | undefined;
  readonly exclude: readonly string[];
  readonly toolSettings: Readonly<Record<string, ToolSettings>>;
}

export type FindServer = (nameInProduct: string) => JoinedServer | undefined;

interface GroupContext {
  readonly find: FindServer;
  /** Id of the product. */
  readonly product: string;
  /** Groups that the hub has. */
  readonly existing: PlanOptions["groups"];
  /** Names of groups that are planned already. */
  readonly planned: ReadonlySet<string>;
  readonly toLegalName: (text: string) => string;
  readonly note: (text: string) => void;
}

/** Undefined if the hub has the group, or none of its servers is imported. */
export function planGroup(group: ProductGroup, context: GroupContext): PlannedGroup | undefined {
  const { find, note } = context;
  const say = (text: string) => note(`the group ${group.name}: ${text}`);
  const members = group.members.flatMap((member) => {
    const server = find(member.server);
    if (server === undefined) say(`${member.server} is not imported and is left out`);
    return server === undefined ? [] : [{ ...member, server }];
  });
  if (members.length === 0) {
    if (group.members.length === 0) for (const text of group.notes ?? []) say(text);
    say("it has no servers and is not imported");
    return undefined;
  }
  const description = group.description?.replaceAll(/\p{Cc}+/gu, " ").trim();
  const entry: PlannedGroup["entry"] = {
    ...(description ? { description: description.slice(0, DESCRIPTION_MAX) } : {}),
    servers: [...new Set(members.map(({ server }) => server.name))],
    tools: toolsOf(group, members, find, say),
    ...(group.exposure === undefined ? {} : { exposure: group.exposure }),
  };
  const name = nameOf(group.name, entry, context);
  if (name === undefined) return undefined;
  for (const text of group.notes ?? []) say(text);
  if (name !== group.name) say(`it is named ${name} here`);
  return { name, entry };
}

const DESCRIPTION_MAX = 1024;
/** The group of /mcp: an import must not take servers away from its clients. */
const DEFAULT_GROUP = "default";

/** A free name; undefined if the hub has the same group. */
function nameOf(given: string, entry: PlannedGroup["entry"], context: GroupContext): string | undefined {
  const { existing, planned, product, toLegalName } = context;
  const legal = toLegalName(given);
  const preferred = legal === DEFAULT_GROUP ? `${product}-${legal}` : legal;
  for (let number = 1; ; number++) {
    const name = number === 1 ? preferred : `${preferred}-${number}`;
    const other = Object.hasOwn(existing, name) ? existing[name] : undefined;
    if (other !== undefined && isSame(entry, other)) return undefined;
    if (other === undefined && !planned.has(name)) return name;
  }
}

function isSame({ servers, tools }: PlannedGroup["entry"], other: PlanOptions["groups"][string]): boolean {
  const given = other.tools ?? [];
  return (
    textOf(servers) === textOf(other.servers ?? []) &&
    textOf(patternsOf(tools), settingsOf(tools)) === textOf(patternsOf(given), settingsOf(given))
  );
}

function textOf(patterns: readonly string[], settings?: unknown): string {
  return JSON.stringify([patterns.toSorted(), settings]);
}

type Member = Omit<GroupMember, "server"> & { readonly server: JoinedServer };

function toolsOf(
  { patterns: given = [] }: ProductGroup,
  members: readonly Member[],
  find: FindServer,
  say: (text: string) => void,
): PlannedGroup["entry"]["tools"] {
  const own = given.flatMap((pattern) => rename(pattern, find) ?? []);
  const selects = own.some((pattern) => !pattern.startsWith("!"));
  const settings: Record<string, ToolSettings> = {};
  const patterns = [...own];
  for (const { server, include: asked, exclude: left = [], toolSettings } of members) {
    const include = both(asked, server.include);
    const exclude = [...server.exclude, ...left];
    if (!selects) patterns.push(...(include === undefined ? [`${server.name}:*`] : selected(server.name, include)));
    else if (include !== undefined) say(`its own list of tools counts, and not that of ${server.name}`);
    patterns.push(...exclude.map((tool) => `!${server.name}:${tool}`));
    for (const [tool, setting] of Object.entries({ ...server.toolSettings, ...toolSettings })) {
      if (exclude.includes(tool) || include?.includes(tool) === false) continue;
      const accepted = acceptable(`${server.name}:${tool}`, setting, settings);
      if (accepted === undefined) say(`the name or description of ${server.name}:${tool} cannot be used here`);
      else settings[`${server.name}:${tool}`] = accepted;
    }
  }
  const isAll =
    Object.keys(settings).length === 0 &&
    patterns.every((pattern) => pattern.endsWith(":*") && !pattern.startsWith("!"));
  if (isAll && !selects) return [];
  return toGroupTools([...new Set([...patterns, ...Object.keys(settings)])], settings);
}

/** No pattern at all would expose everything. */
function selected(server: string, include: readonly string[]): string[] {
  return include.length === 0 ? [`!${server}:*`] : include.map((tool) => `${server}:${tool}`);
}

function both(a: readonly string[] | undefined, b: readonly string[] | undefined): readonly string[] | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.filter((tool) => b.includes(tool));
}

/** A pattern with the names of the hub. Undefined if its server is not imported. */
function rename(pattern: string, find: FindServer): string | undefined {
  const [, not = "", server = "", tool = ""] = /^(!?)([^:]*):(.+)$/s.exec(pattern) ?? [];
  if (tool === "") return undefined;
  if (server.includes("*")) return pattern;
  const name = find(server)?.name;
  return name === undefined ? undefined : `${not}${name}:${tool}`;
}

/** The setting, if the hub's rules accept it beside the others. */
function acceptable(
  pattern: string,
  setting: ToolSettings,
  others: Readonly<Record<string, ToolSettings>>,
): ToolSettings | undefined {
  try {
    settingsOf(parseWith(groupTools, { ...others, [pattern]: setting }));
    return setting;
  } catch (thrown) {
    if (!(thrown instanceof HubError)) throw thrown;
    return undefined;
  }
}
