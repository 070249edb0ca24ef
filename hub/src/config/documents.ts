// The two config files as data: their top level, and everything in them in normal form. Pure; reading and writing the
// files is left to file.ts.

import { HubError, toHubError } from "../errors.ts";
import { hubLimitsEntry, hubLimitsOf, type HubLimits } from "./hub-limits.ts";
import { parseJsonText } from "./json.ts";
import { nameOf, normalizeGroups, normalizeServer } from "./normalize.ts";
import { isObject } from "./plain.ts";
import type { Json, JsonObject } from "./plain.ts";
import { findRisks } from "./risks.ts";
import { parseWith } from "./schema.ts";
import type { GroupConfig, HubConfig, ServerConfig } from "./types.ts";
import { quoted, within } from "./where.ts";

export const SERVER_FILE = "mcp_server.json";
export const GROUP_FILE = "group.json";

export interface ServerDocument {
  /** The key that the servers stand under. */
  readonly root: "mcpServers" | "servers";
  /** As written, by key. */
  readonly entries: Readonly<JsonObject>;
  /** Of the whole hub, where the file has some that can be used. */
  readonly limits?: HubLimits;
  readonly warnings: readonly string[];
}

/** The top level of the server file: the entries as they are written, not yet checked. */
export function parseServerDocument(text: string): ServerDocument {
  const json = parseJsonText(text, SERVER_FILE);
  if (json === undefined) return { root: "mcpServers", entries: {}, warnings: [] };
  if (!isObject(json)) throw new HubError("InvalidConfig", `${SERVER_FILE} must contain an object`);
  // VS Code says "servers".
  const root = Object.hasOwn(json, "mcpServers") || !Object.hasOwn(json, "servers") ? "mcpServers" : "servers";
  if (root === "mcpServers" && Object.hasOwn(json, "servers")) {
    throw new HubError("InvalidConfig", `${SERVER_FILE} has both mcpServers and servers: keep one`, {
      field: "servers",
    });
  }
  const entries = json[root];
  const { limits, warnings } = readLimits(json["limits"]);
  if (entries === undefined) return { root, entries: {}, ...limits, warnings: [...withoutServers(json), ...warnings] };
  if (isObject(entries)) return { root, entries, ...limits, warnings };
  throw new HubError("InvalidConfig", `${SERVER_FILE}: ${root} must be an object that maps names to servers`, {
    field: root,
  });
}

/** Limits that cannot be used are left out: no server depends on them. */
function readLimits(given: Json | undefined): { limits: { limits?: HubLimits }; warnings: string[] } {
  if (given === undefined) return { limits: {}, warnings: [] };
  try {
    return { limits: { limits: hubLimitsOf(parseWith(hubLimitsEntry, given, "limits")) }, warnings: [] };
  } catch (thrown) {
    const { field = "limits", message } = toHubError(thrown);
    return { limits: {}, warnings: [`${SERVER_FILE}: ${field}: ${message}. The usual limits are in force`] };
  }
}

/** A file that says something, but declares nothing, is probably missing its outer key. */
function withoutServers(json: JsonObject): string[] {
  const says = Object.keys(json).some((key) => key !== "$schema" && key !== "limits");
  return says ? [`${SERVER_FILE} has no "mcpServers", so it declares no servers`] : [];
}

/** The part of the config that a document's limits are. */
export function limitsOf({ limits }: ServerDocument): Pick<HubConfig, "limits"> {
  return limits === undefined ? {} : { limits };
}

/** All servers of a document. An invalid one, or two of one name or id, is an error that says which. */
export function toServers({ root, entries }: ServerDocument): ServerConfig[] {
  const servers: ServerConfig[] = [];
  const taken = new Set<string>();
  for (const [key, entry] of Object.entries(entries)) {
    const server = within(`Server ${quoted(key)}`, `${root}.${key}`, () => normalizeServer(key, entry));
    // A name can be used wherever an id can, so both must be free.
    for (const handle of new Set([server.name, server.id])) {
      if (taken.has(handle)) throw alreadyExists(handle, `${root}.${key}.${handle === server.name ? "name" : "id"}`);
      taken.add(handle);
    }
    servers.push(server);
  }
  return servers;
}

export function alreadyExists(name: string, field: string): HubError {
  return new HubError("ServerAlreadyExists", `Server ${quoted(name)} already exists`, { field });
}

/** The key of the server of this name. Works on entries that are otherwise invalid, so that they can be repaired. */
export function findKey(entries: Readonly<JsonObject>, name: string): string | undefined {
  return Object.keys(entries).find((key) => {
    const own: unknown = nameOf(key, entries[key]);
    return typeof own === "string" && own.trim() === name;
  });
}

export function parseGroupDocument(text: string): GroupConfig[] {
  const json: Json | undefined = parseJsonText(text, GROUP_FILE);
  if (json === undefined) return [];
  if (!isObject(json)) throw new HubError("InvalidConfig", `${GROUP_FILE} must contain an object`);
  return normalizeGroups(json);
}

/** What works, but should be known. What groups name in vain, the catalog says. */
export function findWarnings(servers: readonly ServerConfig[]): string[] {
  return servers.flatMap((server) => findRisks(server).map(({ reason }) => `Server "${server.name}": ${reason}`));
}
