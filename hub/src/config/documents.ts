// The two config files as data: their top level, and everything in them in normal form. Pure; reading and writing the
// files is left to file.ts.

import { HubError, toHubError } from "../errors.ts";
import { nameEntries, type NamedEntry } from "./entry-names.ts";
import { hubLimitsEntry, hubLimitsOf, type HubLimits } from "./hub-limits.ts";
import { invalidServer } from "./invalid-server.ts";
import { parseJsonText } from "./json.ts";
import { normalizeServer, readGroups, type ReadGroups } from "./normalize.ts";
import { isObject } from "./plain.ts";
import type { Json, JsonObject } from "./plain.ts";
import { parseWith } from "./schema.ts";
import type { HubConfig, ServerConfig } from "./types.ts";
import { quoted, within } from "./where.ts";

export const SERVER_FILE = "mcp_server.json";
export const GROUP_FILE = "group.json";

export interface ServerDocument {
  /** The key that the servers stand under. */
  readonly root: "mcpServers" | "servers";
  /** As written, by key. */
  readonly entries: Readonly<JsonObject>;
  /** By key: why the text of an entry cannot be taken as it is. Its members are in `entries` as far as they can. */
  readonly problems: ReadonlyMap<string, HubError>;
  /** Of the whole hub, where the file has some that can be used. */
  readonly limits?: HubLimits;
  readonly warnings: readonly string[];
}

/** The top level of the server file: the entries as they are written, not yet checked. */
export function parseServerDocument(text: string, file = SERVER_FILE): ServerDocument {
  const problems = new Map<string, HubError>();
  const json = parseJsonText(text, file, ([root, key], problem) => {
    // What is wrong inside an entry is that entry's error and no other's.
    if (key === undefined || (root !== "mcpServers" && root !== "servers")) throw problem;
    if (!problems.has(key)) problems.set(key, problem);
  });
  if (json === undefined) return { root: "mcpServers", entries: {}, problems, warnings: [] };
  if (!isObject(json)) throw new HubError("InvalidConfig", `${file} must contain an object`);
  // VS Code says "servers".
  const root = Object.hasOwn(json, "mcpServers") || !Object.hasOwn(json, "servers") ? "mcpServers" : "servers";
  if (root === "mcpServers" && Object.hasOwn(json, "servers")) {
    throw new HubError("InvalidConfig", `${file} has both mcpServers and servers: keep one`, {
      field: "servers",
    });
  }
  const entries = json[root];
  const { limits, warnings } = readLimits(json["limits"]);
  if (entries === undefined) {
    return { root, entries: {}, problems, ...limits, warnings: [...withoutServers(json), ...warnings] };
  }
  if (isObject(entries)) return { root, entries, problems, ...limits, warnings };
  throw new HubError("InvalidConfig", `${file}: ${root} must be an object that maps names to servers`, {
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

/** Every entry of a document with the name that it goes by. */
export function namedEntries({ entries, problems }: ServerDocument): NamedEntry[] {
  return nameEntries(new Set([...Object.keys(entries), ...problems.keys()]), (key) =>
    Object.hasOwn(entries, key) ? entries[key] : undefined,
  );
}

/** All servers of a document. One that is not valid, or whose name or id another one has, says so in `invalid`. */
export function toServers(document: ServerDocument): ServerConfig[] {
  const named = namedEntries(document);
  const names = new Set(named.map(({ name }) => name));
  const ids = new Set<string>();
  return named.map((one) => {
    try {
      const server = toServer(document, one);
      // An id can be used wherever a name can, so it must be free among both.
      const isTaken = server.id !== server.name && (names.has(server.id) || ids.has(server.id));
      if (isTaken) throw alreadyExists(server.id, `${document.root}.${one.key}.id`);
      ids.add(server.id);
      return server;
    } catch (thrown) {
      if (!(thrown instanceof HubError)) throw thrown;
      return invalidServer(one, thrown);
    }
  });
}

function toServer({ root, problems }: ServerDocument, named: NamedEntry): ServerConfig {
  const { key, entry, name, writtenAs, takenName } = named;
  const path = `${root}.${key}`;
  const problem = problems.get(key);
  if (problem !== undefined) throw problem;
  if (takenName !== undefined) throw alreadyExists(takenName, `${path}.name`);
  // An empty name is none: nobody would know the entry by what could be made of it.
  const called = writtenAs === undefined || writtenAs === "" ? entry : isObject(entry) ? { ...entry, name } : entry;
  const server = within(`Server ${quoted(key)}`, path, () => normalizeServer(writtenAs === "" ? "" : name, called));
  return writtenAs === undefined ? server : { ...server, writtenAs };
}

export function alreadyExists(name: string, field: string): HubError {
  return new HubError("ServerAlreadyExists", `Server ${quoted(name)} already exists`, { field });
}

/** The key of the server of this name. Works on entries that are otherwise invalid, so that they can be repaired. */
export function findKey(document: ServerDocument, name: string): string | undefined {
  return namedEntries(document).find((one) => one.name === name)?.key;
}

/** `aliases`: names of servers in the user's spelling, and what the hub calls them. */
export function parseGroupDocument(
  text: string,
  file = GROUP_FILE,
  aliases: ReadonlyMap<string, string> = new Map(),
): ReadGroups {
  const problems = new Map<string, HubError>();
  const json = parseJsonText(text, file, (path, problem) => {
    const key = path[0] === "groups" ? path[1] : path[0];
    if (key === undefined) throw problem;
    if (!problems.has(key)) problems.set(key, problem);
  });
  if (json === undefined) return { groups: [], invalidGroups: [] };
  if (!isObject(json)) throw new HubError("InvalidConfig", `${file} must contain an object`);
  return readGroups(json, { problems, aliases });
}

export type ConfigOfFiles = HubConfig & Required<Pick<HubConfig, "invalidGroups">>;

/** The config that the two files make together. A group may name a server as the server file spells it. */
export function toConfig(document: ServerDocument, groupText: string, groupFile?: string): ConfigOfFiles {
  const servers = toServers(document);
  const aliases = new Map(
    servers.flatMap(({ writtenAs, name }) => (writtenAs === undefined ? [] : [[writtenAs, name]])),
  );
  const { limits } = document;
  const groups = parseGroupDocument(groupText, groupFile, aliases);
  return { servers, ...groups, ...(limits === undefined ? {} : { limits }) };
}
