// A server, as it is written and as it is shown; its lifecycle and its logs.

import * as z from "zod/mini";
import { authFields } from "../../config/schema/auth.ts";
import { resultLimits } from "../../config/schema/call-rules.ts";
import { resilienceEntry } from "../../config/schema/resilience.ts";
import { serverEntry as fileEntry } from "../../config/schema/schema.ts";
import { approval, pinPolicy } from "./server-approval.ts";
import { component, describe } from "./docs.ts";
import { errorBody } from "./error.ts";
import { json } from "./json.ts";
import { logLevel, logSource } from "./log.ts";
import { login } from "./login.ts";
import { resource, tool } from "./tool.ts";

const serverConfig = component(
  "MCPServerConfig",
  z.object({
    id: z.string(),
    name: z.string(),
    enabled: z.boolean(),
    command: describe(z.string(), 'The program; "http" for a remote server'),
    args: z.array(z.string()),
    env: z.record(z.string(), z.string()),
    description: z.optional(z.string()),
    allowEnv: describe(z.optional(z.array(z.string())), "Variables of the hub's environment that ${NAME} may use"),
    cwd: z.optional(z.string()),
    hardened: z.optional(z.boolean()),
    type: z.optional(z.enum(["http", "sse", "websocket"])),
    url: z.optional(z.string()),
    headers: z.optional(z.record(z.string(), z.string())),
    auth: describe(
      z.optional(z.union([authFields, z.literal(false)])),
      "How the hub logs in to the server; false: never",
    ),
    source: z.optional(json),
    config: z.optional(z.unknown()),
    timeouts: z.optional(
      z.object({
        start_ms: z.optional(z.number()),
        install_ms: z.optional(z.number()),
        request_ms: z.optional(z.number()),
      }),
    ),
    isolation: z.optional(z.enum(["shared", "per-session", "per-principal", "per-call"])),
    era: z.optional(z.enum(["modern", "legacy"])),
    npm: z.optional(z.enum(["managed", "npx"])),
    pins: z.optional(pinPolicy),
    resilience: z.optional(resilienceEntry),
    results: z.optional(resultLimits),
    proxy: z.optional(z.union([z.string(), z.boolean()])),
    tls: z.optional(
      z.object({
        ca: z.optional(z.string()),
        cert: z.optional(z.string()),
        key: z.optional(z.string()),
        servername: z.optional(z.string()),
      }),
    ),
    groups: z.optional(z.array(z.string())),
  }),
);
export type ShownConfig = z.infer<typeof serverConfig>;

export const serverState = z.enum([
  "stopped",
  "starting",
  "running",
  "error",
  "disabled",
  "disconnected",
  "unauthenticated",
]);

const packageInUse = z.object({
  spec: describe(z.string(), "As written in the entry"),
  name: z.string(),
  version: describe(z.string(), "The version that runs"),
  source: describe(z.literal("managed"), "Installed by the hub"),
  folder: z.string(),
  integrity: z.nullable(z.string()),
  installed_at: z.nullable(z.string()),
});

