// The port behind which the config is kept. On one machine it is files (file.ts).

import type { HubConfig, ServerConfig } from "./types.ts";

export interface LoadedConfig {
  readonly config: HubConfig;
  /** Which of the two parts exist at all: a hub without either has just been installed. */
  readonly present: { readonly servers: boolean; readonly groups: boolean };
  /** What works, but is probably not meant. */
  readonly warnings: readonly string[];
}

/** Every method throws a HubError; a change is either saved whole or not at all. */
export interface ConfigStore {
  load(): Promise<LoadedConfig>;
  /** Adds a server, in either spelling, named by its `name`. */
  createServer(entry: unknown): Promise<ServerConfig>;
  /** Replaces a server's entry; another `name` in it renames the server. Unknown → ServerNotFound. */
  updateServer(name: string, entry: unknown): Promise<ServerConfig>;
  /** Unknown → ServerNotFound. */
  deleteServer(name: string): Promise<void>;
}
