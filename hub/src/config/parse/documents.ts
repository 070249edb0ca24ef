// Parses the two config files into normal form. No I/O: config-files.ts reads and writes them.

import { HubError, toHubError } from "../../errors.ts";
import { nameEntries, type NamedEntry } from "./entry-names.ts";
import { callLogEntry, type CallLogEntry } from "../schema/call-log.ts";
import { hubLimitsEntry, toHubLimits, type HubLimits } from "../schema/hub-limits.ts";
import { invalidServer } from "./invalid-server.ts";
import { parseJsonText } from "./json.ts";
import { normalizeServer, parseGroups, type ParsedGroups } from "./normalize.ts";
import { isObject } from "../../lib/json/json.ts";
import type { Json, JsonObject } from "./plain-object.ts";
import { parseWith } from "../schema/schema.ts";
import type { HubConfig, ServerConfig } from "../schema/types.ts";
import { quoted, withPath } from "./error-path.ts";

export const SERVER_FILE = "mcp_server.json";
export const GROUP_FILE = "group.json";

export interface ServerDocument {
  /** The top-level key of the servers. */
  readonly root: "mcpServers" | "servers";
  /** Entries as written, by key. */
  readonly entries: Readonly<JsonObject>;
  /** By key: why the text of an entry is invalid. `entries` has its valid members. */
  readonly problems: ReadonlyMap<string, HubError>;
  /** Limits of the whole hub, if the file has valid ones. */
  readonly limits?: HubLimits;
  /** Settings of the call log, if the file has valid ones. */
  readonly callLog?: CallLogEntry;
  /** The file has settings of the hub and does not mention servers. */
  readonly hasOnlySettings?: boolean;
  readonly warnings: readonly string[];
}

/** Parses the top level of the server file. The entries are not validated yet. */
export function parseServerDocument(text: string, file = SERVER_FILE): ServerDocument {
  const problems = new Map<string, HubError>();
  const json = parseJsonText(text, file, ([root, key], problem) => {
    // A problem inside an entry invalidates only that entry.
    if (key === undefined || (root !== "mcpServers" && root !== "servers")) throw problem;
    if (!problems.has(key)) problems.set(key, problem);
  });
  if (json === undefined) return { root: "mcpServers", entries: {}, problems, warnings: [] };
  if (!isObject(json)) throw new HubError("InvalidConfig", `${file} must contain an object`);
  // VS Code uses "servers".
  const root = Object.hasOwn(json, "mcpServers") || !Object.hasOwn(json, "servers") ? "mcpServers" : "servers";
  if (root === "mcpServers" && Object.hasOwn(json, "servers")) {
    throw new HubError("InvalidConfig", `${file} has both mcpServers and servers: keep one`, {
      field: "servers",
    });
  }
  const entries = json[root];
  const { warnings, ...settings } = parseSettings(json);
  if (entries === undefined) {
    const keys = Object.keys(json).filter((key) => key !== "$schema");
    const hasOnlySettings = keys.length > 0 && keys.every((key) => SETTINGS.includes(key));
    // Other keys without servers: probably the outer key is missing.
    const missing =
      keys.length > 0 && !hasOnlySettings ? [`${SERVER_FILE} has no "mcpServers", so it declares no servers`] : [];
    return { root, entries: {}, problems, ...settings, hasOnlySettings, warnings: [...missing, ...warnings] };
  }
  if (isObject(entries)) return { root, entries, problems, ...settings, warnings };
  throw new HubError("InvalidConfig", `${file}: ${root} must be an object that maps names to servers`, {
    field: root,
  });
}

/** Keys of the server file beside the servers. */
const SETTINGS: readonly string[] = ["limits", "call_log"];

/** Invalid settings give a warning and are ignored: no server depends on them. */
function parseSettings(json: JsonObject): Pick<ServerDocument, "limits" | "callLog" | "warnings"> {
  const warnings: string[] = [];
  const read = <T>(key: string, parse: (given: Json) => T): T | undefined => {
    const given = json[key];
    if (given === undefined) return undefined;
    try {
      return parse(given);
    } catch (thrown) {
      const { field = key, message } = toHubError(thrown);
      warnings.push(`${SERVER_FILE}: ${field}: ${message}. The defaults of ${key} apply`);
      return undefined;
    }
  };
  const limits = read("limits", (given) => toHubLimits(parseWith(hubLimitsEntry, given, "limits")));
  const callLog = read("call_log", (given) => parseWith(callLogEntry, given, "call_log"));
  return { ...(limits === undefined ? {} : { limits }), ...(callLog === undefined ? {} : { callLog }), warnings };
}

/** Every entry of a document with the name that the hub uses for it. */
export function namedEntries({ entries, problems }: ServerDocument): NamedEntry[] {
  return nameEntries(new Set([...Object.keys(entries), ...problems.keys()]), (key) =>
    Object.hasOwn(entries, key) ? entries[key] : undefined,
  );
}

/** All servers of a document. An invalid one, or one with a duplicate name or id, has `invalid` set. */
export function toServers(document: ServerDocument): ServerConfig[] {
  const named = namedEntries(document);
  const names = new Set(named.map(({ name }) => name));
  const ids = new Set<string>();
  return named.map((one) => {
    try {
      const server = toServer(document, one);
      // An id can be used in place of a name, so it must be unique among both.
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
  // No name is generated for an empty one: the user would not recognize the entry.
  const called = writtenAs === undefined || writtenAs === "" ? entry : isObject(entry) ? { ...entry, name } : entry;
  const server = withPath(`Server ${quoted(key)}`, path, () => normalizeServer(writtenAs === "" ? "" : name, called));
  return writtenAs === undefined ? server : { ...server, writtenAs };
}

export function alreadyExists(name: string, field: string): HubError {
  return new HubError("ServerAlreadyExists", `Server ${quoted(name)} already exists`, { field });
}

/** The key of the server with this name. Finds invalid entries too, so that they can be repaired. */
export function findKey(document: ServerDocument, name: string): string | undefined {
  return namedEntries(document).find((one) => one.name === name)?.key;
}

/** `aliases` maps server names as written in the file to the names that the hub uses. */
export function parseGroupDocument(
  text: string,
  file = GROUP_FILE,
  aliases: ReadonlyMap<string, string> = new Map(),
): ParsedGroups {
  const problems = new Map<string, HubError>();
  const json = parseJsonText(text, file, (path, problem) => {
    const key = path[0] === "groups" ? path[1] : path[0];
    if (key === undefined) throw problem;
    if (!problems.has(key)) problems.set(key, problem);
  });
  if (json === undefined) return { groups: [], invalidGroups: [] };
  if (!isObject(json)) throw new HubError("InvalidConfig", `${file} must contain an object`);
  return parseGroups(json, { problems, aliases });
}

export type FileConfig = HubConfig & Required<Pick<HubConfig, "invalidGroups">>;

/** The config of both files. A group may name a server in the spelling of the server file. */
export function toConfig(document: ServerDocument, groupText: string, groupFile?: string): FileConfig {
  const servers = toServers(document);
  const aliases = new Map(
    servers.flatMap(({ writtenAs, name }) => (writtenAs === undefined ? [] : [[writtenAs, name]])),
  );
  const { limits, callLog } = document;
  const groups = parseGroupDocument(groupText, groupFile, aliases);
  return {
    servers,
    ...groups,
    ...(limits === undefined ? {} : { limits }),
    ...(callLog === undefined ? {} : { callLog }),
  };
}
