// What a new config changes, server by server, so that only that is touched. Pure; acting on it is the hub's.

import { isDeepStrictEqual } from "node:util";
import type { HubConfig, ServerConfig } from "./types.ts";

export interface ConfigChanges {
  readonly added: readonly ServerConfig[];
  readonly removed: readonly string[];
  /** Their process or connection must be a new one. */
  readonly restarted: readonly ServerConfig[];
  /** Something changed that a running server need not know of. */
  readonly described: readonly ServerConfig[];
  /** Anything about groups changed. */
  readonly groups: boolean;
  readonly groupChanges: GroupChanges;
  /** Those of the hub as a whole. */
  readonly limits: boolean;
}

export interface GroupChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** What a running server was started with. A change of anything else leaves it alone. */
const STARTED_WITH = [
  "transport",
  "env",
  "config",
  "enabled",
  "timeouts",
  "isolation",
  "era",
  "npm",
  "network",
  "invalid",
  "allowEnv",
] as const;

export function diffConfig(previous: HubConfig, next: HubConfig): ConfigChanges {
  const before = new Map(previous.servers.map((server) => [server.name, server]));
  const present = new Set(names(next.servers));
  const kept = next.servers.flatMap((server) => {
    const old = before.get(server.name);
    return old === undefined || isDeepStrictEqual(old, server) ? [] : [{ old, server }];
  });
  const groupChanges = diffGroups(previous, next);
  return {
    added: next.servers.filter(({ name }) => !before.has(name)),
    removed: names(previous.servers).filter((name) => !present.has(name)),
    restarted: kept.filter(mustRestart).map(({ server }) => server),
    described: kept.filter((pair) => !mustRestart(pair)).map(({ server }) => server),
    groups: Object.values(groupChanges).some((changed) => changed.length > 0),
    groupChanges,
    limits: !isDeepStrictEqual(previous.limits, next.limits),
  };
}

/** One that became invalid, or valid, has changed. */
function diffGroups(previous: HubConfig, next: HubConfig): GroupChanges {
  const [before, after] = [previous, next].map(
    ({ groups, invalidGroups = [] }) => new Map([...groups, ...invalidGroups].map((group) => [group.name, group])),
  );
  const namesBefore = [...(before?.keys() ?? [])];
  const namesAfter = [...(after?.keys() ?? [])];
  return {
    added: namesAfter.filter((name) => before?.has(name) === false),
    removed: namesBefore.filter((name) => after?.has(name) === false),
    changed: namesAfter.filter(
      (name) => before?.has(name) === true && !isDeepStrictEqual(before.get(name), after?.get(name)),
    ),
  };
}

function mustRestart({ old, server }: { old: ServerConfig; server: ServerConfig }): boolean {
  return STARTED_WITH.some((key) => !isDeepStrictEqual(old[key], server[key]));
}

export function isUnchanged({ added, removed, restarted, described, groups, limits }: ConfigChanges): boolean {
  return added.length + removed.length + restarted.length + described.length === 0 && !groups && !limits;
}

/** @example describeChanges(changes) // "added git; restarted memory; added the group work" */
export function describeChanges({ added, removed, restarted, described, groupChanges, limits }: ConfigChanges): string {
  const parts = [
    ["added", names(added)],
    ["removed", removed],
    ["restarted", names(restarted)],
    ["changed", names(described)],
  ] as const;
  const said = parts.flatMap(([what, which]) => (which.length === 0 ? [] : [`${what} ${which.join(", ")}`]));
  const ofGroups = (["added", "removed", "changed"] as const).flatMap((what) => {
    const which = groupChanges[what];
    return which.length === 0 ? [] : [`${what} the group${which.length === 1 ? "" : "s"} ${which.join(", ")}`];
  });
  return [...said, ...ofGroups, ...(limits ? ["limits changed"] : [])].join("; ") || "nothing";
}

function names(servers: readonly ServerConfig[]): string[] {
  return servers.map(({ name }) => name);
}
