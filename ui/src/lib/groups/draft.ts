// A group while it is edited: which servers, in which order, and which of their tools.

import type { GroupInput, GroupView } from "$api/group.ts";
import { accessText, parseAccess } from "./access.ts";
import { Rules, shortestRules, toolKey, type ServerTools } from "./rules.ts";
import { patternsOf, settingsOf, toGroupTools, type ToolSettingsMap } from "./tool-settings.ts";

export interface GroupDraft {
  readonly description: string;
  /** The order decides which server keeps the address of a resource that two of them have. */
  readonly servers: readonly string[];
  readonly rules: readonly string[];
  /** Names, descriptions and arguments of tools in this group, by pattern. */
  readonly settings: ToolSettingsMap;
  /** Who may use it, as text. */
  readonly access: string;
  readonly exposure: Exposure;
  /** Which calls a person approves first. */
  readonly approve: Approve;
}

type Approve = NonNullable<GroupView["approve"]>;
type Exposure = "auto" | "all" | "search";

export function exposureOf(text: string): Exposure {
  return text === "all" || text === "search" ? text : "auto";
}

export function approveOf(text: string): Approve {
  return text === "destructive" || text === "writes" || text === "always" ? text : "never";
}

export function toDraft(group: GroupView): GroupDraft {
  return {
    description: group.description ?? "",
    servers: group.servers,
    rules: patternsOf(group.tools),
    settings: settingsOf(group.tools),
    access: accessText(group.access),
    exposure: group.exposure ?? "auto",
    approve: group.approve ?? "never",
  };
}

/** What is saved. `group`: has the settings that this page does not show. */
export function toEntry(
  draft: GroupDraft,
  { name_asker, always, approval_timeout_ms, results }: GroupView,
): GroupInput {
  const access = parseAccess(draft.access);
  return {
    servers: [...draft.servers],
    tools: toGroupTools(draft.rules, draft.settings),
    ...(draft.description === "" ? {} : { description: draft.description }),
    ...(access === undefined ? {} : { access }),
    ...(draft.exposure === "auto" ? {} : { exposure: draft.exposure }),
    ...(draft.approve === "never" ? {} : { approve: draft.approve }),
    ...(results === null ? {} : { results }),
    ...(approval_timeout_ms === null ? {} : { approval_timeout_ms }),
    ...(name_asker === null ? {} : { name_asker }),
    ...(always.length === 0 ? {} : { always }),
  };
}

/** The tools of the servers that are in the group. */
export function membersOf(draft: GroupDraft, tools: ServerTools): ServerTools {
  return new Map(draft.servers.map((server) => [server, tools.get(server) ?? []]));
}

/** Takes a server in with all its tools, or out with the rules that name it. */
export function setServer(draft: GroupDraft, tools: ServerTools, server: string, isOn: boolean): GroupDraft {
  if (!isOn) {
    const isOfServer = (rule: string) => rule.startsWith(`${server}:`) || rule.startsWith(`!${server}:`);
    const rest = { ...draft, servers: draft.servers.filter((name) => name !== server) };
    const rules = draft.rules.filter((rule) => !isOfServer(rule));
    // A rule that admits may have been the last one: what it kept out of other servers must stay out.
    const wanted = new Rules(draft.rules).admitted(membersOf(rest, tools));
    return { ...rest, rules: shortestRules(rules, membersOf(rest, tools), wanted) };
  }
  const names = tools.get(server) ?? [];
  return setTools(draft, tools, server, names, true);
}

/** Ticks some tools of a server, which is taken in if it has to be. */
export function setTools(
  draft: GroupDraft,
  tools: ServerTools,
  server: string,
  names: readonly string[],
  isOn: boolean,
): GroupDraft {
  const before = membersOf(draft, tools);
  const wanted = new Rules(draft.rules).admitted(before);
  const isMember = draft.servers.includes(server);
  for (const name of names) {
    if (isOn) wanted.add(toolKey(server, name));
    else wanted.delete(toolKey(server, name));
  }
  const next = isMember || !isOn ? draft : { ...draft, servers: [...draft.servers, server] };
  return { ...next, rules: shortestRules(draft.rules, membersOf(next, tools), wanted) };
}

export function moveServer(draft: GroupDraft, server: string, to: number): GroupDraft {
  const rest = draft.servers.filter((name) => name !== server);
  const at = Math.max(0, Math.min(to, rest.length));
  return { ...draft, servers: rest.toSpliced(at, 0, server) };
}

/** How many things differ: servers, rules, the order, the description. */
export function countChanges(saved: GroupDraft, draft: GroupDraft): number {
  const servers = differing(saved.servers, draft.servers);
  const isReordered = servers === 0 && saved.servers.some((server, index) => draft.servers[index] !== server);
  return (
    servers +
    Number(isReordered) +
    differing(saved.rules, draft.rules) +
    differing(settingLines(saved), settingLines(draft)) +
    Number(saved.description !== draft.description) +
    Number(saved.access !== draft.access) +
    Number(saved.exposure !== draft.exposure) +
    Number(saved.approve !== draft.approve)
  );
}

function settingLines({ settings }: GroupDraft): string[] {
  return Object.entries(settings).map((entry) => JSON.stringify(entry));
}

function differing(before: readonly string[], after: readonly string[]): number {
  return before.filter((item) => !after.includes(item)).length + after.filter((item) => !before.includes(item)).length;
}
