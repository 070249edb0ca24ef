// One normal form for every server and group, whichever client's spelling it was written in. Reading files is left to
// file.ts, filling in variables and secrets to the start of a server.

import { HubError } from "../errors.ts";
import { toEnv } from "./env.ts";
import { isObject, toPlainJson } from "./plain.ts";
import { toNetwork } from "./network.ts";
import { groupEntry, parseWith, serverEntry } from "./schema.ts";
import type { ServerEntry } from "./schema.ts";
import { name as nameRule } from "./text.ts";
import { toTransport } from "./transport.ts";
import type { GroupConfig, InvalidGroup, ServerConfig, Source } from "./types.ts";
import { quoted, within } from "./where.ts";

/**
 * A server entry in normal form. The key names the server where the entry itself does not.
 *
 * @example normalizeServer("memory", { command: "npx", args: ["-y", "@modelcontextprotocol/server-memory"] })
 */
export function normalizeServer(key: string | undefined, entry: unknown): ServerConfig {
  if (!isObject(entry)) throw new HubError("InvalidConfig", "A server must be an object");
  const json = toPlainJson(entry);
  const name = parseWith(nameRule, nameOf(key, json) ?? "", "name");
  const parsed = parseWith(serverEntry, json);
  const {
    id,
    enabled = true,
    disabled = false,
    description,
    timeout,
    timeouts,
    isolation,
    era,
    npm,
    groups = [],
  } = parsed;
  const allowEnv = parsed.allowEnv ?? parsed.allow_env ?? [];
  const network = toNetwork(parsed);
  const startMs = timeouts?.start_ms ?? timeouts?.startMs;
  const installMs = timeouts?.install_ms ?? timeouts?.installMs;
  const requestMs = timeouts?.request_ms ?? timeouts?.requestMs ?? timeout;
  return {
    id: id ?? name,
    name,
    enabled: enabled && !disabled,
    ...(description ? { description } : {}),
    source: toSource(parsed.source),
    transport: toTransport(parsed),
    env: toEnv(parsed),
    ...(allowEnv.length === 0 ? {} : { allowEnv: [...new Set(allowEnv)] }),
    ...(parsed["config"] === undefined ? {} : { config: parsed["config"] }),
    timeouts: {
      ...(startMs === undefined ? {} : { startMs }),
      ...(installMs === undefined ? {} : { installMs }),
      ...(requestMs === undefined ? {} : { requestMs }),
    },
    ...(isolation === undefined || isolation === "auto" ? {} : { isolation }),
    ...(era === undefined || era === "auto" ? {} : { era }),
    ...(npm === undefined ? {} : { npm }),
    ...(parsed.resilience === undefined ? {} : { resilience: parsed.resilience }),
    ...(network === undefined ? {} : { network }),
    groups: [...new Set(groups)],
  };
}

/** What a server is called, before any check: `name`, else its key. */
export function nameOf(key: string | undefined, entry: unknown): unknown {
  return (isObject(entry) && Object.hasOwn(entry, "name") ? entry["name"] : undefined) ?? key;
}

function toSource(source: ServerEntry["source"]): Source {
  const type = (typeof source === "string" ? source : source?.type)?.toLowerCase();
  const parts = typeof source === "object" ? source : undefined;
  if (type === "official" || parts?.Official) {
    const { name, version } = parts?.Official ?? parts ?? {};
    if (name && version) return { type: "official", name, version };
    throw new HubError("InvalidConfig", "An official source needs a name and a version", { field: "source" });
  }
  if (type === "smithery" || parts?.Smithery) {
    const { qualified_name, qualifiedName } = parts?.Smithery ?? parts ?? {};
    const name = qualified_name ?? qualifiedName;
    if (name) return { type: "smithery", qualifiedName: name };
    throw new HubError("InvalidConfig", "A smithery source needs a qualifiedName", { field: "source" });
  }
  // Other clients write texts of their own here ("custom"); an object is ours, and a typing error in it matters.
  const isManual = type === "manual" || (parts != null && Object.hasOwn(parts, "Manual"));
  if (parts === undefined || isManual) return { type: "manual" };
  throw new HubError("InvalidConfig", "Source type must be official, smithery or manual", { field: "source.type" });
}

export interface ReadGroups {
  readonly groups: readonly GroupConfig[];
  readonly invalidGroups: readonly InvalidGroup[];
}

interface GroupSurroundings {
  /** By key: why the text of a group cannot be taken as it is. */
  readonly problems: ReadonlyMap<string, HubError>;
  /** Names of servers in the user's spelling, and what the hub calls them. */
  readonly aliases: ReadonlyMap<string, string>;
}

const NOTHING_KNOWN: GroupSurroundings = { problems: new Map(), aliases: new Map() };

/**
 * The groups of a group file: a map from name to group, at the top or under `groups`. One that is not valid is apart.
 *
 * @example readGroups({ work: { servers: ["git"], tools: [] } }).groups
 */
export function readGroups(json: unknown, { problems, aliases }: GroupSurroundings = NOTHING_KNOWN): ReadGroups {
  if (!isObject(json)) throw new HubError("InvalidConfig", "The groups must be an object that maps names to groups");
  const isNested = Object.hasOwn(json, "groups");
  const map = isNested ? json["groups"] : json;
  if (!isObject(map)) throw new HubError("InvalidConfig", "groups must be an object", { field: "groups" });
  const groups: GroupConfig[] = [];
  const invalidGroups: InvalidGroup[] = [];
  for (const key of new Set([...Object.keys(map), ...problems.keys()])) {
    // Editors find a file's schema by this key.
    if (key === "$schema") continue;
    try {
      const problem = problems.get(key);
      if (problem !== undefined) throw problem;
      const path = isNested ? `groups.${key}` : key;
      const group = within(`Group ${quoted(key)}`, path, () => normalizeGroup(key, map[key], aliases));
      if (groups.some(({ name }) => name === group.name)) {
        throw new HubError("InvalidConfig", `Group ${quoted(key)} is given twice`, { field: key });
      }
      groups.push(group);
    } catch (thrown) {
      if (!(thrown instanceof HubError)) throw thrown;
      invalidGroups.push({ name: key, error: thrown.toJSON() });
    }
  }
  return { groups, invalidGroups };
}

/** A group that somebody sets; one that is not valid is refused. */
export function normalizeGroup(
  key: string,
  entry: unknown,
  aliases: ReadonlyMap<string, string> = new Map(),
): GroupConfig {
  const name = parseWith(nameRule, key, "name");
  const json = toPlainJson(entry);
  const named = isObject(json) && Array.isArray(json["servers"]) ? json["servers"] : undefined;
  const resolved = named?.map((server: unknown) => (typeof server === "string" && aliases.get(server)) || server);
  const given = named === undefined ? json : { ...(isObject(json) ? json : {}), servers: resolved };
  const { description, servers = [], tools = [], name_asker: nameAsker } = parseWith(groupEntry, given);
  return {
    name,
    ...(description ? { description } : {}),
    servers: [...new Set(servers)],
    tools: [...new Set(tools)],
    ...(nameAsker === undefined ? {} : { nameAsker }),
  };
}
