// The `tools` of a group with settings of tools, apart from the patterns: the page edits both.

import type { GroupView } from "$api/group.ts";
import { Rules } from "./rules.ts";

export type GroupTools = GroupView["tools"];
export type ToolSettingsMap = Exclude<GroupTools, readonly unknown[]>;

export function patternsOf(tools: GroupTools): string[] {
  return Array.isArray(tools) ? tools : Object.keys(tools);
}

/** Of the patterns that have any. */
export function settingsOf(tools: GroupTools): ToolSettingsMap {
  if (Array.isArray(tools)) return {};
  return Object.fromEntries(Object.entries(tools).filter(([, settings]) => Object.keys(settings).length > 0));
}

/**
 * Rules and settings as they are saved. Adds a pattern for each setting whose pattern is not a rule, if it admits no other tool, and
 * `*` if no rule admitted a tool before: without it, the added ones would keep out all others.
 *
 * @example toGroupTools(["!git:push"], { "git:log": { as: "history" } }) // { "!git:push": {}, "*": {}, "git:log": { as: "history" } }
 */
export function toGroupTools(rules: readonly string[], settings: ToolSettingsMap): GroupTools {
  const own = Object.keys(settings).filter((pattern) => !rules.includes(pattern) && isAdmitted(pattern, rules));
  const known = rules.filter((rule) => Object.hasOwn(settings, rule));
  if (own.length + known.length === 0) return [...rules];
  const needsAll = own.length > 0 && rules.every((rule) => rule.startsWith("!"));
  const patterns = [...rules, ...(needsAll ? ["*"] : []), ...own];
  return Object.fromEntries(patterns.map((pattern) => [pattern, settings[pattern] ?? {}]));
}

/** Settings of a tool that is no longer in the group are dropped. */
function isAdmitted(pattern: string, rules: readonly string[]): boolean {
  const colon = pattern.indexOf(":");
  if (colon === -1 || pattern.includes("*")) return false;
  return new Rules(rules).admits(pattern.slice(0, colon), pattern.slice(colon + 1));
}
