// Rotates the key of a secrets folder. The new key is stored beside the old one until every secret is encrypted with it, so
// that a kill at any time leaves every secret readable.

import { stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "../lib/files/atomic.ts";
import { withLock } from "../lib/files/lock.ts";
import { beginKeyChange, endKeyChange, isKeyChanging, KEY_FILE, resolveKeys, type Keys } from "./key.ts";
import { keyIdOf, openWithAny, sealRecord } from "./record.ts";
import { readSealedFiles, readSecretFile, removeTempFiles, type SecretFile } from "./secret-files.ts";
import { damagedSecret, missingKey, wrongKey } from "./unreadable.ts";

/** Runs an edit while holding the lock for changes. */
export type WithChangeLock = <T>(edit: () => Promise<T>) => Promise<T>;

/** Returns the number of secrets. Throws Locked if another rotation is running. */
export async function rotateKey(folder: string, change: WithChangeLock): Promise<number> {
  if ((await resolveKeys(folder)) === undefined && (await readSealedFiles(folder)).length === 0) return 0;
  const rotate = async () => {
    await removeTempFiles(folder);
    // Check all secrets first: an unreadable one would make it impossible to finish the rotation.
    const keys = await requireKeys(folder);
    for (const file of await readSealedFiles(folder)) open(file, keys);
    // Finish a rotation that was killed. Its key is older than this command, so another rotation follows.
    if (await isKeyChanging(folder)) await finish(folder, change);
    await change(() => beginKeyChange(folder));
    return finish(folder, change);
  };
  return withLock(join(folder, KEY_FILE), rotate, { waitMs: 0 });
}

async function finish(folder: string, change: WithChangeLock): Promise<number> {
  for (;;) {
    // Hold the lock for one secret at a time, so that other changes do not wait for all.
    for (const file of await readSealedFiles(folder)) await change(() => reencrypt(folder, file));
    const count = await change(() => endIfComplete(folder));
    if (count !== undefined) return count;
  }
}

/** Encrypts one secret with the new key, unless it is already, or was deleted. */
async function reencrypt(folder: string, { uuid, kind }: SecretFile): Promise<void> {
  const [keys, file] = [await requireKeys(folder), await readSecretFile(folder, uuid, kind)];
  if (file === undefined || file.record?.keyId === keyIdOf(keys.sealing)) return;
  const { name, value } = open(file, keys);
  // The time of the file is the time at which the secret was set.
  const { atime, mtime } = await stat(file.path);
  await writeFileAtomic(file.path, sealRecord(uuid, { name, value, key: keys.sealing }), { mode: 0o600 });
  await utimes(file.path, atime, mtime);
}

/** Undefined if a secret still needs the old key, because another process has set it in the meantime. */
async function endIfComplete(folder: string): Promise<number | undefined> {
  const [keys, files] = [await requireKeys(folder), await readSealedFiles(folder)];
  if (files.some(({ record }) => record?.keyId !== keyIdOf(keys.sealing))) return undefined;
  await endKeyChange(folder);
  return files.filter(({ kind }) => kind !== "oauth").length;
}

async function requireKeys(folder: string): Promise<Keys> {
  const keys = await resolveKeys(folder);
  if (keys === undefined) throw missingKey(folder);
  return keys;
}

function open({ uuid, path, record }: SecretFile, { opening }: Keys): { name: string; value: string } {
  if (record === undefined) throw damagedSecret(undefined, path);
  const { name, keyId } = record;
  const value = openWithAny(uuid, record, opening);
  if (value !== undefined) return { name, value };
  throw opening.some((key) => keyIdOf(key) === keyId) ? damagedSecret(name, path) : wrongKey(name);
}
