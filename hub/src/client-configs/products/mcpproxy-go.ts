// mcpproxy-go (smart-mcp-proxy/mcpproxy-go): mcp_config.json.

import * as z from "zod/mini";
import type { JsonObject } from "../../config/parse/plain-object.ts";
import { parseWith } from "../../config/schema/schema.ts";
import { goDuration } from "./go-duration.ts";
import {
  compact,
  groupOfAll,
  notesOn,
  texts,
  values,
  type Advice,
  type Product,
  type ProductGroup,
  type ProductServer,
} from "./product.ts";

const duration = z.nullish(
  z.string().check(z.refine((text) => goDuration(text) !== undefined, 'A duration is written as "30s" or "1m30s"')),
);
const count = z.nullish(z.int().check(z.gte(0)));

const serverShape = {
  name: z.string(),
  url: z.nullish(z.string()),
  protocol: z.nullish(z.enum(["", "auto", "stdio", "http", "sse", "streamable-http"])),
  command: z.nullish(z.string()),
  args: z.nullish(texts),
  working_dir: z.nullish(z.string()),
  env: z.nullish(values),
  headers: z.nullish(values),
  oauth: z.nullish(
    z.looseObject({
      client_id: z.nullish(z.string()),
      client_secret: z.nullish(z.string()),
      redirect_uri: z.nullish(z.string()),
      scopes: z.nullish(texts),
      extra_params: z.nullish(z.record(z.string(), z.string())),
    }),
  ),
  enabled: z.nullish(z.boolean()),
  quarantined: z.nullish(z.boolean()),
  enabled_tools: z.nullish(texts),
  disabled_tools: z.nullish(texts),
  init_timeout: duration,
  health_check_interval: duration,
  max_concurrent_requests: count,
  queue_size: count,
  // About the entry itself.
  created: z.nullish(z.unknown()),
  updated: z.nullish(z.unknown()),
  source_registry_id: z.nullish(z.unknown()),
  source_registry_provenance: z.nullish(z.unknown()),
};

const profileShape = {
  name: z.string(),
  servers: z.nullish(texts),
  title: z.nullish(z.string()),
  description: z.nullish(z.string()),
  tools: z.nullish(z.looseObject({ allow: z.nullish(texts), deny: z.nullish(texts) })),
};

const configShape = {
  mcpServers: z.array(z.looseObject(serverShape)),
  profiles: z.nullish(z.array(z.looseObject(profileShape))),
  call_tool_timeout: duration,
  routing_mode: z.nullish(z.string()),
  api_key: z.nullish(z.string()),
  require_mcp_auth: z.nullish(z.boolean()),
  docker_isolation: z.nullish(z.looseObject({ enabled: z.nullish(z.boolean()), mode: z.nullish(z.string()) })),
};

const config = z.looseObject(configShape);
type Config = z.infer<typeof config>;
type Server = Config["mcpServers"][number];

/** The default there and of a local server here. */
const DEFAULT_CALL_MS = 120_000;

const SERVER_ADVICE: Advice = {
  isolation:
    'the hub runs the command as it is: for a container, write docker run … as the command, with "hardened": true',
  skip_quarantine: "approvals are not taken over",
  auto_approve_tool_changes: "approvals are not taken over",
  trust_mode: "approvals are not taken over",
  shared: 'who may use a server is said by "access" of its groups',
  reconnect_on_use: "the hub reconnects by itself",
  expose_prompts: "prompts of a server are always exposed",
  launcher_wait_timeout: "the hub does not start remote servers",
  tool_discovery_interval: "the hub reads the tools again when a server says so, and with each health check",
  queue_timeout: "a call waits for a slot until its own time limit",
  toon_output: "the hub does not change results",
  annotation_overrides:
    "the hub passes on annotations as they are; they count for retries unless resilience.trusted is false",
  auth_broker: "each caller can have a login (docs/login.md)",
};

const FILE_ADVICE: Advice = {
  max_concurrent_requests: '"limits": { "max_calls": … } in mcp_server.json',
  queue_size: '"limits": { "max_queued_calls": … } in mcp_server.json',
  registries: "the hub has its own registries: plugboard search (docs/registry.md)",
  tls: '"tls" in hub.json',
  trusted_proxies: '"trusted_proxies" in hub.json',
  server_edition: '"auth" in hub.json (docs/access.md)',
  teams: '"auth.teams" in hub.json (docs/access.md)',
  telemetry: "the hub sends nothing to its makers",
  activity_retention_days: '"call_log": { "retention_days": … } in mcp_server.json',
  read_only_mode: "plugboard token add NAME --read-only",
};

