// MCPHub (samanhappy/mcphub): mcp_settings.json.

import * as z from "zod/mini";
import { toPlainJson, type JsonObject } from "../../config/parse/plain-object.ts";
import { parseWith } from "../../config/schema/schema.ts";
import type { ToolSettings } from "../../config/schema/tool-settings.ts";
import {
  compact,
  counted,
  groupOfAll,
  milliseconds,
  notesOn,
  texts,
  values,
  type Advice,
  type GroupMember,
  type Product,
  type ProductGroup,
  type ProductServer,
} from "./product.ts";

const serverShape = {
  type: z.nullish(z.enum(["stdio", "sse", "streamable-http", "openapi"])),
  description: z.nullish(z.string()),
  command: z.nullish(z.string()),
  args: z.nullish(texts),
  cwd: z.nullish(z.string()),
  env: z.nullish(values),
  url: z.nullish(z.string()),
  headers: z.nullish(values),
  enabled: z.nullish(z.boolean()),
  disabled: z.nullish(z.boolean()),
  timeout: z.nullish(milliseconds),
  options: z.nullish(z.looseObject({ timeout: z.nullish(milliseconds) })),
  tools: z.nullish(
    z.record(z.string(), z.looseObject({ enabled: z.nullish(z.boolean()), description: z.nullish(z.string()) })),
  ),
  oauth: z.nullish(
    z.looseObject({
      clientId: z.nullish(z.string()),
      clientSecret: z.nullish(z.string()),
      scopes: z.nullish(texts),
      accessToken: z.nullish(z.string()),
      refreshToken: z.nullish(z.string()),
    }),
  ),
  enableKeepAlive: z.nullish(z.boolean()),
  keepAliveInterval: z.nullish(milliseconds),
  perSessionClient: z.nullish(z.boolean()),
  startOnDemand: z.nullish(z.boolean()),
  idleTimeoutMs: z.nullish(milliseconds),
};

const selection = z.nullish(z.union([texts, z.literal("all")]));

const groupShape = {
  id: z.nullish(z.string()),
  name: z.string(),
  description: z.nullish(z.string()),
  servers: z.nullish(
    z.array(
      z.union([
        z.string(),
        z.looseObject({
          name: z.string(),
          alias: z.nullish(z.string()),
          tools: selection,
          prompts: selection,
          resources: selection,
        }),
      ]),
    ),
  ),
};

const named = z.array(z.looseObject({ name: z.nullish(z.string()) }));

const settings = z.looseObject({
  mcpServers: z.record(z.string(), z.looseObject(serverShape)),
  groups: z.nullish(z.array(z.looseObject(groupShape))),
  users: z.nullish(z.array(z.looseObject({}))),
  bearerKeys: z.nullish(named),
  oauthClients: z.nullish(named),
  prompts: z.nullish(named),
  resources: z.nullish(z.array(z.looseObject({}))),
  systemConfig: z.nullish(z.looseObject({})),
});

type Settings = z.infer<typeof settings>;
type Server = Settings["mcpServers"][string];

const SERVER_ADVICE: Advice = {
  owner: 'who may use a server is said by "access" of its groups',
  visibility: 'who may use a server is said by "access" of its groups',
  passthroughHeaders: "the hub does not pass on headers of clients: give each caller a login or secret (docs/login.md)",
  proxy: 'set HTTPS_PROXY or ALL_PROXY in "env" of the server',
  prompts: "prompts of a server cannot be hidden one by one",
  resources: "resources of a server cannot be hidden one by one",
};

const SYSTEM_ADVICE: Advice = {
  nameSeparator: "in a group of several servers, tools are named server__tool",
  smartRouting: 'large groups list tools that search the others: "exposure" in group.json',
  install: "set registries where npm and uv read them: .npmrc and uv.toml",
  oauth: "the hub discovers authorization servers by itself, or takes them from the auth of a server",
  oauthServer: 'the hub has an authorization server: "auth" in hub.json',
  auth: 'people sign in by "auth.sso" in hub.json',
  mcpRouter: "the hub has no marketplace of MCPRouter",
  toolResultCompression: "the hub does not change results",
  enableSessionRebuild: "the hub restores connections by itself",
  discovery: "the hub does not publish a catalog of servers",
  activityLog: "the hub records each call with its payload: plugboard calls, and call_log in mcp_server.json",
};

export const mcphub: Product = {
  hint: "Give the file: plugboard import --from mcphub PATH/mcp_settings.json",
  read(data) {
    const { mcpServers, groups, ...rest } = parseWith(settings, data);
    const servers = Object.entries(mcpServers)
      .filter(([, { type }]) => type !== "openapi")
      .map(([name, server]) => toServer(name, server));
    const openApi = Object.keys(mcpServers).filter((name) => mcpServers[name]?.type === "openapi");
    return {
      servers,
      groups: [...groupOfAll("mcphub", "MCPHub", servers), ...(groups ?? []).map(toGroup)],
      notes: [
        ...openApi.map(
          (name) => `${name} is an OpenAPI service, which is not imported: add an MCP server that calls it`,
        ),
        ...notesOnFile(rest),
      ],
    };
  },
};

