// Converts server and group entries of all spellings into normal form. Variables and secrets are resolved when a server starts.

import { HubError } from "../../errors.ts";
import { fromFields, noFieldsLeft } from "@plugboard/shared/fields";
import { toAuth } from "./auth.ts";
import { toEnv } from "./env.ts";
import { readForeignOAuth } from "./foreign-oauth.ts";
import { requireSeparateCallers } from "./per-user.ts";
import { toPlainJson, type JsonObject } from "./plain-object.ts";
import { isObject } from "../../lib/json/json.ts";
import { toNetwork } from "../schema/network.ts";
import { groupEntry, parseWith, serverEntry } from "../schema/schema.ts";
import type { GroupEntry } from "../schema/schema.ts";
import { name as nameRule } from "../schema/text.ts";
import { patternsOf, settingsOf, toGroupTools } from "../schema/tool-settings.ts";
import { toSource } from "./source.ts";
import { toTransport } from "./transport.ts";
import type { GroupConfig, InvalidGroup, ServerConfig, Transport } from "../schema/types.ts";
import { quoted, withPath } from "./error-path.ts";

/**
 * A server entry in normal form. The key is the name if the entry has no `name`.
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
    pins,
    groups = [],
  } = parsed;
  const allowEnv = parsed.allowEnv ?? parsed.allow_env ?? [];
  const network = toNetwork(parsed);
  const transport = toTransport(parsed);
  const startMs = timeouts?.start_ms ?? timeouts?.startMs;
  const installMs = timeouts?.install_ms ?? timeouts?.installMs;
  const requestMs = timeouts?.request_ms ?? timeouts?.requestMs ?? timeout;
  const server = fromFields<ServerConfig>({
    id: id ?? name,
    name,
    // Set by the reader of the file.
    writtenAs: undefined,
    invalid: undefined,
    incomplete: undefined,
    enabled: enabled && !disabled,
    description: description || undefined,
    source: toSource(parsed.source),
    transport,
    auth: toAuth(parsed.auth ?? foreignAuth(parsed.oauth, transport), transport),
    env: toEnv(parsed),
    allowEnv: allowEnv.length === 0 ? undefined : [...new Set(allowEnv)],
    config: parsed.config,
    timeouts: fromFields<ServerConfig["timeouts"]>({ startMs, installMs, requestMs }),
    isolation: isolation === "auto" ? undefined : isolation,
    era: era === "auto" ? undefined : era,
    npm,
    pins,
    resilience: parsed.resilience,
    results: parsed.results,
    network,
    groups: [...new Set(groups)],
  });
  return requireSeparateCallers(server);
}

/** As clients do, an Authorization header of the entry is used instead. */
function foreignAuth(oauth: unknown, transport: Transport): JsonObject | false | undefined {
  if (transport.type === "stdio" || Object.keys(transport.headers).some((name) => /^authorization$/i.test(name))) {
    return undefined;
  }
  return readForeignOAuth(oauth).auth;
}

/** The unchecked name of a server: `name`, else its key. */
export function nameOf(key: string | undefined, entry: unknown): unknown {
  return (isObject(entry) && Object.hasOwn(entry, "name") ? entry["name"] : undefined) ?? key;
}

export interface ParsedGroups {
  readonly groups: readonly GroupConfig[];
  readonly invalidGroups: readonly InvalidGroup[];
}

interface GroupContext {
  /** By key: why the text of a group is invalid. */
  readonly problems: ReadonlyMap<string, HubError>;
  /** Maps server names as written in the file to the names that the hub uses. */
  readonly aliases: ReadonlyMap<string, string>;
}

const EMPTY_CONTEXT: GroupContext = { problems: new Map(), aliases: new Map() };

/**
 * The groups of a group file: a map from name to group, at the top level or under `groups`.
 *
 * @example parseGroups({ work: { servers: ["git"], tools: [] } }).groups
 */
export function parseGroups(json: unknown, { problems, aliases }: GroupContext = EMPTY_CONTEXT): ParsedGroups {
  if (!isObject(json)) throw new HubError("InvalidConfig", "The groups must be an object that maps names to groups");
  const isNested = Object.hasOwn(json, "groups");
  const map = isNested ? json["groups"] : json;
  if (!isObject(map)) throw new HubError("InvalidConfig", "groups must be an object", { field: "groups" });
  const groups: GroupConfig[] = [];
  const invalidGroups: InvalidGroup[] = [];
  for (const key of new Set([...Object.keys(map), ...problems.keys()])) {
    // Editors find the schema of a file by this key.
    if (key === "$schema") continue;
    try {
      const problem = problems.get(key);
      if (problem !== undefined) throw problem;
      const path = isNested ? `groups.${key}` : key;
      const group = withPath(`Group ${quoted(key)}`, path, () => normalizeGroup(key, map[key], aliases));
      if (groups.some(({ name }) => name === group.name)) {
        throw new HubError("InvalidConfig", `Group ${quoted(key)} is defined twice`, { field: key });
      }
      groups.push(group);
    } catch (thrown) {
      if (!(thrown instanceof HubError)) throw thrown;
      invalidGroups.push({ name: key, error: thrown.toJSON() });
    }
  }
  return { groups, invalidGroups };
}

/** A group entry in normal form. Throws if it is not valid. */
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
  const {
    description,
    servers = [],
    tools = [],
    name_asker: nameAsker,
    access,
    exposure,
    always,
    approve,
    approval_timeout_ms: approvalTimeoutMs,
    results,
  } = parseWith(groupEntry, given);
  return fromFields<GroupConfig>({
    name,
    description: description || undefined,
    servers: [...new Set(servers)],
    tools: patternsOf(tools),
    toolSettings: settingsOf(tools),
    nameAsker,
    access: access && [...new Set(access)],
    exposure,
    always: always && [...new Set(always)],
    approve,
    approvalTimeoutMs,
    results,
  });
}

/** The entry of a group: the inverse of `normalizeGroup`. A forgotten field does not compile. */
export function toGroupEntry({
  name: _name,
  description,
  servers,
  tools,
  toolSettings,
  nameAsker,
  access,
  exposure,
  always,
  approve,
  approvalTimeoutMs,
  results,
  ...rest
}: GroupConfig): GroupEntry {
  noFieldsLeft(rest);
  return fromFields<GroupEntry>({
    description,
    servers: [...servers],
    tools: toGroupTools(tools, toolSettings),
    name_asker: nameAsker,
    access: access && [...access],
    exposure,
    always: always && [...always],
    approve,
    approval_timeout_ms: approvalTimeoutMs,
    results,
  });
}