export const mcpproxyGo: Product = {
  hint: "Give the file: plugboard import --from mcpproxy-go ~/.mcpproxy/mcp_config.json",
  read(data) {
    const parsed = parseWith(config, data);
    const both = parsed.mcpServers.filter(({ command, url }) => Boolean(command) && Boolean(url));
    const servers = parsed.mcpServers
      .filter((server) => !both.includes(server))
      .map((server) => toServer(server, parsed));
    return {
      servers,
      groups: [
        ...groupOfAll("mcpproxy-go", "mcpproxy-go", servers),
        ...(parsed.profiles ?? []).map((profile) => toGroup(profile, parsed)),
      ],
      notes: [
        ...both.map(
          ({ name }) =>
            `${name} is started and then reached by its address, which is not imported: start it yourself and add the address`,
        ),
        ...notesOnFile(parsed),
      ],
    };
  },
};

function toServer(server: Server, { call_tool_timeout: given }: Config): ProductServer {
  const { name, url, protocol, command, args, env, headers, enabled, quarantined } = server;
  const callMs = given ? goDuration(given) : undefined;
  const { resource, ...others } = server.oauth?.extra_params ?? {};
  const { extra_params: _, pkce_enabled: __, ...oauth } = server.oauth ?? {};
  return {
    name,
    entry: compact({
      command: command || undefined,
      args: args ?? undefined,
      cwd: server.working_dir || undefined,
      env,
      url: url || undefined,
      headers,
      type: url && protocol && protocol !== "auto" ? protocol : undefined,
      enabled: enabled === false || quarantined === true ? false : undefined,
      enabled_tools: server.enabled_tools?.length ? server.enabled_tools : undefined,
      disabled_tools: server.disabled_tools ?? undefined,
      startup_timeout_ms: server.init_timeout ? goDuration(server.init_timeout) : undefined,
      timeout: callMs === DEFAULT_CALL_MS ? undefined : callMs,
      oauth: server.oauth ? compact({ ...oauth, resource }) : undefined,
    }),
    settings: hubSettings(server),
    notes: [
      ...(quarantined === true
        ? [`is in quarantine there and disabled here: check it, then plugboard enable ${name}`]
        : []),
      ...Object.keys(others).map((parameter) => `"oauth.extra_params.${parameter}" has no equivalent and is ignored`),
      ...notesOn(server, serverShape, SERVER_ADVICE),
    ],
  };
}

function hubSettings(server: Server): JsonObject {
  const resilience = compact({
    health_check_ms: server.health_check_interval ? goDuration(server.health_check_interval) : undefined,
    max_calls: server.max_concurrent_requests || undefined,
    max_queued_calls: server.queue_size ?? undefined,
  });
  return Object.keys(resilience).length === 0 ? {} : { resilience };
}

const PROFILE_ADVICE: Advice = {
  max_tier: "for clients that only read: plugboard token add NAME --read-only",
  unannotated: "tools without annotations are treated as tools that change something",
  code_execution: "the hub runs no code of models",
  management_tools: "the hub is managed at /mcp/@admin, apart from groups",
  switchable_to: "a client has the group of its address",
};

function toGroup(profile: NonNullable<Config["profiles"]>[number], { routing_mode: mode }: Config): ProductGroup {
  const { name, title, description, servers, tools } = profile;
  return {
    name,
    description: description || title,
    members: (servers ?? []).map((server) => ({ server })),
    patterns: [...(tools?.allow ?? []), ...(tools?.deny ?? []).map((pattern) => `!${pattern}`)],
    exposure: mode === "direct" ? "all" : undefined,
    notes: notesOn(profile, profileShape, PROFILE_ADVICE),
  };
}

function notesOnFile(given: Config): string[] {
  const { api_key: key, require_mcp_auth: required, docker_isolation: docker, routing_mode: mode } = given;
  const isolated = docker?.enabled === true || docker?.mode === "docker" || docker?.mode === "sandbox";
  const known = Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(FILE_ADVICE, name)));
  return [
    ...(key ? ["its API key is not taken over: plugboard token add NAME --role admin"] : []),
    ...(required === true
      ? ['clients need a token there: set "auth": { "mcp": "required" } in hub.json, and make tokens']
      : []),
    ...(isolated
      ? [`local servers run in a container or sandbox there, and without one here (${SERVER_ADVICE["isolation"]})`]
      : []),
    ...(mode === "code_execution" ? ["routing_mode code_execution: the hub runs no code of models"] : []),
    ...notesOn(known, {}, FILE_ADVICE),
  ];
}
