// Secrets as encrypted files, one each, in a folder that only the owner can enter. The files are left to secret-files.ts,
// the encryption to record.ts, the key to key.ts.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { writeFileAtomic } from "../atomic.ts";
import { HubError } from "../errors.ts";
import { withLock } from "../lock.ts";
import { resolveKeys, type Keys } from "./key.ts";
import { makePrivateFolder, removeFile } from "./private-file.ts";
import { keyIdOf, openWithAny, sealRecord } from "./record.ts";
import { rotateKey } from "./rotation.ts";
import { requireSecret } from "./rules.ts";
import { readSecretFiles, removeLeftovers, secretPath, type SecretFile } from "./secret-files.ts";
import type { SecretStore } from "./store.ts";
import { damaged, keyIsMissing, sealedByAnother } from "./unreadable.ts";

/** More often than this, no reader meets a change of the key. */
const MAX_LOOKS = 10;

/**
 * The encrypted file adapter of SecretStore.
 *
 * @example const secrets = new FileSecrets(paths.data, { key: process.env.PLUGBOARD_SECRET_KEY });
 */
export class FileSecrets implements SecretStore {
  readonly #folder: string;
  readonly #given: string | undefined;
  #givenKeys: Promise<Keys | undefined> | undefined;
  /** The last change; the next one waits for it, so that two never make two files for one name. */
  #changes: Promise<unknown> = Promise.resolve();
  #failures = 0;

  constructor(dataDir: string, { key }: { key?: string | undefined } = {}) {
    this.#folder = join(dataDir, "secrets");
    this.#given = key || undefined;
  }

  get failures(): number {
    return this.#failures;
  }

  async get(name: string): Promise<string | undefined> {
    try {
      return await this.#get(name);
    } catch (error) {
      this.#failures++;
      throw error;
    }
  }

  async #get(name: string): Promise<string | undefined> {
    for (let looks = 1, files = await readSecretFiles(this.#folder); ; looks++) {
      try {
        return await this.#find(name, files);
      } catch (error) {
        const now = await readSecretFiles(this.#folder);
        // Read before another process changed the key, and so meant for the key that is gone.
        if (looks === MAX_LOOKS || isSame(files, now)) throw error;
        files = now;
      }
    }
  }

  async set(name: string, value: string): Promise<void> {
    requireSecret(name, value);
    await this.#inTurn(async () => {
      await makePrivateFolder(this.#folder);
      await withLock(this.#folder, () => this.#write(name, value));
    });
  }

  async delete(name: string): Promise<boolean> {
    return this.#inTurn(async () => {
      // Nobody waits, and nothing is made, for what is not there.
      if (!(await this.list()).includes(name)) return false;
      return withLock(this.#folder, () => this.#remove(name));
    });
  }

  async list(): Promise<string[]> {
    const files = await readSecretFiles(this.#folder);
    const names = files.flatMap(({ record }) => (record === undefined ? [] : [record.name]));
    return [...new Set(names)].toSorted();
  }

  async rotateKey(): Promise<number> {
    if (this.#given === undefined)
      return rotateKey(this.#folder, (edit) => this.#inTurn(() => withLock(this.#folder, edit)));
    throw new HubError(
      "InvalidConfig",
      "The key of the secrets is given by PLUGBOARD_SECRET_KEY: it is changed there",
      {
        field: "PLUGBOARD_SECRET_KEY",
        hint: "Start the hub with another PLUGBOARD_SECRET_KEY, and set each secret again: plugboard secret set NAME",
      },
    );
  }

  async #write(name: string, value: string): Promise<void> {
    await removeLeftovers(this.#folder);
    const files = await readSecretFiles(this.#folder);
    const keys = await this.#keys({ create: files.length === 0 || this.#given !== undefined });
    if (keys === undefined) throw keyIsMissing(this.#folder);
    const uuid = files.find(({ record }) => record?.name === name)?.uuid ?? randomUUID();
    const text = sealRecord(uuid, { name, value, key: keys.sealing });
    await writeFileAtomic(secretPath(this.#folder, uuid), text, { mode: 0o600 });
  }

  async #remove(name: string): Promise<boolean> {
    const files = (await readSecretFiles(this.#folder)).filter(({ record }) => record?.name === name);
    for (const { path } of files) await removeFile(path);
    return files.length > 0;
  }

  async #find(name: string, files: readonly SecretFile[]): Promise<string | undefined> {
    const named = files.filter(({ record }) => record?.name === name);
    if (named.length === 0) return this.#missing(name, files);
    const keys = await this.#keys();
    if (keys === undefined) throw keyIsMissing(this.#folder);
    // A damaged name may have become this one: the file that opens is the one that is meant.
    for (const { uuid, record } of named) {
      const value = record === undefined ? undefined : openWithAny(uuid, record, keys.opening);
      if (value !== undefined) return value;
    }
    const path = named.find(({ record }) => isOf(keys, record?.keyId))?.path;
    throw path === undefined ? sealedByAnother(name) : damaged(name, path);
  }

  /** No file has this name; but one whose name is damaged may be meant, and then silence would mislead. */
  async #missing(name: string, files: readonly SecretFile[]): Promise<undefined> {
    for (const { path, uuid, record } of files) {
      if (record === undefined) throw damaged(name, path);
      const keys = await this.#keys();
      const isOurs = keys !== undefined && isOf(keys, record.keyId);
      if (isOurs && openWithAny(uuid, record, keys.opening) === undefined) throw damaged(name, path);
    }
    return undefined;
  }

  /** Read anew each time, since another process may change it; a given one is kept: a passphrase takes a while. */
  async #keys({ create = false }: { create?: boolean } = {}): Promise<Keys | undefined> {
    if (this.#given === undefined) return resolveKeys(this.#folder, { create });
    this.#givenKeys ??= resolveKeys(this.#folder, { given: this.#given, create });
    try {
      const keys = await this.#givenKeys;
      if (keys === undefined) this.#givenKeys = undefined;
      return keys;
    } catch (error) {
      // A mistake that the user can repair while the hub runs.
      this.#givenKeys = undefined;
      throw error;
    }
  }

  /** In the order of the calls. Other processes are kept out by the lock. */
  async #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const next = this.#changes.then(change);
    // A failed change is its caller's to hear of, not the next one's.
    this.#changes = next.catch(() => undefined);
    return next;
  }
}

function isOf({ opening }: Keys, keyId: string | undefined): boolean {
  return opening.some((key) => keyIdOf(key) === keyId);
}

function isSame(before: readonly SecretFile[], now: readonly SecretFile[]): boolean {
  return tagsOf(before) === tagsOf(now);
}

/** Each encryption has a tag of its own. */
function tagsOf(files: readonly SecretFile[]): string {
  return files.map(({ uuid, record }) => `${uuid} ${record?.tag}`).join("\n");
}
