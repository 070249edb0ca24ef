// The config in two files that users edit: mcp_server.json and group.json. Edits through the hub change the same files and keep
// comments and layout. watch.ts notices edits by others.

import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "../../lib/files/atomic.ts";
import { removeStaleTemps, resolveLinks } from "@plugboard/shared/files/atomic";
import { HubError } from "../../errors.ts";
import { removeAbandonedLock, withLock } from "../../lib/files/lock.ts";
import { changeCallLog } from "../edit/call-log-changes.ts";
import { addServer, findEntry, removeServer, replaceServer } from "../edit/server-changes.ts";
import { holdsCredentials } from "../parse/credentials.ts";
import { GROUP_FILE, SERVER_FILE, parseServerDocument, toConfig, toServers } from "../parse/documents.ts";
import { removeGroup, setGroup } from "../edit/group-changes.ts";
import { normalizeServer } from "../parse/normalize.ts";
import type { JsonObject } from "../parse/plain-object.ts";
import type { ConfigFileName, ConfigStore, EditOptions, LoadedConfig, StoredTexts } from "./config-store.ts";
import { readTextFile } from "./text-file.ts";
import { FolderWatch } from "./watch.ts";
import type { CallLogPatch } from "../schema/call-log.ts";
import type { GroupConfig, ServerConfig } from "../schema/types.ts";
import { findWarnings } from "../parse/warnings.ts";

/** Entries may hold credentials, so new files and files with credentials are private. Other files keep their mode. */
const NEW_FILE_MODE = 0o600;
const GROUP_AND_OTHERS = 0o077;

/**
 * ConfigStore on files.
 *
 * @example const { config } = await new ConfigFiles(hubPaths(platform).config).load();
 */
export class ConfigFiles implements ConfigStore {
  readonly #folder: string;
  readonly #serverPath: string;
  readonly #groupPath: string;
  /** The last edit. The next one waits until it has settled. */
  #edits: Promise<unknown> = Promise.resolve();

  constructor(dir: string) {
    this.#folder = dir;
    this.#serverPath = join(dir, SERVER_FILE);
    this.#groupPath = join(dir, GROUP_FILE);
  }

  async load(): Promise<LoadedConfig> {
    await this.#clean();
    const [serverFile, groupFile] = await Promise.all([readTextFile(this.#serverPath), readTextFile(this.#groupPath)]);
    const document = parseServerDocument(serverFile?.text ?? "", this.#serverPath);
    const config = toConfig(document, groupFile?.text ?? "", this.#groupPath);
    const emptyFiles = [
      ...(serverFile?.text.trim() === "" ? [SERVER_FILE] : []),
      ...(groupFile?.text.trim() === "" ? [GROUP_FILE] : []),
    ];
    return {
      revision: revisionOf(serverFile?.text, groupFile?.text),
      config,
      present: {
        servers: serverFile !== undefined && document.hasOnlySettings !== true,
        groups: groupFile !== undefined,
      },
      emptyFiles,
      warnings: [
        ...emptyFiles.map(emptyFileWarning),
        ...permissionWarnings(this.#serverPath, serverFile?.mode ?? 0, config.servers),
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

  async setCallLog(patch: CallLogPatch, options: EditOptions = {}): Promise<void> {
    await this.#edit(this.#serverPath, options, (text) => changeCallLog(text, patch));
  }

  async readTexts(): Promise<StoredTexts> {
    const [servers, groups] = await Promise.all([readTextFile(this.#serverPath), readTextFile(this.#groupPath)]);
    return {
      mcp_server: servers?.text ?? "",
      group: groups?.text ?? "",
      revision: revisionOf(servers?.text, groups?.text),
    };
  }

  async replaceText(file: ConfigFileName, text: string, options: EditOptions = {}): Promise<void> {
    await this.#edit(file === "group" ? this.#groupPath : this.#serverPath, options, () => text);
  }

  async watch(onChange: () => void): Promise<() => void> {
    const watch = await FolderWatch.open(this.#folder, [SERVER_FILE, GROUP_FILE], onChange);
    return () => watch.close();
  }

  /** Serializes edits. A failed edit rejects only for its caller. */
  async #edit(path: string, options: EditOptions, change: (text: string) => string): Promise<void> {
    const previous = this.#edits;
    const edit = previous.then(() => withLock(path, () => this.#editNow(path, options, change)));
    this.#edits = edit.catch(() => undefined);
    await edit;
  }

  async #editNow(path: string, { ifRevision }: EditOptions, change: (text: string) => string): Promise<void> {
    if (ifRevision !== undefined && ifRevision !== (await this.readTexts()).revision) {
      throw new HubError("Conflict", "The config has changed since you read it", {
        hint: "Read it again and retry",
      });
    }
    // Read again: a user may have saved the file in the meantime.
    const file = await readTextFile(path);
    const text = change(file?.text ?? "");
    const mode = file?.mode ?? NEW_FILE_MODE;
    const isPrivate =
      path === this.#serverPath && serversWithCredentials(toServers(parseServerDocument(text))).length > 0;
    await writeFileAtomic(path, (file?.byteOrderMark ?? "") + text, {
      mode: isPrivate ? mode & ~GROUP_AND_OTHERS : mode,
    });
  }

  /** Removes temp files of killed writers. Errors are ignored, so that they do not prevent loading. */
  async #clean(): Promise<void> {
    for (const path of [this.#serverPath, this.#groupPath]) {
      await removeAbandonedLock(path);
      await resolveLinks(path)
        .then((target) => removeStaleTemps(dirname(target)))
        .catch(() => undefined);
    }
  }
}

/** An existing empty file is suspicious: it may have lost its content. */
function emptyFileWarning(file: string): string {
  return `${file} is empty. If that is intended, write {}; if not, restore it from a backup`;
}

function permissionWarnings(path: string, mode: number, servers: readonly ServerConfig[]): string[] {
  const withCredentials =
    (mode & GROUP_AND_OTHERS) === 0 || process.platform === "win32" ? [] : serversWithCredentials(servers);
  if (withCredentials.length === 0) return [];
  return [
    `${path} contains credentials (${withCredentials.join(", ")}) and can be read by other users. Run chmod 600 '${path}'`,
  ];
}

/** Servers that have credentials in plain text. */
function serversWithCredentials(servers: readonly ServerConfig[]): string[] {
  return servers.filter((server) => server.invalid === undefined && holdsCredentials(server)).map(({ name }) => name);
}

function revisionOf(servers: string | undefined, groups: string | undefined): string {
  return createHash("sha256")
    .update(JSON.stringify([servers ?? null, groups ?? null]))
    .digest("hex")
    .slice(0, 16);
}
