// Compares two configs server by server, so that only changed servers are touched.

import { isDeepStrictEqual } from "node:util";
import type { HubConfig, ServerConfig } from "../schema/types.ts";

export interface ConfigChanges {
  readonly added: readonly ServerConfig[];
  readonly removed: readonly string[];
  /** Need a new process or connection. */
  readonly restarted: readonly ServerConfig[];
  /** Changed, but need no restart. */
  readonly updated: readonly ServerConfig[];
  /** Whether any group changed. */
  readonly groups: boolean;
  readonly groupChanges: GroupChanges;
  /** Whether the hub's limits changed. */
  readonly limits: boolean;
  /** Whether the settings of the call log changed. */
  readonly callLog: boolean;
}

export interface GroupChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** Whether a change of the field needs a restart of the server. */
const RESTARTS: Readonly<Record<keyof ServerConfig, boolean>> = {
  transport: true,
  auth: true,
  env: true,
  config: true,
  enabled: true,
  timeouts: true,
  isolation: true,
  era: true,
  npm: true,
  pins: false,
  network: true,
  invalid: true,
  incomplete: false,
  allowEnv: true,
  id: false,
  name: false,
  writtenAs: false,
  description: false,
  source: false,
  resilience: false,
  results: false,
  groups: false,
};

// eslint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a complete record are the keys of its type
const RESTART_FIELDS = (Object.keys(RESTARTS) as (keyof ServerConfig)[]).filter((key) => RESTARTS[key]);

export function diffConfig(previous: HubConfig, next: HubConfig): ConfigChanges {
  const before = new Map(previous.servers.map((server) => [server.name, server]));
  const present = new Set(names(next.servers));
  const changed = next.servers.flatMap((server) => {
    const old = before.get(server.name);
    return old === undefined || isDeepStrictEqual(old, server) ? [] : [{ old, server }];
  });
  const groupChanges = diffGroups(previous, next);
  return {
    added: next.servers.filter(({ name }) => !before.has(name)),
    removed: names(previous.servers).filter((name) => !present.has(name)),
    restarted: changed.filter(mustRestart).map(({ server }) => server),
    updated: changed.filter((pair) => !mustRestart(pair)).map(({ server }) => server),
    groups: Object.values(groupChanges).some((groupNames) => groupNames.length > 0),
    groupChanges,
    limits: !isDeepStrictEqual(previous.limits, next.limits),
    callLog: !isDeepStrictEqual(previous.callLog, next.callLog),
  };
}

/** A group that became valid or invalid counts as changed. */
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
  return RESTART_FIELDS.some((field) => !isDeepStrictEqual(old[field], server[field]));
}

export function isUnchanged({ added, removed, restarted, updated, groups, limits, callLog }: ConfigChanges): boolean {
  return added.length + removed.length + restarted.length + updated.length === 0 && !groups && !limits && !callLog;
}

/** @example describeChanges(changes) // "added git; restarted memory; added the group work" */
export function describeChanges(changes: ConfigChanges): string {
  const { added, removed, restarted, updated, groupChanges, limits, callLog } = changes;
  const parts = [
    ["added", names(added)],
    ["removed", removed],
    ["restarted", names(restarted)],
    ["changed", names(updated)],
  ] as const;
  const serverParts = parts.flatMap(([what, which]) => (which.length === 0 ? [] : [`${what} ${which.join(", ")}`]));
  const groupParts = (["added", "removed", "changed"] as const).flatMap((what) => {
    const which = groupChanges[what];
    return which.length === 0 ? [] : [`${what} the group${which.length === 1 ? "" : "s"} ${which.join(", ")}`];
  });
  const settings = [...(limits ? ["limits changed"] : []), ...(callLog ? ["settings of the call log changed"] : [])];
  return [...serverParts, ...groupParts, ...settings].join("; ") || "nothing";
}

function names(servers: readonly ServerConfig[]): string[] {
  return servers.map(({ name }) => name);
}
