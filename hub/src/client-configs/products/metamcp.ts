// MetaMCP (metatool-ai/metamcp): what "Export JSON" of its web interface gives, or its tables as JSON (docs/migrate/metamcp.md).

import * as z from "zod/mini";
import { isObject } from "../../lib/json/json.ts";
import type { JsonObject } from "../../config/parse/plain-object.ts";
import { parseWith } from "../../config/schema/schema.ts";
import type { ToolSettings } from "../../config/schema/tool-settings.ts";
import {
  compact,
  notesOn,
  texts,
  values,
  type Advice,
  type GroupMember,
  type Product,
  type ProductConfig,
  type ProductGroup,
  type ProductServer,
} from "./product.ts";

const oauthClient = z.looseObject({
  client_id: z.nullish(z.string()),
  client_secret: z.nullish(z.string()),
  scope: z.nullish(z.string()),
  authorization_endpoint: z.nullish(z.string()),
  token_endpoint: z.nullish(z.string()),
});

const serverShape = {
  name: z.nullish(z.string()),
  type: z.nullish(z.string()),
  description: z.nullish(z.string()),
  command: z.nullish(z.string()),
  args: z.nullish(texts),
  env: z.nullish(values),
  url: z.nullish(z.string()),
  headers: z.nullish(values),
  bearerToken: z.nullish(z.string()),
  bearer_token: z.nullish(z.string()),
  oauth_client_info: z.nullish(oauthClient),
  uuid: z.nullish(z.string()),
  created_at: z.nullish(z.unknown()),
  error_status: z.nullish(z.string()),
  user_id: z.nullish(z.string()),
};

const status = z.enum(["ACTIVE", "INACTIVE"]);
const rows = <Row extends z.core.SomeType>(row: Row) => z.nullish(z.array(row));

const exported = z.looseObject({ mcpServers: z.record(z.string(), z.looseObject(serverShape)) });

const tables = z.looseObject({
  mcp_servers: z.array(z.looseObject({ ...serverShape, uuid: z.string(), name: z.string() })),
  namespaces: rows(z.looseObject({ uuid: z.string(), name: z.string(), description: z.nullish(z.string()) })),
  namespace_server_mappings: rows(z.looseObject({ namespace_uuid: z.string(), mcp_server_uuid: z.string(), status })),
  namespace_tool_mappings: rows(
    z.looseObject({
      namespace_uuid: z.string(),
      mcp_server_uuid: z.string(),
      tool_uuid: z.string(),
      status,
      override_name: z.nullish(z.string()),
      override_description: z.nullish(z.string()),
    }),
  ),
  tools: rows(z.looseObject({ uuid: z.string(), name: z.string() })),
  endpoints: rows(
    z.looseObject({
      name: z.string(),
      namespace_uuid: z.string(),
      enable_api_key_auth: z.nullish(z.boolean()),
      enable_oauth: z.nullish(z.boolean()),
      enable_max_rate: z.nullish(z.boolean()),
      enable_client_max_rate: z.nullish(z.boolean()),
    }),
  ),
  oauth_sessions: rows(
    z.looseObject({
      mcp_server_uuid: z.string(),
      client_information: z.nullish(oauthClient),
      tokens: z.nullish(z.looseObject({ access_token: z.nullish(z.string()), refresh_token: z.nullish(z.string()) })),
    }),
  ),
});

type Tables = z.infer<typeof tables>;
type Server = z.infer<typeof exported>["mcpServers"][string];

const ADVICE: Advice = {
  forward_headers: "the hub does not pass on headers of clients: give each caller a login or secret (docs/login.md)",
  api_spec: "OpenAPI services are not imported",
  base_url: "OpenAPI services are not imported",
  auth_config: "OpenAPI services are not imported",
};

export const metamcp: Product = {
  hint: "Export its config first (docs/migrate/metamcp.md), then: plugboard import --from metamcp FILE",
  read(data) {
    return isObject(data) && Object.hasOwn(data, "mcp_servers")
      ? fromTables(parseWith(tables, data))
      : fromExport(parseWith(exported, data).mcpServers);
  },
};

function fromExport(servers: Readonly<Record<string, Server>>): ProductConfig {
  const all = Object.entries(servers);
  return {
    servers: all.filter(([, server]) => !isRest(server)).map(([name, server]) => toServer(name, server)),
    groups: [],
    notes: [
      ...restNotes(all.flatMap(([name, server]) => (isRest(server) ? [name] : []))),
      "this export has the servers only: for namespaces and endpoints, see docs/migrate/metamcp.md",
    ],
  };
}

