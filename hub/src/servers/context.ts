// The dependencies that all managed servers share.

import type { LookupFunction } from "node:net";
import type { PersonalSecrets } from "../secrets/personal.ts";
import type { SecretStore } from "../secrets/store.ts";
import type { EraMemory } from "./connection/era-memory.ts";
import type { Identity } from "./connection/handshake.ts";
import type { Watchdog } from "./process/watchdog.ts";
import type { StartLimiter } from "./process/start-limiter.ts";
import type { ListingCache } from "./resilience/listing-cache.ts";
import type { Packages } from "./npm/packages.ts";
import type { InstancePool } from "./instances/instance-pool.ts";
import type { Redactor } from "./server-redaction.ts";
import type { OnlyClient } from "./connection/upstream.ts";
import type { ServerConfig } from "../config/schema/types.ts";
import type { Withheld } from "../catalog/listing.ts";
import type { HubError } from "../errors.ts";
import type { JsonObject } from "../lib/json/json.ts";
import type { Authorization } from "../protocol/connect/authorization.ts";

/** A program that uses the servers directly, without a hub and its clients, and only their tools. */
export interface SoleClient extends Identity, OnlyClient {
  readonly isProgram: true;
}

/** What people have approved: which servers may run, and their tools. */
export interface ServerApprovals {
  /** Why a server may not run; undefined if it may. */
  refusal(config: ServerConfig): HubError | undefined;
  /** A server has listed its tools. */
  listed(config: ServerConfig, tools: readonly JsonObject[]): void;
  /** The tools that must not be used; undefined if there are none. */
  withheld(config: ServerConfig, tools: readonly JsonObject[]): Withheld | undefined;
}

export interface ServerContext {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The base of relative paths in the config. Without it: the working directory. */
  readonly configFolder?: string;
  readonly secrets: SecretStore;
  readonly personalSecrets?: PersonalSecrets;
  /** Whose credentials list what a server offers, if each caller has credentials of its own. Without it: the owner's. */
  readonly listerOf?: (config: ServerConfig) => Promise<string>;
  readonly watchdog: Watchdog;
  readonly eras: EraMemory;
  readonly instance: string;
  /** Without it every server starts at once. */
  readonly startLimiter?: StartLimiter;
  /** Without it a server on demand is started once at the hub's start. */
  readonly listings?: ListingCache;
  /** Without it npm packages are left to npx. */
  readonly packages?: Packages;
  readonly redactor: Redactor;
  /** Without it, everything counts as approved. */
  readonly approvals?: ServerApprovals;
  /** Bounds the instances of all servers together. */
  readonly instancePool?: InstancePool;
  /** Set if the servers belong to a program without a hub. */
  readonly client?: SoleClient;
  /** Resolves the names of remote servers. */
  readonly lookup?: LookupFunction;
  /** Credentials by OAuth. Without it the headers of the entry are all that there is. */
  readonly authorizationFor?: (
    config: ServerConfig,
    url: URL,
    options?: { readonly isTrial?: boolean; readonly principal?: string },
  ) => Authorization | undefined;
}
