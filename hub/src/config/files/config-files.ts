// The config in two files that users edit: mcp_server.json and group.json. Edits through the hub change the same files and keep
// comments and layout. watch.ts notices edits by others.

import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "../../lib/files/atomic.ts";
import { removeStaleTemps, resolveLinks } from "@plugboard/shared/files/atomic";
import { removeAbandonedLock, withLock } from "../../lib/files/lock.ts";
import { holdsCredentials } from "../parse/credentials.ts";
import { GROUP_FILE, SERVER_FILE, parseServerDocument, toConfig, toServers } from "../parse/documents.ts";
import type { ConfigFileName, EditOptions, LoadedConfig, StoredTexts } from "./config-store.ts";
import { requireRevision, TextConfig } from "./text-config.ts";
import { readTextFile } from "./text-file.ts";
import { FolderWatch } from "./watch.ts";
import type { ServerConfig } from "../schema/types.ts";
import { findWarnings } from "../parse/warnings.ts";

/** Entries may hold credentials, so new files and files with credentials are private. Other files keep their mode. */
const NEW_FILE_MODE = 0o600;
const GROUP_AND_OTHERS = 0o077;

/**
 * ConfigStore on files.
 *
 * @example const { config } = await new ConfigFiles(hubPaths(platform).config).load();
 */
export class ConfigFiles extends TextConfig {
  readonly #folder: string;
  readonly #serverPath: string;
  readonly #groupPath: string;
  /** The last edit. The next one waits until it has settled. */
  #edits: Promise<unknown> = Promise.resolve();

  constructor(dir: string) {
    super();
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

  async readTexts(): Promise<StoredTexts> {
    const [servers, groups] = await Promise.all([readTextFile(this.#serverPath), readTextFile(this.#groupPath)]);
    return {
      mcp_server: servers?.text ?? "",
      group: groups?.text ?? "",
      revision: revisionOf(servers?.text, groups?.text),
    };
  }

  async watch(onChange: () => void): Promise<() => void> {
    const watch = await FolderWatch.open(this.#folder, (name) => name === SERVER_FILE || name === GROUP_FILE, onChange);
    return () => watch.close();
  }

  /** Serializes edits. A failed edit rejects only for its caller. */
  protected override async edit(
    file: ConfigFileName,
    options: EditOptions,
    change: (text: string) => string,
  ): Promise<void> {
    const path = file === "group" ? this.#groupPath : this.#serverPath;
    const previous = this.#edits;
    const edit = previous.then(() => withLock(path, () => this.#editNow(path, options, change)));
    this.#edits = edit.catch(() => undefined);
    await edit;
  }

  async #editNow(path: string, options: EditOptions, change: (text: string) => string): Promise<void> {
    if (options.ifRevision !== undefined) requireRevision(options, (await this.readTexts()).revision);
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
