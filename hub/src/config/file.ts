// The config in two files that people read, edit and version: mcp_server.json and group.json. Edits through the hub land
// in the same files and keep everything that the person wrote. Noticing other people's edits is left to the hub.

import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { removeStaleTemps, resolveLinks, writeFileAtomic } from "../atomic.ts";
import { HubError } from "../errors.ts";
import { removeAbandonedLock, withLock } from "../lock.ts";
import { addServer, findEntry, removeServer, replaceServer } from "./changes.ts";
import { holdsCredentials } from "./credentials.ts";
import { GROUP_FILE, SERVER_FILE, parseServerDocument, toConfig, toServers } from "./documents.ts";
import { removeGroup, setGroup } from "./group-changes.ts";
import { normalizeServer } from "./normalize.ts";
import type { JsonObject } from "./plain.ts";
import type { ConfigStore, EditOptions, LoadedConfig } from "./store.ts";
import { readTextFile } from "./text-file.ts";
import type { GroupConfig, ServerConfig } from "./types.ts";
import { findWarnings } from "./warnings.ts";

/** Entries may hold credentials, so a new file is for its owner alone, and so is an old one that does; others keep their mode. */
const NEW_FILE_MODE = 0o600;
const OTHERS = 0o077;

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
    const document = parseServerDocument(serverFile?.text ?? "", this.#serverPath);
    const config = toConfig(document, groupFile?.text ?? "", this.#groupPath);
    const blank = [
      ...(serverFile?.text.trim() === "" ? [SERVER_FILE] : []),
      ...(groupFile?.text.trim() === "" ? [GROUP_FILE] : []),
    ];
    return {
      revision: revisionOf(serverFile?.text, groupFile?.text),
      config,
      present: { servers: serverFile !== undefined, groups: groupFile !== undefined },
      blank,
      warnings: [
        ...blank.map(emptied),
        ...openToOthers(this.#serverPath, serverFile?.mode ?? 0, config.servers),
        ...document.warnings,
        ...findWarnings(config),
      ],
    };
  }

  async readEntry(name: string): Promise<JsonObject> {
    const file = await readTextFile(this.#serverPath);
    return findEntry(file?.text ?? "", name);
  }

  async createServer(entry: unknown, options: EditOptions = {}): Promise<ServerConfig> {
    const server = normalizeServer(undefined, entry);
    await this.#edit(this.#serverPath, options, (text) => addServer(text, server, entry));
    return server;
  }

  async updateServer(name: string, entry: unknown, options: EditOptions = {}): Promise<ServerConfig> {
    const server = normalizeServer(name, entry);
    await this.#edit(this.#serverPath, options, (text) => replaceServer(text, name, { server, entry }));
    return server;
  }

  async deleteServer(name: string, options: EditOptions = {}): Promise<void> {
    await this.#edit(this.#serverPath, options, (text) => removeServer(text, name));
  }

  async setGroup(name: string, entry: unknown, options: EditOptions = {}): Promise<GroupConfig> {
    const { group } = setGroup("", name, entry);
    await this.#edit(this.#groupPath, options, (text) => setGroup(text, name, entry).text);
    return group;
  }

  async deleteGroup(name: string, options: EditOptions = {}): Promise<void> {
    await this.#edit(this.#groupPath, options, (text) => removeGroup(text, name));
  }

  /** One edit after the other; a failed one is its caller's to hear of, not the next one's. */
  async #edit(path: string, options: EditOptions, change: (text: string) => string): Promise<void> {
    const previous = this.#edits;
    const edit = previous.then(() => withLock(path, () => this.#editNow(path, options, change)));
    this.#edits = edit.catch(() => undefined);
    await edit;
  }

  async #editNow(path: string, { ifRevision }: EditOptions, change: (text: string) => string): Promise<void> {
    if (ifRevision !== undefined && ifRevision !== (await this.#revision())) {
      throw new HubError("StaleConfig", "The config has changed since you read it", {
        hint: "Read it again and retry",
      });
    }
    // What the file says now: a person may have saved it in the meantime.
    const file = await readTextFile(path);
    const text = change(file?.text ?? "");
    const mode = file?.mode ?? NEW_FILE_MODE;
    const isPrivate = path === this.#serverPath && holdersIn(toServers(parseServerDocument(text))).length > 0;
    await writeFileAtomic(path, (file?.mark ?? "") + text, { mode: isPrivate ? mode & ~OTHERS : mode });
  }

  async #revision(): Promise<string> {
    const [servers, groups] = await Promise.all([readTextFile(this.#serverPath), readTextFile(this.#groupPath)]);
    return revisionOf(servers?.text, groups?.text);
  }

  /** Removes what killed writers left. A folder that cannot be cleaned must not keep the config from loading. */
  async #clean(): Promise<void> {
    for (const path of [this.#serverPath, this.#groupPath]) {
      await removeAbandonedLock(path);
      await resolveLinks(path)
        .then((target) => removeStaleTemps(dirname(target)))
        .catch(() => undefined);
    }
  }
}

/** Somebody's servers may have stood there: a file that never held anything would not be there. */
function emptied(file: string): string {
  return `${file} is empty, so it declares nothing. If that is meant, write {}; if not, take it from a backup`;
}

function openToOthers(path: string, mode: number, servers: readonly ServerConfig[]): string[] {
  const holders = (mode & OTHERS) === 0 || process.platform === "win32" ? [] : holdersIn(servers);
  if (holders.length === 0) return [];
  return [`${path} holds credentials (${holders.join(", ")}) and can be read by other users: chmod 600 '${path}'`];
}

/** Those that have a credential in the file as plain text. */
function holdersIn(servers: readonly ServerConfig[]): string[] {
  return servers.filter((server) => server.invalid === undefined && holdsCredentials(server)).map(({ name }) => name);
}

function revisionOf(servers: string | undefined, groups: string | undefined): string {
  return createHash("sha256")
    .update(JSON.stringify([servers ?? null, groups ?? null]))
    .digest("hex")
    .slice(0, 16);
}
