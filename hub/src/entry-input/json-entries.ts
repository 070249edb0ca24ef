// Finds the servers in JSON, TOML or YAML that is already parsed: a whole config of a client, a map of servers, or one server.

import type { Client } from "../client-configs/client.ts";
import { entriesIn } from "../client-configs/file.ts";
import { HubError } from "../errors.ts";
import { isObject, type JsonObject } from "../lib/json/json.ts";
import { clientOf, type DescribedServer } from "./described-server.ts";
import { nameOfEntry } from "./server-name.ts";

/** Where clients keep their servers, and a client that does so. The first that is there counts. */
const ROOTS: readonly (readonly [root: readonly string[], client: string])[] = [
  [["mcpServers"], "claude-code"],
  [["mcp", "servers"], "vscode"],
  [["servers"], "vscode"],
  [["mcp_servers"], "codex"],
  [["context_servers"], "zed"],
  [["extensions"], "goose"],
  [["mcp"], "opencode"],
];

/** Members that only the hub's own entries have. */
const OWN_MEMBERS = [
  "env_vars",
  "envVars",
  "package",
  "timeouts",
  "isolation",
  "resilience",
  "groups",
  "allowEnv",
  "npm",
];
const SERVER_MEMBERS = ["command", "cmd", "url", "httpUrl", "serverUrl", "uri", "package", "transport"];
/** References in the syntax of editors, which other clients do not have. */
const EDITOR_REFERENCE = /\$\{(?:env:|input:|userHome\}|workspaceFolder)/;

export function serversIn(data: unknown): DescribedServer[] {
  if (!isObject(data)) throw nothingFound();
  for (const [root, id] of ROOTS) {
    const client = clientOf(id);
    if (client === undefined) continue;
    const isList = id === "claude-code" && Array.isArray(data["mcpServers"]);
    const own = isList ? clientOf("continue") : client;
    const entries = own === undefined ? [] : entriesIn(data, isList ? own : { root });
    if (entries.length > 0 && own !== undefined)
      return entries.map(([name, entry]) => toDescribed(name, entry, { client: own, descriptions: inputsIn(data) }));
  }
  const plain = { client: clientOf("claude-code"), descriptions: new Map<string, string>() };
  const entries = Object.entries(data);
  if (!isServer(data) && entries.length > 0 && entries.every(([, value]) => isObject(value) && isServer(value)))
    return entries.map(([name, entry]) => toDescribed(name, entry, plain));
  if (!isServer(data)) throw nothingFound();
  return [toDescribed(undefined, data, plain)];
}

function toDescribed(
  key: string | undefined,
  entry: unknown,
  { client, descriptions }: { readonly client: Client | undefined; readonly descriptions: ReadonlyMap<string, string> },
): DescribedServer {
  if (!isObject(entry)) throw new HubError("InvalidArgument", "A server must be an object", { field: key ?? "text" });
  const name = typeof entry["name"] === "string" ? entry["name"] : (key ?? nameOfEntry(entry));
  if (isOwn(entry)) return { name, entry, client: undefined, descriptions };
  const isOfEditor = client?.id === "claude-code" && EDITOR_REFERENCE.test(JSON.stringify(entry));
  return { name, entry, client: isOfEditor ? clientOf("cursor") : client, descriptions };
}

function isOwn(entry: JsonObject): boolean {
  const { env } = entry;
  const hasOwnVariables = isObject(env) && Object.values(env).some((value) => isObject(value));
  return hasOwnVariables || OWN_MEMBERS.some((key) => Object.hasOwn(entry, key));
}

function isServer(json: JsonObject): boolean {
  return SERVER_MEMBERS.some((key) => Object.hasOwn(json, key));
}

/** VS Code declares the values that it asks its user for. */
function inputsIn({ inputs, mcp }: JsonObject): ReadonlyMap<string, string> {
  const list: unknown[] = [inputs, isObject(mcp) ? mcp["inputs"] : undefined].flatMap((each) =>
    Array.isArray(each) ? each : [],
  );
  return new Map(
    list.flatMap((input) => {
      const { id, description } = isObject(input) ? input : {};
      return typeof id === "string" && typeof description === "string" ? [[id, description] as const] : [];
    }),
  );
}

function nothingFound(): HubError {
  return new HubError("InvalidArgument", "This text has no MCP server: there is no command and no url in it", {
    field: "text",
    hint: 'An example: {"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}',
  });
}
