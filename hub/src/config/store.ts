// The port behind which the config is kept. On one machine it is files (file.ts).

import type { JsonObject } from "./plain.ts";
import type { GroupConfig, HubConfig, ServerConfig } from "./types.ts";

export interface LoadedConfig {
  /** Changes with every change of what is stored; an edit can demand that it is still the same. */
  readonly revision: string;
  readonly config: HubConfig;
  /** Which of the two parts exist at all: a hub without either has just been installed. */
  readonly present: { readonly servers: boolean; readonly groups: boolean };
  /** Files without a single character. Fine for a new hub; while one runs, it is a save that has only begun. */
  readonly blank?: readonly string[];
  /** What works, but is probably not meant. */
  readonly warnings: readonly string[];
}

export interface EditOptions {
  /** Only if nothing has been stored since this revision; otherwise StaleConfig. */
  readonly ifRevision?: string;
}

/** Every method throws a HubError; a change is either saved whole or not at all. */
export interface ConfigStore {
  load(): Promise<LoadedConfig>;
  /** Adds a server, in either spelling, named by its `name`. */
  createServer(entry: unknown, options?: EditOptions): Promise<ServerConfig>;
  /** Replaces a server's entry; another `name` in it renames the server. Unknown → ServerNotFound. */
  updateServer(name: string, entry: unknown, options?: EditOptions): Promise<ServerConfig>;
  /** Unknown → ServerNotFound. */
  deleteServer(name: string, options?: EditOptions): Promise<void>;
  /** The entry of a server as it is written. Unknown → ServerNotFound. */
  readEntry(name: string): Promise<JsonObject>;
  /** Adds a group or replaces it. */
  setGroup(name: string, entry: unknown, options?: EditOptions): Promise<GroupConfig>;
  /** Unknown → GroupNotFound. */
  deleteGroup(name: string, options?: EditOptions): Promise<void>;
}
