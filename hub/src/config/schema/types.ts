// The config in normal form, produced by normalize.ts from both spellings. `${NAME}` and secret references are not resolved
// yet: that happens when a server starts.

import type { ApprovalRule, ResultLimits } from "./call-rules.ts";
import type { CallLogEntry } from "./call-log.ts";
import type { HubLimits } from "./hub-limits.ts";
import type { ErrorBody } from "../../errors.ts";
import type { ServerAuth } from "./auth.ts";
import type { NetworkConfig } from "./network.ts";
import type { ResilienceEntry } from "./resilience.ts";
import type { ToolSettingsMap } from "./tool-settings.ts";

/** One environment variable of a server. */
export interface EnvEntry {
  readonly value?: string;
  /** Name of a secret in the secret store. */
  readonly secretRef?: string;
  readonly isSecret?: boolean;
  readonly required?: boolean;
}

/** npx and uvx download a package, docker an image; binary is any other program. */
export type Launcher = "npx" | "uvx" | "docker" | "binary";

export interface StdioTransport {
  readonly type: "stdio";
  readonly launcher: Launcher;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Docker only: no network, read-only file system, no capabilities, no new privileges. */
  readonly hardened: boolean;
}

export interface RemoteTransport {
  readonly type: "http" | "sse" | "websocket";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type Transport = StdioTransport | RemoteTransport;

/**
 * Which callers share a process or connection. Undefined: all share one, except that a stdio server that sends requests to
 * clients gets one process per session that can answer them.
 */
export type Isolation = "shared" | "per-session" | "per-principal" | "per-call";

/** Protocol era of the connection. Undefined: one connection per era, used by the clients of that era. */
export type EraChoice = "modern" | "legacy";

/** Whether the hub installs and runs the package, or npx does. Undefined: the hub's default. */
export type NpmMode = "managed" | "npx";

/** Where the entry comes from; config/parse/source.ts reads its spellings. */
export type Source =
  | { readonly type: "official"; readonly name: string; readonly version: string }
  | { readonly type: "smithery"; readonly qualifiedName: string }
  /** Any other registry: by its name in hub.json, or its address. */
  | { readonly type: "registry"; readonly registry: string; readonly name: string; readonly version?: string }
  /** From the file of another client, or of a project. */
  | { readonly type: "import"; readonly client: string; readonly scope: "user" | "project" }
  | { readonly type: "manual" };

/** What happens to a tool that is not as it was approved: nothing, a warning, or it is withheld until it is approved. */
export type PinPolicy = "off" | "warn" | "block";

export interface ServerConfig {
  /** The `id` of the entry, else its name. */
  readonly id: string;
  readonly name: string;
  /** The name in the file if it is not a legal one: `my server` becomes `my-server`. */
  readonly writtenAs?: string;
  /** Why the entry is invalid. An invalid server is listed with this error and never started. */
  readonly invalid?: ErrorBody;
  /** The entry as written, if it names only its source: its registry completes it. Until then it is invalid. */
  readonly incomplete?: Readonly<Record<string, unknown>>;
  readonly enabled: boolean;
  readonly description?: string;
  readonly source: Source;
  readonly transport: Transport;
  /** How the hub logs in to a remote server. Absent: by OAuth if the server asks for it. */
  readonly auth?: ServerAuth;
  readonly env: Readonly<Record<string, EnvEntry>>;
  /** Variables of the hub's environment that `${NAME}` may use in command line, url and headers; `PREFIX_*` is allowed. */
  readonly allowEnv?: readonly string[];
  /** Arbitrary JSON, passed to the server in MCP_SERVER_CONFIG. */
  readonly config?: unknown;
  readonly timeouts: {
    /** From spawn or connect until all lists are read. */
    readonly startMs?: number;
    /** Download and installation of the package or image. */
    readonly installMs?: number;
    /** One request. */
    readonly requestMs?: number;
  };
  /** Which callers share a process or connection. */
  readonly isolation?: Isolation;
  /** Protocol era, for servers that support both. */
  readonly era?: EraChoice;
  /** npx servers only. */
  readonly npm?: NpmMode;
  /** Undefined: `warn` for entries written by hand, `block` for those from elsewhere. */
  readonly pins?: PinPolicy;
  /** Restarts, retries and limits, as far as the user sets them. */
  readonly resilience?: ResilienceEntry;
  /** How large results may be. */
  readonly results?: ResultLimits;
  /** Proxy and TLS of a remote server; for a local one, whether it inherits the hub's proxy variables. */
  readonly network?: NetworkConfig;
  /** Groups that contain this server although they do not list it. */
  readonly groups: readonly string[];
}

/** `auto`: search if the definitions of all tools take too much of a model's context. */
export type GroupExposure = "auto" | "all" | "search";

export interface GroupConfig {
  readonly name: string;
  readonly description?: string;
  readonly servers: readonly string[];
  /** `tool` or `server:tool`, with optional `*`; a leading `!` excludes. Empty: all tools of the servers. */
  readonly tools: readonly string[];
  /** Settings of tools, by the patterns among `tools` that have any. */
  readonly toolSettings?: ToolSettingsMap;
  /** Whether requests from servers to clients contain the server's name. Undefined: if the group has several servers. */
  readonly nameAsker?: boolean;
  /** Who may use it: `user:`, `team:`, `service:`, or `*`. Undefined: as the hub's default says. */
  readonly access?: readonly string[];
  /** Whether clients get all tools, or tools that search them. Undefined: by their size. */
  readonly exposure?: GroupExposure;
  /** Patterns of tools that are listed although the group is searched. */
  readonly always?: readonly string[];
  /** Which calls a person approves before they are forwarded. Undefined: none. */
  readonly approve?: ApprovalRule;
  /** How long a call waits for that. */
  readonly approvalTimeoutMs?: number;
  /** How large results may be. Undefined: as the servers' entries say. */
  readonly results?: ResultLimits;
}

/** A group in the file that is not valid. */
export interface InvalidGroup {
  readonly name: string;
  readonly error: ErrorBody;
}

export interface HubConfig {
  /** Includes invalid servers, so that they can be listed and repaired. */
  readonly servers: readonly ServerConfig[];
  readonly groups: readonly GroupConfig[];
  /** Limits of the whole hub, if the file sets any. */
  readonly limits?: HubLimits;
  /** Settings of the call log, if the file has any. */
  readonly callLog?: CallLogEntry;
  readonly invalidGroups?: readonly InvalidGroup[];
}
