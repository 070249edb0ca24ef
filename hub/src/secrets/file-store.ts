// Secrets as encrypted files, one each, in a folder that only the owner can enter. No text from a user is ever part of a
// file name. The encryption is left to record.ts, the key to key.ts.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { removeStaleTemps, writeFileAtomic } from "../atomic.ts";
import { HubError } from "../errors.ts";
import { resolveKey } from "./key.ts";
import { listPrivateFolder, makePrivateFolder, readPrivateFile, removeFile } from "./private-file.ts";
import { keyIdOf, openRecord, parseRecord, sealRecord } from "./record.ts";
import type { SecretRecord } from "./record.ts";
import { requireSecret } from "./rules.ts";
import type { SecretStore } from "./store.ts";

const FILE_NAME = /^mcp_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.key$/;

interface SecretFile {
  readonly path: string;
  readonly uuid: string;
  /** Undefined where the file is damaged. */
  readonly record: SecretRecord | undefined;
}

/**
 * The encrypted file adapter of SecretStore.
 *
 * @example const secrets = new FileSecrets(paths.data, { key: process.env.PLUGBOARD_SECRET_KEY });
 */
export class FileSecrets implements SecretStore {
  readonly #folder: string;
  readonly #given: string | undefined;
  #key: Promise<Buffer | undefined> | undefined;
  /** The last change; the next one waits for it, so that two never make two files for one name. */
  #changes: Promise<unknown> = Promise.resolve();

  constructor(dataDir: string, { key }: { key?: string | undefined } = {}) {
    this.#folder = join(dataDir, "secrets");
    this.#given = key || undefined;
  }

  async get(name: string): Promise<string | undefined> {
    const files = await this.#files();
    const named = files.filter(({ record }) => record?.name === name);
    if (named.length === 0) return this.#missing(name, files);
    const key = await this.#resolveKey({ create: false });
    if (key === undefined) throw keyIsMissing(this.#folder);
    // A damaged name may have become this one: the file that opens is the one that is meant.
    for (const { uuid, record } of named) {
      const value = record === undefined ? undefined : openRecord(uuid, record, key);
      if (value !== undefined) return value;
    }
    const path = named.find(({ record }) => record?.keyId === keyIdOf(key))?.path;
    throw path === undefined ? sealedByAnother(name) : damaged(name, path);
  }

  async set(name: string, value: string): Promise<void> {
    requireSecret(name, value);
    await this.#change(async () => {
      await makePrivateFolder(this.#folder);
      await removeStaleTemps(this.#folder);
      const files = await this.#files();
      const key = await this.#resolveKey({ create: files.length === 0 || this.#given !== undefined });
      if (key === undefined) throw keyIsMissing(this.#folder);
      const uuid = files.find(({ record }) => record?.name === name)?.uuid ?? randomUUID();
      const path = join(this.#folder, `mcp_${uuid}.key`);
      await writeFileAtomic(path, sealRecord(uuid, { name, value, key }), { mode: 0o600 });
    });
  }

  async delete(name: string): Promise<boolean> {
    return this.#change(async () => {
      const files = (await this.#files()).filter(({ record }) => record?.name === name);
      for (const { path } of files) await removeFile(path);
      return files.length > 0;
    });
  }

  async list(): Promise<string[]> {
    const names = (await this.#files()).flatMap(({ record }) => (record === undefined ? [] : [record.name]));
    return [...new Set(names)].toSorted();
  }

  /** Read anew each time: another process may have changed them, and there are few. */
  async #files(): Promise<SecretFile[]> {
    const files: SecretFile[] = [];
    for (const fileName of await listPrivateFolder(this.#folder)) {
      const uuid = FILE_NAME.exec(fileName)?.[1];
      if (uuid === undefined) continue;
      const path = join(this.#folder, fileName);
      const text = await readPrivateFile(path);
      // Deleted since the folder was read.
      if (text !== undefined) files.push({ path, uuid, record: parseRecord(text) });
    }
    return files;
  }

  /** No file has this name; but one whose name is damaged may be meant, and then silence would mislead. */
  async #missing(name: string, files: readonly SecretFile[]): Promise<undefined> {
    for (const { path, uuid, record } of files) {
      if (record === undefined) throw damaged(name, path);
      const key = await this.#resolveKey({ create: false });
      const isOurs = key !== undefined && record.keyId === keyIdOf(key);
      if (isOurs && openRecord(uuid, record, key) === undefined) throw damaged(name, path);
    }
    return undefined;
  }

  /** Kept once found: a passphrase takes a while to turn into a key. */
  async #resolveKey({ create }: { create: boolean }): Promise<Buffer | undefined> {
    this.#key ??= resolveKey(this.#folder, { given: this.#given, create });
    try {
      const key = await this.#key;
      if (key === undefined) this.#key = undefined;
      return key;
    } catch (error) {
      // A mistake that the user can repair while the hub runs.
      this.#key = undefined;
      throw error;
    }
  }

  async #change<T>(change: () => Promise<T>): Promise<T> {
    const next = this.#changes.then(change);
    // A failed change is its caller's to hear of, not the next one's.
    this.#changes = next.catch(() => undefined);
    return next;
  }
}

function damaged(name: string, path: string): HubError {
  return new HubError("DatabaseError", `Secret ${JSON.stringify(name)} cannot be decrypted: a file is damaged`, {
    detail: path,
    hint: "Restore the file from a backup, or delete it and set the secret again",
  });
}

function sealedByAnother(name: string): HubError {
  return new HubError("InvalidConfig", `Secret ${JSON.stringify(name)} was encrypted with another key`, {
    hint: "Give the hub the key it was set with (PLUGBOARD_SECRET_KEY, or master.key), or set the secret again",
  });
}

function keyIsMissing(folder: string): HubError {
  return new HubError("InvalidConfig", `The key of the secrets in ${folder} is missing`, {
    hint: "Give PLUGBOARD_SECRET_KEY as before, or restore master.key from a backup",
  });
}