export const server = component(
  "MCPServer",
  z.object({
    config: serverConfig,
    status: serverState,
    tools: z.array(tool),
    resources: z.array(resource),
    tool_count: z.int(),
    resource_count: z.int(),
    created_at: z.string(),
    updated_at: z.string(),
    kind: z.enum(["npx", "uvx", "docker", "binary", "http", "sse", "websocket"]),
    error: z.nullable(errorBody),
    pid: z.nullable(z.int()),
    instances: describe(
      z.array(z.object({ pid: z.nullable(z.int()), since: z.string() })),
      "Processes or connections besides the main one: of single callers, and of clients of another protocol era",
    ),
    protocol_version: z.nullable(z.string()),
    since: describe(z.nullable(z.string()), "When the server entered this state"),
    stage: describe(
      z.nullable(z.enum(["resolving", "queued", "installing", "launching", "downloading", "handshake", "listing"])),
      "Progress of a start",
    ),
    install: describe(
      z.nullable(z.object({ position: z.int(), total: z.int() })),
      "Position of its package in the installation queue, while it is queued or installed",
    ),
    circuit: describe(z.enum(["closed", "open", "half-open"]), "State of the circuit breaker"),
    approval: describe(approval, "Whether it may run, and which of its tools are not as they were approved"),
    next_try: describe(
      z.nullable(z.object({ at: z.string(), tries: z.int(), crash_loop: z.boolean() })),
      "When the next automatic restart is due, and how many have failed",
    ),
    warnings: describe(
      z.array(z.string()),
      "Settings that work but are probably wrong or deprecated; invalid list entries; tools that changed",
    ),
    secret_refs: describe(
      z.record(z.string(), z.string()),
      "The stored secret that each variable, or field of auth, refers to",
    ),
    groups: describe(z.array(z.string()), "Groups that contain the server"),
    login: describe(z.nullable(login), "The login at the server; null if the hub does not log in there"),
    logins: describe(
      z.optional(z.array(login)),
      "Where each caller has a login of its own: all of them; `login` is that of the hub's owner",
    ),
    personal_secrets: describe(z.optional(z.array(z.string())), "Personal secrets that each caller needs"),
    package: describe(z.nullable(packageInUse), "The npm package that runs; null if npx or no package runs it"),
    launcher: describe(
      z.enum(["node", "npx", "uvx", "docker", "program", "remote"]),
      "What runs it: `program` is any other command, `remote` an address",
    ),
    prompt_count: z.int(),
    tokens: describe(z.int(), "Estimated tokens of all its tool definitions: bytes of JSON / 3.8"),
    restarts: describe(z.int(), "Automatic restarts since the start of the hub"),
    calls_24h: describe(
      z.nullable(
        z.object({
          total: describe(z.int(), "Calls that reached the server: ok, tool_error and failed"),
          errors: describe(z.int(), "Of total: failed"),
          tool_errors: describe(z.int(), "Of total: the tool reported an error"),
          p50_ms: z.number(),
          p95_ms: z.number(),
        }),
      ),
      "Calls of the last 24 hours, up to a minute old; null: none, or not known at the moment",
    ),
    server_info: describe(
      z.nullable(z.object({ name: z.string(), version: z.string(), title: z.optional(z.string()) })),
      "How the server names itself; while it is down, what it said last",
    ),
    instructions: z.nullable(z.string()),
    capabilities: describe(z.array(z.string()), "Names of its MCP capabilities, such as `tools`"),
  }),
);
export type Server = z.infer<typeof server>;

export const serverEntry = component(
  "MCPServerEntry",
  z.looseObject({ name: z.nullish(z.string()), ...fileEntry.shape }),
);

export const testResult = component(
  "MCPTestResult",
  z.object({
    success: z.boolean(),
    message: z.string(),
    tools: z.array(tool),
    resources: z.array(resource),
    latency_ms: z.number(),
    error: z.optional(errorBody),
  }),
);
export type TestResult = z.infer<typeof testResult>;

export const packageUpdate = component(
  "MCPPackageUpdate",
  z.object({
    changed: z.boolean(),
    from: describe(z.nullable(z.string()), "The version before; null if there was none"),
    to: z.string(),
    restarted: describe(z.array(z.string()), "The servers that now run the new version"),
    server,
  }),
);
export type PackageUpdate = z.infer<typeof packageUpdate>;

export const updatePreview = component(
  "MCPUpdatePreview",
  z.object({
    changed: describe(z.boolean(), "Whether an update would install another version"),
    from: describe(z.nullable(z.string()), "The version that is installed; null if there is none"),
    to: z.string(),
    tools: z.object({ added: z.array(z.string()), changed: z.array(z.string()), removed: z.array(z.string()) }),
    diff: describe(z.array(z.string()), "What changes in the tools, as lines for people"),
  }),
);
export type UpdatePreview = z.infer<typeof updatePreview>;

const serverLogLine = component(
  "ServerLogLine",
  z.object({
    timestamp: z.string(),
    text: z.string(),
    source: logSource,
    level: describe(z.nullable(logLevel), "Of an MCP message; null if it has none, and for lines of stderr"),
    logger: describe(z.nullable(z.string()), "The part of the server that wrote an MCP message, if it says so"),
  }),
);
export type ServerLogLine = z.infer<typeof serverLogLine>;

export const logs = component(
  "Logs",
  z.object({
    server: z.string(),
    text: describe(z.string(), "All lines as one text"),
    lines: z.array(serverLogLine),
  }),
);
export type Logs = z.infer<typeof logs>;

export const statusChange = component(
  "MCPServerStatusChange",
  z.object({
    at: z.string(),
    status: serverState,
    stage: z.nullable(z.string()),
    circuit: server.shape.circuit,
    reason: describe(z.nullable(z.string()), "Why it failed"),
    pid: z.nullable(z.int()),
    duration_ms: describe(z.nullable(z.number()), "How long the status lasted; null: until now, or not known"),
  }),
);
export type StatusChange = z.infer<typeof statusChange>;

export const usage = component(
  "MCPServerUsage",
  z.object({
    processes: describe(
      z.array(z.object({ pid: z.int(), rss_bytes: z.int(), cpu_ms: z.int(), command: z.string() })),
      "The processes of the server, with their children",
    ),
    rss_bytes: z.int(),
    cpu_ms: describe(z.int(), "CPU time since the start of the processes"),
  }),
);
export type Usage = z.infer<typeof usage>;
