// Stores secrets as encrypted files, one per secret, in a folder that only the owner can enter. secret-files.ts reads the
// files, record.ts encrypts them, key.ts provides the key.

import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "../lib/files/atomic.ts";
import { HubError } from "../errors.ts";
import { withLock } from "../lib/files/lock.ts";
import type { Keys } from "./key.ts";
import { KeyRing } from "./key-ring.ts";
import { makePrivateFolder, removeFile } from "../lib/files/private-file.ts";
import { keyIdOf, openWithAny, sealRecord } from "./record.ts";
import { rotateKey } from "./rotation.ts";
import { requireSecret } from "./rules.ts";
import {
  readSealedFiles,
  readSecretFiles,
  removeTempFiles,
  secretPath,
  type SecretFile,
  type SecretKind,
} from "./secret-files.ts";
import type { SecretStore } from "./store.ts";
import { damagedSecret, missingKey, wrongKey } from "./unreadable.ts";

/** Limits the retries of a read that overlaps a key rotation in another process. */
const MAX_READS = 10;
/** Exceeds the timestamp granularity of common file systems. */
const SETTLED_MS = 2000;

/**
 * SecretStore on encrypted files.
 *
 * @example const secrets = new FileSecrets(paths.data, { key: process.env.PLUGBOARD_SECRET_KEY });
 */
export class FileSecrets implements SecretStore {
  readonly #folder: string;
  readonly #kind: SecretKind;
  readonly #keys: KeyRing;
  /** The last queued change. Changes run one at a time, so that two never create two files for one name. */
  #changes: Promise<unknown> = Promise.resolve();
  #failures = 0;
  /** Cached result of `values`, valid until a file of the folder is added, replaced or removed. */
  #cachedValues: { readonly changedAt: bigint; readonly values: readonly string[] } | undefined;