function fromTables(data: Tables): ProductConfig {
  const servers = data.mcp_servers.filter((server) => !isRest(server));
  const logins = new Map((data.oauth_sessions ?? []).map((session) => [session.mcp_server_uuid, session]));
  return {
    servers: servers.map((server) => toServer(server.name, server, logins.get(server.uuid))),
    groups: (data.namespaces ?? []).map((namespace) => toGroup(namespace, data)),
    notes: [
      ...restNotes(data.mcp_servers.filter(isRest).map(({ name }) => name)),
      ...(data.mcp_servers.some(({ user_id: owner }) => Boolean(owner))
        ? ['some servers belong to single users: "access" of a group says who may use it']
        : []),
    ],
  };
}

function toServer(name: string, server: Server, login?: NonNullable<Tables["oauth_sessions"]>[number]): ProductServer {
  const { command, args, env, url, headers, description } = server;
  const bearer = server.bearerToken || server.bearer_token;
  const hasOwn = Object.keys(headers ?? {}).some((header) => header.toLowerCase() === "authorization");
  const client = server.oauth_client_info ?? login?.client_information;
  const oauth = client?.client_id ? { ...oauthOf(client), ...tokensOf(login) } : {};
  return {
    name,
    entry: compact({
      command: command || undefined,
      args: args?.length ? args : undefined,
      env,
      url: url || undefined,
      headers: bearer && !hasOwn ? { ...headers, Authorization: `Bearer ${bearer}` } : headers,
      type: url ? typeOf(server.type) : undefined,
      description: description || undefined,
      oauth: Object.keys(oauth).length > 0 ? oauth : undefined,
    }),
    notes: notesOn(server, serverShape, ADVICE),
  };
}

const OAUTH_KEYS = ["client_id", "client_secret", "scope", "authorization_endpoint", "token_endpoint"] as const;

/** The rest of a registration says nothing about logins. */
function oauthOf(client: z.infer<typeof oauthClient>): JsonObject {
  return Object.fromEntries(
    OAUTH_KEYS.flatMap((key) => (typeof client[key] === "string" && client[key] !== "" ? [[key, client[key]]] : [])),
  );
}

function tokensOf(login: NonNullable<Tables["oauth_sessions"]>[number] | undefined): JsonObject {
  const { access_token: access, refresh_token: refresh } = login?.tokens ?? {};
  return compact({ access_token: access, refresh_token: refresh });
}

/** The export writes types in lower case and in several spellings. */
function typeOf(type: string | null | undefined): string {
  return /^sse$/i.test(type ?? "") ? "sse" : "http";
}

function isRest({ type }: Server): boolean {
  return /^rest_api$/i.test(type ?? "");
}

function restNotes(names: readonly string[]): string[] {
  return names.map((name) => `${name} is a REST API, which is not imported: add an MCP server that calls it`);
}

function toGroup(namespace: NonNullable<Tables["namespaces"]>[number], data: Tables): ProductGroup {
  const { uuid, name, description } = namespace;
  const notes: string[] = [];
  const members = (data.namespace_server_mappings ?? []).flatMap((mapping): GroupMember[] => {
    const server = data.mcp_servers.find((each) => each.uuid === mapping.mcp_server_uuid);
    if (mapping.namespace_uuid !== uuid || server === undefined) return [];
    if (mapping.status === "ACTIVE") return [toMember(server.name, uuid, server.uuid, data)];
    notes.push(`${server.name} is inactive in the namespace and is left out`);
    return [];
  });
  for (const endpoint of data.endpoints ?? [])
    if (endpoint.namespace_uuid === uuid) notes.push(...notesOnEndpoint(endpoint));
  return { name, description, members, notes };
}

function toMember(server: string, namespace: string, serverUuid: string, data: Tables): GroupMember {
  const exclude: string[] = [];
  const toolSettings: Record<string, ToolSettings> = {};
  for (const mapping of data.namespace_tool_mappings ?? []) {
    if (mapping.namespace_uuid !== namespace || mapping.mcp_server_uuid !== serverUuid) continue;
    const tool = data.tools?.find((each) => each.uuid === mapping.tool_uuid)?.name;
    if (tool === undefined) continue;
    if (mapping.status === "INACTIVE") exclude.push(tool);
    else if (mapping.override_name || mapping.override_description) {
      toolSettings[tool] = {
        ...(mapping.override_name ? { as: mapping.override_name } : {}),
        ...(mapping.override_description ? { description: mapping.override_description } : {}),
      };
    }
  }
  return { server, exclude, toolSettings };
}

function notesOnEndpoint(endpoint: NonNullable<Tables["endpoints"]>[number]): string[] {
  const { name, enable_api_key_auth: keys, enable_oauth: oauth, enable_max_rate: rate } = endpoint;
  return [
    `its endpoint /metamcp/${name}/mcp is the address of the group here`,
    ...(keys === true || oauth === true
      ? [`the endpoint ${name} needs credentials: set "auth": { "mcp": "required" } in hub.json, and make tokens`]
      : []),
    ...(rate === true || endpoint.enable_client_max_rate === true
      ? [
          `the endpoint ${name} has a rate limit: set calls_per_second of the servers, or "limits" of callers (docs/access.md)`,
        ]
      : []),
  ];
}
