// What a group announces that it can do: what the hub does for any server, and what its servers bring along.

import type { Group } from "../catalog/group.ts";
import type { Hello } from "../servers/handshake.ts";
import { offersSubscriptions } from "../servers/resource-watches.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import { eraOf } from "../wire/era.ts";
import { isObject, type JsonObject } from "../wire/json.ts";
import { TASKS_EXTENSION } from "./tasks.ts";

/** Announced always: a server that comes later may bring what none has now. */
const OWN = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
} as const;

/** Tasks as a part of the protocol itself, which they were in one revision only. */
const TASKS_VERSION = "2025-11-25";
/** Says what a page in a tool's `_meta` is good for, and has no methods: so it passes between the eras. */
const UI_EXTENSION = "io.modelcontextprotocol/ui";

export function capabilitiesOf(version: string, group: Group, supervisor: Supervisor): JsonObject {
  const servers = introductions(group, supervisor);
  const extensions = mergeAll(servers.map((server) => carried(server, version)));
  const tasks = servers.flatMap((server) => (version === TASKS_VERSION ? tasksOf(server) : []));
  return {
    ...OWN,
    resources: { listChanged: true, ...(mayBeWatched(group, supervisor) ? { subscribe: true } : {}) },
    ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
    ...(tasks.length === 0 ? {} : { tasks: mergeAll(tasks) }),
  };
}

/** What the group's servers said about themselves when they were last seen. */
export function introductions(group: Group, supervisor: Supervisor): (Hello & { readonly server: string })[] {
  const members = new Set(group.servers);
  return supervisor.servers.flatMap(({ name, introduction }) =>
    members.has(name) && introduction !== undefined ? [{ ...introduction, server: name }] : [],
  );
}

/** One of the servers takes subscriptions, or has not been heard yet: a client asks for what can be done only once. */
function mayBeWatched(group: Group, supervisor: Supervisor): boolean {
  const members = new Set(group.servers);
  return supervisor.servers.some(({ name, introduction, status }) => {
    if (!members.has(name) || status.state === "disabled") return false;
    return introduction === undefined ? status.state !== "error" : offersSubscriptions(introduction);
  });
}

export function extensionsOf({ capabilities: { extensions } }: Hello): JsonObject {
  return isObject(extensions) ? extensions : {};
}

/** The methods of an extension are one era's, so they pass only where both sides speak it. */
function carried(server: Hello, version: string): JsonObject {
  const extensions = extensionsOf(server);
  if (server.era === eraOf(version)) return extensions;
  return Object.hasOwn(extensions, UI_EXTENSION) ? { [UI_EXTENSION]: extensions[UI_EXTENSION] } : {};
}

/** In the form of its own era. */
export function offersTasks(server: Hello): boolean {
  return server.era === "modern" ? Object.hasOwn(extensionsOf(server), TASKS_EXTENSION) : tasksOf(server).length > 0;
}

function tasksOf({ version, capabilities: { tasks } }: Hello): JsonObject[] {
  return version === TASKS_VERSION && isObject(tasks) ? [tasks] : [];
}

function mergeAll(all: readonly JsonObject[]): JsonObject {
  return all.reduce(merge, {});
}

/** Everything that either has. Where they contradict each other, the first is right. */
function merge(first: JsonObject, second: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...second, ...first };
  for (const [key, value] of Object.entries(first)) {
    const other = second[key];
    if (isObject(value) && isObject(other)) merged[key] = merge(value, other);
    else if (Array.isArray(value) && Array.isArray(other)) merged[key] = [...new Set([...value, ...other])];
  }
  return merged;
}
