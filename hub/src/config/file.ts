// The config in two files that people read, edit and version: mcp_server.json and group.json. Edits through the hub land
// in the same files and keep everything that the person wrote. Noticing other people's edits is left to the hub.

import { dirname, join } from "node:path";
import { removeStaleTemps, resolveLinks, writeFileAtomic } from "../atomic.ts";
import { addServer, removeServer, replaceServer } from "./changes.ts";
import {
  GROUP_FILE,
  SERVER_FILE,
  findWarnings,
  parseGroupDocument,
  parseServerDocument,
  toServers,
} from "./documents.ts";
import { normalizeServer } from "./normalize.ts";
import type { ConfigStore, LoadedConfig } from "./store.ts";
import { readTextFile } from "./text-file.ts";
import type { ServerConfig } from "./types.ts";

/** Entries may hold credentials, so a new file is for its owner alone; an existing one keeps its mode. */
const NEW_FILE_MODE = 0o600;

/**
 * The file adapter of ConfigStore.
 *
 * @example const { config } = await new ConfigFiles(hubPaths(surroundings).config).load();
 */
export class ConfigFiles implements ConfigStore {
  readonly #serverPath: string;
  readonly #groupPath: string;
  /** The last edit; the next one waits for it, whatever became of it. */
  #edits: Promise<unknown> = Promise.resolve();

  constructor(dir: string) {
    this.#serverPath = join(dir, SERVER_FILE);
    this.#groupPath = join(dir, GROUP_FILE);
  }

  async load(): Promise<LoadedConfig> {
    await this.#clean();
    const [serverFile, groupFile] = await Promise.all([readTextFile(this.#serverPath), readTextFile(this.#groupPath)]);
    const document = parseServerDocument(serverFile?.text ?? "");
    const servers = toServers(document);
    const groups = parseGroupDocument(groupFile?.text ?? "");
    return {
      config: { servers, groups },
      present: { servers: serverFile !== undefined, groups: groupFile !== undefined },
      warnings: [...document.warnings, ...findWarnings(servers)],
    };
  }

  async createServer(entry: unknown): Promise<ServerConfig> {
    const server = normalizeServer(undefined, entry);
    await this.#edit((text) => addServer(text, server, entry));
    return server;
  }

  async updateServer(name: string, entry: unknown): Promise<ServerConfig> {
    const server = normalizeServer(name, entry);
    await this.#edit((text) => replaceServer(text, name, { server, entry }));
    return server;
  }

  async deleteServer(name: string): Promise<void> {
    await this.#edit((text) => removeServer(text, name));
  }

  /** One edit after the other; a failed one is its caller's to hear of, not the next one's. */
  async #edit(change: (text: string) => string): Promise<void> {
    const edit = this.#editAfter(this.#edits, change);
    this.#edits = edit.catch(() => undefined);
    await edit;
  }

  async #editAfter(previous: Promise<unknown>, change: (text: string) => string): Promise<void> {
    await previous;
    // What the file says now: a person may have saved it in the meantime.
    const file = await readTextFile(this.#serverPath);
    const text = change(file?.text ?? "");
    await writeFileAtomic(this.#serverPath, (file?.mark ?? "") + text, { mode: file?.mode ?? NEW_FILE_MODE });
  }

  /** Removes what killed writers left. A folder that cannot be cleaned must not keep the config from loading. */
  async #clean(): Promise<void> {
    for (const path of [this.#serverPath, this.#groupPath]) {
      await resolveLinks(path)
        .then((target) => removeStaleTemps(dirname(target)))
        .catch(() => undefined);
    }
  }
}
