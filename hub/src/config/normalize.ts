// One normal form for every server and group, whichever client's spelling it was written in. Reading files is left to
// file.ts, filling in variables and secrets to the start of a server.

import { HubError } from "../errors.ts";
import { toEnv } from "./env.ts";
import { isObject, toPlainJson } from "./plain.ts";
import { groupEntry, parseWith, serverEntry } from "./schema.ts";
import type { ServerEntry } from "./schema.ts";
import { name as nameRule } from "./text.ts";
import { toTransport } from "./transport.ts";
import type { GroupConfig, ServerConfig, Source } from "./types.ts";
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
  const { id, enabled = true, disabled = false, description, timeout, timeouts, isolation, npm, groups = [] } = parsed;
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
    ...(parsed["config"] === undefined ? {} : { config: parsed["config"] }),
    timeouts: {
      ...(startMs === undefined ? {} : { startMs }),
      ...(installMs === undefined ? {} : { installMs }),
      ...(requestMs === undefined ? {} : { requestMs }),
    },
    ...(isolation === undefined || isolation === "shared" ? {} : { isolation }),
    ...(npm === undefined ? {} : { npm }),
    ...(parsed.resilience === undefined ? {} : { resilience: parsed.resilience }),
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
  if (parts === undefined || type === "manual") return { type: "manual" };
  throw new HubError("InvalidConfig", "Source type must be official, smithery or manual", { field: "source.type" });
}

/**
 * The groups of a group file: a map from name to group, at the top or under `groups`.
 *
 * @example normalizeGroups({ work: { servers: ["git"], tools: [] } })
 */
export function normalizeGroups(json: unknown): GroupConfig[] {
  if (!isObject(json)) throw new HubError("InvalidConfig", "The groups must be an object that maps names to groups");
  const isNested = Object.hasOwn(json, "groups");
  const map = isNested ? json["groups"] : json;
  if (!isObject(map)) throw new HubError("InvalidConfig", "groups must be an object", { field: "groups" });
  const groups: GroupConfig[] = [];
  for (const [key, entry] of Object.entries(map)) {
    // Editors find a file's schema by this key.
    if (key === "$schema") continue;
    const group = within(`Group ${quoted(key)}`, isNested ? `groups.${key}` : key, () => normalizeGroup(key, entry));
    if (groups.some(({ name }) => name === group.name)) {
      throw new HubError("InvalidConfig", `Group ${quoted(key)} is given twice`, { field: key });
    }
    groups.push(group);
  }
  return groups;
}

function normalizeGroup(key: string, entry: unknown): GroupConfig {
  const name = parseWith(nameRule, key, "name");
  const { description, servers = [], tools = [] } = parseWith(groupEntry, toPlainJson(entry));
  return { name, ...(description ? { description } : {}), servers: [...new Set(servers)], tools: [...new Set(tools)] };
}
