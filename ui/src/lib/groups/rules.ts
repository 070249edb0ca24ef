// The `tools` rules of a group: which rule decides about a tool, and the shortest rules for a set of tools. Matching is the hub's
// own code, so both always agree.

import { ToolFilter } from "../../../../hub/src/catalog/tool-filter.ts";

/** The tools of each server of a group. A server whose tools are not known has none. */
export type ServerTools = ReadonlyMap<string, readonly string[]>;

/** A tool of a server as one key. Server names have no colon. */
export function toolKey(server: string, tool: string): string {
  return `${server}:${tool}`;
}

interface Rule {
  readonly text: string;
  readonly isExclusion: boolean;
  readonly matches: (server: string, tool: string) => boolean;
}

export class Rules {
  readonly texts: readonly string[];
  readonly #filter: ToolFilter;
  readonly #rules: readonly Rule[];

  /** @example new Rules(["git:*", "!git:push"]) */
  constructor(texts: readonly string[]) {
    this.texts = texts;
    this.#filter = new ToolFilter(texts);
    this.#rules = texts.map(parseRule);
  }

  admits(server: string, tool: string): boolean {
    return this.#filter.admits(server, tool);
  }

  /** The rule that lets a tool in or keeps it out; undefined if no rule names it. */
  decidingRule(server: string, tool: string): string | undefined {
    const matching = this.#rules.filter((rule) => rule.matches(server, tool));
    return (matching.find(({ isExclusion }) => isExclusion) ?? matching[0])?.text;
  }

  /** How many tools each rule matches. */
  matchCounts(tools: ServerTools): number[] {
    return this.#rules.map(({ matches }) => {
      let count = 0;
      for (const [server, names] of tools) for (const tool of names) if (matches(server, tool)) count++;
      return count;
    });
  }

  admitted(tools: ServerTools): Set<string> {
    const admitted = new Set<string>();
    for (const [server, names] of tools) {
      for (const tool of names) if (this.admits(server, tool)) admitted.add(toolKey(server, tool));
    }
    return admitted;
  }
}

function parseRule(text: string): Rule {
  const isExclusion = text.startsWith("!");
  const filter = new ToolFilter([isExclusion ? text.slice(1) : text]);
  return { text, isExclusion, matches: (server, tool) => filter.admits(server, tool) };
}

/**
 * The shortest rules that admit exactly the wanted tools. Patterns typed by a person stay, unless one keeps out a wanted tool. Rules
 * of servers whose tools are not known stay too.
 *
 * @example shortestRules([], new Map([["git", ["log", "push"]]]), new Set(["git:log"])) // ["git:log"]
 */
export function shortestRules(texts: readonly string[], tools: ServerTools, wanted: ReadonlySet<string>): string[] {
  const before = new Rules(texts);
  const kept = texts.map(parseRule).filter((rule) => !isTick(rule.text, tools) && !excludesWanted(rule, tools, wanted));
  const unknown = [...tools].filter(([, names]) => names.length === 0).map(([server]) => server);
  // A name that no server has: what happens to tools that a server will have later.
  const open = unknown.filter((server) => before.admits(server, LATER_TOOL));
  const added = (rules: readonly string[]) => rules.filter((rule) => !texts.includes(rule)).length;
  const candidates = [byExclusion(kept, tools, wanted), byAdmission(kept, tools, wanted, open)]
    .filter((candidate) => isExact(candidate, { tools, wanted, unknown, open }))
    // Of two of the same length, the one that changes less.
    .toSorted((a, b) => a.length - b.length || added(a) - added(b));
  const best = candidates[0] ?? byAdmission(kept, tools, wanted, open);
  const chosen = new Set(best);
  return [...texts.filter((text) => chosen.has(text)), ...best.filter((text) => !texts.includes(text))];
}

const LATER_TOOL = "\u0001";

interface Goal {
  readonly tools: ServerTools;
  readonly wanted: ReadonlySet<string>;
  readonly unknown: readonly string[];
  readonly open: readonly string[];
}

function isExact(texts: readonly string[], { tools, wanted, unknown, open }: Goal): boolean {
  const rules = new Rules(texts);
  if (unknown.some((server) => rules.admits(server, LATER_TOOL) !== open.includes(server))) return false;
  for (const [server, names] of tools) {
    if (names.some((tool) => rules.admits(server, tool) !== wanted.has(toolKey(server, tool)))) return false;
  }
  return true;
}

/** Whether ticking boxes could have written the rule: `server:tool` of a tool that exists, or `server:*`. */
function isTick(text: string, tools: ServerTools): boolean {
  const pattern = text.startsWith("!") ? text.slice(1) : text;
  const colon = pattern.indexOf(":");
  if (colon === -1) return false;
  const names = tools.get(pattern.slice(0, colon));
  if (names === undefined || names.length === 0) return false;
  const tool = pattern.slice(colon + 1);
  return tool === "*" || names.includes(tool);
}

function excludesWanted(rule: Rule, tools: ServerTools, wanted: ReadonlySet<string>): boolean {
  if (!rule.isExclusion) return false;
  for (const [server, names] of tools) {
    if (names.some((tool) => wanted.has(toolKey(server, tool)) && rule.matches(server, tool))) return true;
  }
  return false;
}

/** Everything but. Possible if no rule admits. */
function byExclusion(kept: readonly Rule[], tools: ServerTools, wanted: ReadonlySet<string>): string[] {
  const excluding = kept.filter(({ isExclusion }) => isExclusion);
  const rules = kept.map(({ text }) => text);
  for (const [server, names] of tools) rules.push(...exclusions(server, names, wanted, excluding));
  return rules;
}

/** Nothing but. */
function byAdmission(
  kept: readonly Rule[],
  tools: ServerTools,
  wanted: ReadonlySet<string>,
  open: readonly string[],
): string[] {
  const excluding = kept.filter(({ isExclusion }) => isExclusion);
  const admitting = kept.filter(({ isExclusion }) => !isExclusion);
  const rules = new Set(kept.map(({ text }) => text));
  for (const server of open) rules.add(`${server}:*`);
  for (const [server, names] of tools) {
    const isAdmitted = (tool: string) => admitting.some((rule) => rule.matches(server, tool));
    const on = names.filter((tool) => wanted.has(toolKey(server, tool)));
    const single = [
      ...on.filter((tool) => !isAdmitted(tool)).map((tool) => toolKey(server, tool)),
      ...exclusions(server, names.filter(isAdmitted), wanted, excluding, false),
    ];
    const whole = [`${server}:*`, ...exclusions(server, names, wanted, excluding, false)];
    for (const rule of on.length > 0 && whole.length <= single.length ? whole : single) rules.add(rule);
  }
  return [...rules];
}

function exclusions(
  server: string,
  names: readonly string[],
  wanted: ReadonlySet<string>,
  excluding: readonly Rule[],
  canBeWhole = true,
): string[] {
  const off = names.filter((tool) => !wanted.has(toolKey(server, tool)));
  const rest = off.filter((tool) => !excluding.some((rule) => rule.matches(server, tool)));
  if (canBeWhole && rest.length > 1 && off.length === names.length) return [`!${server}:*`];
  return rest.map((tool) => `!${toolKey(server, tool)}`);
}
