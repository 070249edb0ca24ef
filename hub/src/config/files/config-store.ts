// The port for storing the config. Adapters: config-files.ts and memory-store.ts.

import type { JsonObject } from "../parse/plain-object.ts";
import type { CallLogPatch } from "../schema/call-log.ts";
import type { GroupConfig, HubConfig, ServerConfig } from "../schema/types.ts";

export interface LoadedConfig {
  /** Changes with the stored config. An edit can require a revision. */
  readonly revision: string;
  readonly config: HubConfig;
  /** Which of the two parts exist. A new installation has neither. Settings of the hub alone do not count as servers. */
  readonly present: { readonly servers: boolean; readonly groups: boolean };
  /** Empty files. Allowed at start; on reload, an empty file is a save that is still in progress. */
  readonly emptyFiles?: readonly string[];
  /** Settings that are valid but probably not intended. */
  readonly warnings: readonly string[];
}

export interface EditOptions {
  /** Throws Conflict if the config has changed since this revision. */
  readonly ifRevision?: string;
  /** The API request that makes the change, for its event. */
  readonly requestId?: string | undefined;
}

/** The files by their names without the extension. */
export type ConfigFileName = "mcp_server" | "group";

/** The texts as stored, with comments; empty where there is no file. */
export interface StoredTexts extends Readonly<Record<ConfigFileName, string>> {
  readonly revision: string;
}

/** Methods throw HubError. A change is saved completely or not at all. */
export interface ConfigStore {
  load(): Promise<LoadedConfig>;
  /** Adds a server in either spelling. The entry has a `name`. */
  createServer(entry: unknown, options?: EditOptions): Promise<ServerConfig>;
  /** Replaces the entry of a server. A different `name` renames the server. Unknown → ServerNotFound. */
  updateServer(name: string, entry: unknown, options?: EditOptions): Promise<ServerConfig>;
  /** Unknown → ServerNotFound. */
  deleteServer(name: string, options?: EditOptions): Promise<void>;
  /** The entry of a server as written. Unknown → ServerNotFound. */
  readEntry(name: string): Promise<JsonObject>;
  /** Adds or replaces a group. */
  setGroup(name: string, entry: unknown, options?: EditOptions): Promise<GroupConfig>;
  /** Unknown → GroupNotFound. */
  deleteGroup(name: string, options?: EditOptions): Promise<void>;
  setCallLog(patch: CallLogPatch, options?: EditOptions): Promise<void>;
  readTexts(): Promise<StoredTexts>;
  /** Replaces a whole text, which must be valid JSON. */
  replaceText(file: ConfigFileName, text: string, options?: EditOptions): Promise<void>;
  /** Calls `onChange` when someone else has changed the config. Returns how to stop that. */
  watch(onChange: () => void): Promise<() => void>;
}
