// The two programs named mcp-proxy that serve several servers: named servers of sparfenyuk/mcp-proxy, and the config of
// TBXark/mcp-proxy. Both serve each server at an address of its own, so each becomes a group too.

import * as z from "zod/mini";
import { isObject } from "../../lib/json/json.ts";
import { parseWith } from "../../config/schema/schema.ts";
import {
  compact,
  notesOn,
  texts,
  values,
  type Advice,
  type Product,
  type ProductConfig,
  type ProductServer,
} from "./product.ts";

const NS_PER_MS = 1_000_000;

const serverShape = {
  command: z.nullish(z.string()),
  args: z.nullish(texts),
  cwd: z.nullish(z.string()),
  env: z.nullish(values),
  url: z.nullish(z.string()),
  headers: z.nullish(values),
  enabled: z.nullish(z.boolean()),
  disabled: z.nullish(z.boolean()),
  transportType: z.nullish(z.enum(["stdio", "sse", "streamable-http"])),
  timeout: z.nullish(z.number()),
  options: z.nullish(
    z.looseObject({
      authTokens: z.nullish(texts),
      toolFilter: z.nullish(z.looseObject({ mode: z.nullish(z.string()), list: z.nullish(texts) })),
    }),
  ),
};

const named = z.looseObject({ mcpServers: z.record(z.string(), z.looseObject(serverShape)) });
type Server = z.infer<typeof named>["mcpServers"][string];

const oldServer = z.looseObject({
  type: z.enum(["stdio", "sse", "streamable-http"]),
  config: z.looseObject({
    command: serverShape.command,
    args: serverShape.args,
    env: serverShape.env,
    url: serverShape.url,
    headers: serverShape.headers,
    timeout: serverShape.timeout,
  }),
  authTokens: z.nullish(texts),
});

const proxyOptions = z.nullish(z.looseObject({ options: z.nullish(z.looseObject({ authTokens: z.nullish(texts) })) }));

const tbxark = z.looseObject({
  mcpProxy: proxyOptions,
  mcpServers: z.nullish(z.record(z.string(), z.looseObject(serverShape))),
  clients: z.nullish(z.record(z.string(), oldServer)),
});

const ADVICE: Advice = {
  passEnvironment: 'servers get no variables of the hub: list those that it needs in its "env", as "NAME": "${NAME}"',
  clientId: "machine credentials: auth of the server (docs/config.md#logins)",
  clientSecret: "machine credentials: auth of the server (docs/config.md#logins)",
  tokenUrl: "machine credentials: auth of the server (docs/config.md#logins)",
  headerToEnv: "the hub does not pass on headers of clients: give each caller a secret of its own (docs/login.md)",
};

export const mcpProxy: Product = {
  hint: "Give its file (--named-server-config, -config) or its command line: plugboard import --from mcp-proxy -- mcp-proxy …",
  read: (data) => (isTbxark(data) ? readTbxark(data) : readNamed(data)),
};

function isTbxark(data: unknown): boolean {
  return isObject(data) && (Object.hasOwn(data, "mcpProxy") || Object.hasOwn(data, "clients"));
}

function readNamed(data: unknown): ProductConfig {
  const servers = parseWith(named, data).mcpServers;
  return withGroups(
    // It ignores the time limits of other clients.
    Object.entries(servers).map(([name, server]) => toServer(name, server, undefined)),
    [],
  );
}

function readTbxark(data: unknown): ProductConfig {
  const { mcpProxy: proxy, mcpServers, clients } = parseWith(tbxark, data);
  const given = Object.keys(mcpServers ?? {}).length > 0 ? (mcpServers ?? {}) : fromOld(clients ?? {});
  const hasTokens =
    Boolean(proxy?.options?.authTokens?.length) ||
    Object.values(given).some(({ options }) => Boolean(options?.authTokens?.length));
  return withGroups(
    Object.entries(given).map(([name, server]) =>
      toServer(name, server, server.timeout ? server.timeout / NS_PER_MS : undefined),
    ),
    [
      ...(hasTokens
        ? [
            'its tokens are not taken over: set "auth": { "mcp": "required" } in hub.json, and plugboard token add NAME --group SERVER',
          ]
        : []),
      ...(isObject(proxy?.options?.["oauth2"]) && proxy.options["oauth2"]["enabled"] === true
        ? ['its users are not taken over: people sign in by "auth.sso" in hub.json (docs/access.md)']
        : []),
    ],
  );
}

/** The format of its first version. */
function fromOld(clients: Readonly<Record<string, z.infer<typeof oldServer>>>): Record<string, Server> {
  return Object.fromEntries(
    Object.entries(clients).map(([name, { type, config, authTokens }]) => [
      name,
      { ...config, transportType: type, options: { authTokens } },
    ]),
  );
}

function toServer(given: string, server: Server, timeoutMs: number | undefined): ProductServer {
  const { command, args, cwd, env, url, headers, enabled, disabled, transportType, options } = server;
  const { mode, list } = options?.toolFilter ?? {};
  // TBXark reads `name/token` as a token in the address.
  const [name = given, token] = given.split("/", 2);
  return {
    name,
    entry: compact({
      command: command ?? undefined,
      args: args ?? undefined,
      cwd,
      env,
      url: url ?? undefined,
      headers,
      type: url ? (transportType === "streamable-http" ? "http" : "sse") : undefined,
      enabled,
      disabled,
      timeout: timeoutMs,
      enabled_tools: mode === "allow" ? (list ?? []) : undefined,
      disabled_tools: mode === "block" ? (list ?? []) : undefined,
    }),
    notes: [
      ...(token === undefined ? [] : ["the token in its name is not taken over: plugboard token add"]),
      ...notesOn(server, serverShape, ADVICE),
    ],
  };
}

function withGroups(servers: readonly ProductServer[], notes: readonly string[]): ProductConfig {
  return {
    servers,
    groups: servers.map(({ name }) => ({
      name,
      description: `${name} alone, as mcp-proxy serves it`,
      members: [{ server: name }],
    })),
    notes,
  };
}
