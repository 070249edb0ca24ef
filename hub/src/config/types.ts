// What the user wrote, in one normal form. Both spellings of a server end here (normalize.ts); nothing is filled in yet:
// `${NAME}` and secret references are still there, and are resolved only when a server starts.

import type { HubLimits } from "./hub-limits.ts";
import type { ErrorBody } from "../errors.ts";
import type { NetworkConfig } from "./network.ts";
import type { ResilienceEntry } from "./resilience.ts";

/** One environment variable that the user grants to a server. */
export interface EnvEntry {
  readonly value?: string;
  /** Name of a secret in the secret store. */
  readonly secretRef?: string;
  readonly isSecret?: boolean;
  readonly required?: boolean;
}

/** npx and uvx fetch a package, docker an image; binary is any other program. */
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
 * Who shares a process or connection with whom. Not said: everybody, but for the sessions that a server on a pipe can put
 * questions to.
 */
export type Isolation = "shared" | "per-session" | "per-principal" | "per-call";

/** One connection, in the newest revision or as before 2026. Not said: clients of both eras have one in theirs. */
export type EraChoice = "modern" | "legacy";

/** Whether a package is installed into the hub's own folder and run from there, or left to npx. Not said: as the hub is told. */
export type NpmMode = "managed" | "npx";

export type Source =
  | { readonly type: "official"; readonly name: string; readonly version: string }
  | { readonly type: "smithery"; readonly qualifiedName: string }
  | { readonly type: "manual" };

export interface ServerConfig {
  /** As given; the name where none is given. */
  readonly id: string;
  readonly name: string;
  /** The name as the file has it, where that is no legal one: `my server` is called `my-server`. */
  readonly writtenAs?: string;
  /** Why the entry cannot be used. Such a server is shown with its reason and never started. */
  readonly invalid?: ErrorBody;
  readonly enabled: boolean;
  readonly description?: string;
  readonly source: Source;
  readonly transport: Transport;
  readonly env: Readonly<Record<string, EnvEntry>>;
  /** Variables of the hub's environment that `${NAME}` may take into its command line, address and headers; `PREFIX_*` too. */
  readonly allowEnv?: readonly string[];
  /** Free JSON for the server, handed over as JSON in MCP_SERVER_CONFIG. */
  readonly config?: unknown;
  readonly timeouts: {
    /** From spawn or connect until its lists are read. */
    readonly startMs?: number;
    /** To fetch and install its package or image. */
    readonly installMs?: number;
    /** One request. */
    readonly requestMs?: number;
  };
  /** Whether callers have a process or connection of their own. */
  readonly isolation?: Isolation;
  /** Which era the server is spoken to in, where it knows both. */
  readonly era?: EraChoice;
  /** How an npm package is run. */
  readonly npm?: NpmMode;
  /** How it is kept alive and how its failures are met, as far as the user says. */
  readonly resilience?: ResilienceEntry;
  /** The way to a remote server; of a program, whether it gets the hub's proxy settings. */
  readonly network?: NetworkConfig;
  /** Groups that this server joins without being named there. */
  readonly groups: readonly string[];
}

export interface GroupConfig {
  readonly name: string;
  readonly description?: string;
  readonly servers: readonly string[];
  /** Tool names, `server:tool`, either with `*`, or after `!` what is kept out. Empty: all tools of the servers. */
  readonly tools: readonly string[];
  /** Whether questions say which server they come from. Not said: where the group has several. */
  readonly nameAsker?: boolean;
}

/** A group of the file that cannot be used. */
export interface InvalidGroup {
  readonly name: string;
  readonly error: ErrorBody;
}

export interface HubConfig {
  /** Also those that are invalid, so that they can be shown and repaired. */
  readonly servers: readonly ServerConfig[];
  readonly groups: readonly GroupConfig[];
  /** How much the hub takes on in all, where the file says something about that. */
  readonly limits?: HubLimits;
  readonly invalidGroups?: readonly InvalidGroup[];
}