function toServer(name: string, server: Server): ProductServer {
  const { command, args, cwd, env, url, headers, type, description, enabled, disabled, timeout, options } = server;
  const tools = Object.entries(server.tools ?? {});
  const toolSettings = tools.flatMap(([tool, { description: text }]): [string, ToolSettings][] =>
    text ? [[tool, { description: text }]] : [],
  );
  return {
    name,
    entry: compact({
      command,
      args,
      cwd,
      env,
      url,
      headers,
      type: url ? type : undefined,
      description,
      enabled,
      disabled,
      timeout: options?.timeout ?? timeout,
      disabled_tools: tools.flatMap(([tool, { enabled: isOn }]) => (isOn === false ? [tool] : [])),
      oauth: server.oauth ? toPlainJson(server.oauth) : undefined,
    }),
    settings: hubSettings(server),
    toolSettings: Object.fromEntries(toolSettings),
    // Everything that its administrator added belongs to "admin".
    notes: notesOn(server["owner"] === "admin" ? { ...server, owner: null } : server, serverShape, SERVER_ADVICE),
  };
}

const DEFAULT_IDLE_MS = 300_000;

function hubSettings({
  perSessionClient,
  startOnDemand,
  idleTimeoutMs,
  keepAliveInterval,
  ...rest
}: Server): JsonObject {
  const resilience = compact({
    on_demand: startOnDemand === true ? true : undefined,
    idle_ms: startOnDemand === true ? idleTimeoutMs || DEFAULT_IDLE_MS : undefined,
    health_check_ms: rest.enableKeepAlive === true ? keepAliveInterval || undefined : undefined,
  });
  return {
    ...(perSessionClient === true ? { isolation: "per-session" } : {}),
    ...(Object.keys(resilience).length === 0 ? {} : { resilience }),
  };
}

function toGroup({ name, description, servers }: NonNullable<Settings["groups"]>[number]): ProductGroup {
  const notes: string[] = [];
  const members = (servers ?? []).map((member): GroupMember => {
    if (typeof member === "string") return { server: member };
    const { name: server, alias, tools, prompts, resources } = member;
    if (alias) notes.push(`the alias ${alias} of ${server} is ignored: its tools are named ${server}__tool`);
    if (Array.isArray(prompts) || Array.isArray(resources))
      notes.push(`all prompts and resources of ${server} are exposed: they cannot be selected one by one`);
    return { server, ...(Array.isArray(tools) ? { include: tools } : {}) };
  });
  return { name, description, members, notes };
}

function namesOf(list: readonly { name?: string | null | undefined }[]): string {
  return list.map(({ name }) => name ?? "without a name").join(", ");
}

function notesOnFile({
  users,
  bearerKeys,
  oauthClients,
  prompts,
  resources,
  systemConfig,
}: Partial<Settings>): string[] {
  return [
    ...(users?.length
      ? [`${counted(users.length, "user")}: people sign in by an issuer, or get tokens (docs/access.md)`]
      : []),
    ...(bearerKeys?.length
      ? [`bearer keys are not taken over (${namesOf(bearerKeys)}): plugboard token add NAME [--group GROUP]`]
      : []),
    ...(oauthClients?.length
      ? [`OAuth clients are not taken over: they register here by themselves (docs/access.md)`]
      : []),
    ...(prompts?.length || resources?.length
      ? ["its own prompts and resources are not imported: a server can offer them"]
      : []),
    ...notesOnSystem(systemConfig ?? {}),
  ];
}

const routing = z.looseObject({ enableBearerAuth: z.nullish(z.boolean()) });

function notesOnSystem({ routing: given, ...rest }: JsonObjectLike): string[] {
  const parsed = parseWith(z.nullish(routing), given, "systemConfig.routing");
  return [
    ...(parsed?.enableBearerAuth === true
      ? ['clients need a token there: set "auth": { "mcp": "required" } in hub.json, and make tokens']
      : []),
    ...notesOn(withoutDisabled(rest), {}, SYSTEM_ADVICE),
  ];
}

type JsonObjectLike = { readonly [key: string]: unknown };

/** A part that is switched off says nothing. */
function withoutDisabled(system: JsonObjectLike): JsonObjectLike {
  return Object.fromEntries(Object.entries(system).filter(([, part]) => !isOff(part)));
}

function isOff(part: unknown): boolean {
  if (typeof part !== "object" || part === null) return false;
  const members = Object.entries(part);
  const { enabled } = Object.fromEntries(members) as { enabled?: unknown };
  return enabled === false || members.every(([, value]) => value === "" || value === null);
}