  constructor(
    dataDir: string,
    { key, kind = "key" }: { readonly key?: string | undefined; readonly kind?: SecretKind } = {},
  ) {
    this.#folder = join(dataDir, "secrets");
    this.#kind = kind;
    this.#keys = new KeyRing(this.#folder, key);
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
    for (let attempt = 1, files = await readSecretFiles(this.#folder, this.#kind); ; attempt++) {
      try {
        return await this.#find(name, files);
      } catch (error) {
        const now = await readSecretFiles(this.#folder, this.#kind);
        // If the files differ now, another process rotated the key during the read: the old files need the old key.
        if (attempt === MAX_READS || isSame(files, now)) throw error;
        files = now;
      }
    }
  }

  async set(name: string, value: string): Promise<void> {
    requireSecret(name, value);
    await this.#enqueue(async () => {
      await makePrivateFolder(this.#folder);
      await withLock(this.#folder, () => this.#write(name, value));
    });
  }

  async delete(name: string): Promise<boolean> {
    return this.#enqueue(async () => {
      // An unknown name needs no lock and creates no folder.
      if (!(await this.list()).includes(name)) return false;
      return withLock(this.#folder, () => this.#remove(name));
    });
  }

  async list(): Promise<string[]> {
    const files = await readSecretFiles(this.#folder, this.#kind);
    const names = files.flatMap(({ record }) => (record === undefined ? [] : [record.name]));
    return [...new Set(names)].toSorted();
  }

  /** A file is written when its secret is set; a new key keeps the time of the file. */
  async times(): Promise<ReadonlyMap<string, number>> {
    const files = await readSecretFiles(this.#folder, this.#kind);
    const times = await Promise.all(
      files.map(async ({ path, record }): Promise<[string, number][]> => {
        const info = await stat(path).catch(() => undefined); // deleted meanwhile
        return record === undefined || info === undefined ? [] : [[record.name, Math.round(info.mtimeMs)]];
      }),
    );
    return new Map(times.flat());
  }

  async values(): Promise<readonly string[]> {
    // Each write renames a file into the folder and so changes its mtime; an unchanged mtime saves decrypting every file.
    const changedAt = (await stat(this.#folder, { bigint: true }).catch(() => undefined))?.mtimeNs;
    if (changedAt === undefined) return [];
    if (this.#cachedValues?.changedAt === changedAt) return this.#cachedValues.values;
    const values = await this.#openAll();
    // A second change within the clock's granularity would leave the mtime as it is, so a recent mtime is not cached.
    const isSettled = Date.now() - Number(changedAt / 1_000_000n) > SETTLED_MS;
    this.#cachedValues = isSettled ? { changedAt, values } : undefined;
    return values;
  }

  async rotateKey(): Promise<number> {
    if (!this.#keys.isConfigured)
      return rotateKey(this.#folder, (edit) => this.#enqueue(() => withLock(this.#folder, edit)));
    throw new HubError("InvalidConfig", "The key is set in PLUGBOARD_SECRET_KEY and cannot be rotated by the hub", {
      field: "PLUGBOARD_SECRET_KEY",
      hint: "Start the hub with a new PLUGBOARD_SECRET_KEY and set each secret again: plugboard secret set NAME",
    });
  }

  async #write(name: string, value: string): Promise<void> {
    await removeTempFiles(this.#folder);
    const files = await readSecretFiles(this.#folder, this.#kind);
    const isFirst = (await readSealedFiles(this.#folder)).length === 0;
    const keys = await this.#keys.resolve({ create: true, isFirst });
    if (keys === undefined) throw missingKey(this.#folder);
    const uuid = files.find(({ record }) => record?.name === name)?.uuid ?? randomUUID();
    const text = sealRecord(uuid, { name, value, key: keys.sealing });
    await writeFileAtomic(secretPath(this.#folder, uuid, this.#kind), text, { mode: 0o600 });
  }

  async #remove(name: string): Promise<boolean> {
    const files = (await readSecretFiles(this.#folder, this.#kind)).filter(({ record }) => record?.name === name);
    for (const { path } of files) await removeFile(path);
    return files.length > 0;
  }

  /** Omits secrets that cannot be decrypted; `get` reports the reason. */
  async #openAll(): Promise<readonly string[]> {
    const files = await readSecretFiles(this.#folder, this.#kind);
    const keys = files.length === 0 ? undefined : await this.#keys.resolve();
    if (keys === undefined) return [];
    return files.flatMap(({ uuid, record }) => {
      const value = record === undefined ? undefined : openWithAny(uuid, record, keys.opening);
      return value === undefined ? [] : [value];
    });
  }

  async #find(name: string, files: readonly SecretFile[]): Promise<string | undefined> {
    const named = files.filter(({ record }) => record?.name === name);
    if (named.length === 0) return this.#missing(name, files);
    const keys = await this.#keys.resolve();
    if (keys === undefined) throw missingKey(this.#folder);
    // A file with a damaged name may match by accident; only the right file decrypts.
    for (const { uuid, record } of named) {
      const value = record === undefined ? undefined : openWithAny(uuid, record, keys.opening);
      if (value !== undefined) return value;
    }
    const path = named.find(({ record }) => isOf(keys, record?.keyId))?.path;
    throw path === undefined ? wrongKey(name) : damagedSecret(name, path);
  }

  /** No file has this name. A file with a damaged name may be the requested one, so it is an error and not `undefined`. */
  async #missing(name: string, files: readonly SecretFile[]): Promise<undefined> {
    for (const { path, uuid, record } of files) {
      if (record === undefined) throw damagedSecret(name, path);
      const keys = await this.#keys.resolve();
      const hasOurKey = keys !== undefined && isOf(keys, record.keyId);
      if (hasOurKey && openWithAny(uuid, record, keys.opening) === undefined) throw damagedSecret(name, path);
    }
    return undefined;
  }

  /** Runs changes one at a time, in call order. The lock excludes other processes. */
  async #enqueue<T>(change: () => Promise<T>): Promise<T> {
    const next = this.#changes.then(change);
    // A failed change rejects for its own caller only.
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

/** Each encryption has a unique tag. */
function tagsOf(files: readonly SecretFile[]): string {
  return files.map(({ uuid, record }) => `${uuid} ${record?.tag}`).join("\n");
}
