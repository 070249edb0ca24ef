// A server, as it is written and as it is shown; its life and its logs.

import { z } from "@hono/zod-openapi";
import { resilienceEntry } from "../../config/resilience.ts";
import { serverEntry as fileEntry } from "../../config/schema.ts";
import { errorBody } from "./error.ts";
import { fileRule, fileRules } from "./file-rule.ts";
import { json } from "./json.ts";
import { resource, tool } from "./tool.ts";

const serverConfig = z
  .object({
    id: z.string(),
    name: z.string(),
    enabled: z.boolean(),
    command: z.string().openapi({ description: 'The program; "http" for a server that the hub connects to' }),
    args: z.array(z.string()),
    env: z.record(z.string(), z.string()),
    description: z.string().optional(),
    allowEnv: z
      .array(z.string())
      .optional()
      .openapi({ description: "Variables of the hub's environment that ${NAME} may stand for" }),
    cwd: z.string().optional(),
    hardened: z.boolean().optional(),
    type: z.enum(["http", "sse", "websocket"]).optional(),
    url: z.string().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    source: json.optional(),
    config: z.unknown().optional(),
    timeouts: z
      .object({
        start_ms: z.number().optional(),
        install_ms: z.number().optional(),
        request_ms: z.number().optional(),
      })
      .optional(),
    isolation: z.enum(["shared", "per-session", "per-principal", "per-call"]).optional(),
    era: z.enum(["modern", "legacy"]).optional(),
    npm: z.enum(["managed", "npx"]).optional(),
    resilience: fileRule(resilienceEntry).optional(),
    proxy: z.union([z.string(), z.boolean()]).optional(),
    tls: z
      .object({
        ca: z.string().optional(),
        cert: z.string().optional(),
        key: z.string().optional(),
        servername: z.string().optional(),
      })
      .optional(),
    groups: z.array(z.string()).optional(),
  })
  .openapi("MCPServerConfig");
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
  spec: z.string().openapi({ description: "As the entry has it" }),
  name: z.string(),
  version: z.string().openapi({ description: "The version that is run, whatever the spec allows" }),
  source: z.enum(["managed", "local"]).openapi({
    description: "Installed by the hub, or in the folder that the server runs in",
  }),
  folder: z.string(),
  integrity: z.string().nullable(),
  installed_at: z.string().nullable(),
});

export const server = z
  .object({
    config: serverConfig,
    status: serverState,
    tools: z.array(tool),
    resources: z.array(resource),
    tool_count: z.number().int(),
    resource_count: z.number().int(),
    created_at: z.string(),
    updated_at: z.string(),
    kind: z.enum(["npx", "uvx", "docker", "binary", "http", "sse", "websocket"]),
    error: errorBody.nullable(),
    pid: z.number().int().nullable(),
    instances: z.array(z.object({ pid: z.number().int().nullable(), since: z.string() })).openapi({
      description: "The processes or connections beside the main one: of single callers, and of clients of another era",
    }),
    protocol_version: z.string().nullable(),
    since: z.string().nullable().openapi({ description: "When it came into this state" }),
    stage: z
      .enum(["resolving", "queued", "installing", "launching", "downloading", "handshake", "listing"])
      .nullable()
      .openapi({ description: "How far a start has come" }),
    install: z.object({ position: z.number().int(), total: z.number().int() }).nullable().openapi({
      description: "Where its package stands among those that are installed, while it is queued or installed",
    }),
    circuit: z.enum(["closed", "open", "half-open"]).openapi({ description: "Whether calls are let through to it" }),
    next_try: z
      .object({ at: z.string(), tries: z.number().int(), crash_loop: z.boolean() })
      .nullable()
      .openapi({ description: "When a server that is down is started again by itself, and how often that failed" }),
    warnings: z.array(z.string()).openapi({
      description:
        "What works, but is probably not meant or will not work for ever; faults of its lists; tools that changed",
    }),
    secret_refs: z
      .record(z.string(), z.string())
      .openapi({ description: "Which secret of the store each variable takes" }),
    groups: z.array(z.string()).openapi({ description: "The groups that it is in" }),
    package: packageInUse
      .nullable()
      .openapi({ description: "The npm package that it is run from; null where npx, or no package, runs it" }),
  })
  .openapi("MCPServer");
export type Server = z.infer<typeof server>;

export const serverEntry = z
  .looseObject({ name: z.string().nullish(), ...fileRules(fileEntry.shape) })
  .openapi("MCPServerEntry");

export const testResult = z
  .object({
    success: z.boolean(),
    message: z.string(),
    tools: z.array(tool),
    resources: z.array(resource),
    latency_ms: z.number(),
    error: errorBody.optional(),
  })
  .openapi("MCPTestResult");
export type TestResult = z.infer<typeof testResult>;

export const packageUpdate = z
  .object({
    changed: z.boolean(),
    from: z.string().nullable().openapi({ description: "The version before; null where there was none" }),
    to: z.string(),
    restarted: z.array(z.string()).openapi({ description: "The servers that now run it" }),
    server,
  })
  .openapi("MCPPackageUpdate");
export type PackageUpdate = z.infer<typeof packageUpdate>;

export const logs = z
  .object({
    server: z.string(),
    text: z.string().openapi({ description: "The lines as one text" }),
    lines: z.array(z.object({ timestamp: z.string(), text: z.string() })),
  })
  .openapi("Logs");
export type Logs = z.infer<typeof logs>;
