// The capabilities of a group: those that the hub provides for any server, and those of its servers.

import type { Group } from "../catalog/group.ts";
import type { ServerInfo } from "../servers/connection/handshake.ts";
import { offersSubscriptions } from "../servers/connection/upstream-subscriptions.ts";
import type { Supervisor } from "../servers/supervisor.ts";
import { eraOf } from "../protocol/revisions/era.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { TASKS_EXTENSION } from "./tasks/tasks.ts";

/** Always announced: a server that is added later may need them. */
const HUB_CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
} as const;

/** The only revision that had tasks in the protocol itself. */
const TASKS_VERSION = "2025-11-25";
/** MCP Apps has no methods, so it works between the eras too. */
const UI_EXTENSION = "io.modelcontextprotocol/ui";

export function capabilitiesOf(version: string, group: Group, supervisor: Supervisor): JsonObject {
  const servers = serverInfosOf(group, supervisor);
  const extensions = mergeAll(servers.map((server) => extensionsFor(server, version)));
  const tasks = servers.flatMap((server) => (version === TASKS_VERSION ? tasksOf(server) : []));
  return {
    ...HUB_CAPABILITIES,
    resources: { listChanged: true, ...(maySubscribe(group, supervisor) ? { subscribe: true } : {}) },
    ...(Object.keys(extensions).length === 0 ? {} : { extensions }),
    ...(tasks.length === 0 ? {} : { tasks: mergeAll(tasks) }),
  };
}

/** The last handshake of each server of the group. */
export function serverInfosOf(group: Group, supervisor: Supervisor): (ServerInfo & { readonly server: string })[] {
  const members = new Set(group.servers);
  return supervisor.servers.flatMap(({ name, lastInfo: introduction }) =>
    members.has(name) && introduction !== undefined ? [{ ...introduction, server: name }] : [],
  );
}

/** Whether a server supports subscriptions, or has not started yet: clients read capabilities only once. */
function maySubscribe(group: Group, supervisor: Supervisor): boolean {
  const members = new Set(group.servers);
  return supervisor.servers.some(({ name, lastInfo: introduction, status }) => {
    if (!members.has(name) || status.state === "disabled") return false;
    return introduction === undefined ? status.state !== "error" : offersSubscriptions(introduction);
  });
}

export function extensionsOf({ capabilities: { extensions } }: ServerInfo): JsonObject {
  return isObject(extensions) ? extensions : {};
}

/** The methods of an extension belong to one era, so it is announced only to clients of that era. */
function extensionsFor(server: ServerInfo, version: string): JsonObject {
  const extensions = extensionsOf(server);
  if (server.era === eraOf(version)) return extensions;
  return Object.hasOwn(extensions, UI_EXTENSION) ? { [UI_EXTENSION]: extensions[UI_EXTENSION] } : {};
}

/** In the form of the server's era. */
export function offersTasks(server: ServerInfo): boolean {
  return server.era === "modern" ? Object.hasOwn(extensionsOf(server), TASKS_EXTENSION) : tasksOf(server).length > 0;
}

function tasksOf({ version, capabilities: { tasks } }: ServerInfo): JsonObject[] {
  return version === TASKS_VERSION && isObject(tasks) ? [tasks] : [];
}

function mergeAll(all: readonly JsonObject[]): JsonObject {
  return all.reduce(merge, {});
}

/** A deep merge. On conflict, the first wins. */
function merge(first: JsonObject, second: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...second, ...first };
  for (const [key, value] of Object.entries(first)) {
    const other = second[key];
    if (isObject(value) && isObject(other)) merged[key] = merge(value, other);
    else if (Array.isArray(value) && Array.isArray(other)) merged[key] = [...new Set([...value, ...other])];
  }
  return merged;
}
