// A new key for a folder of secrets: it stands beside the old one until every secret is encrypted with it, then takes its
// place. Whatever instant the process dies at, each secret is under one of the keys that are there.

import { join } from "node:path";
import { writeFileAtomic } from "../atomic.ts";
import { withLock } from "../lock.ts";
import { beginKeyChange, endKeyChange, isKeyChanging, KEY_FILE, resolveKeys, type Keys } from "./key.ts";
import { keyIdOf, openWithAny, sealRecord } from "./record.ts";
import { readSecretFile, readSecretFiles, removeLeftovers, type SecretFile } from "./secret-files.ts";
import { damaged, keyIsMissing, sealedByAnother } from "./unreadable.ts";

/** Runs an edit while nobody else changes a secret. */
export type Change = <T>(edit: () => Promise<T>) => Promise<T>;

/** Returns how many secrets there are. Two at once: the second is refused with StaleConfig. */
export async function rotateKey(folder: string, change: Change): Promise<number> {
  if ((await resolveKeys(folder)) === undefined && (await readSecretFiles(folder)).length === 0) return 0;
  const rotate = async () => {
    await removeLeftovers(folder);
    // Before anything is changed: with a secret that cannot be read, it could never be finished.
    const keys = await requireKeys(folder);
    for (const file of await readSecretFiles(folder)) open(file, keys);
    // One that was killed: its key has been there for longer than this command.
    if (await isKeyChanging(folder)) await finish(folder, change);
    await change(() => beginKeyChange(folder));
    return finish(folder, change);
  };
  return withLock(join(folder, KEY_FILE), rotate, { patienceMs: 0 });
}

async function finish(folder: string, change: Change): Promise<number> {
  for (;;) {
    // One at a time, so that others need not wait for all.
    for (const { uuid } of await readSecretFiles(folder)) await change(() => seal(folder, uuid));
    const count = await change(() => endIfComplete(folder));
    if (count !== undefined) return count;
  }
}

/** Encrypts one secret with the new key, unless it is already, or gone. */
async function seal(folder: string, uuid: string): Promise<void> {
  const [keys, file] = [await requireKeys(folder), await readSecretFile(folder, uuid)];
  if (file === undefined || file.record?.keyId === keyIdOf(keys.sealing)) return;
  const { name, value } = open(file, keys);
  await writeFileAtomic(file.path, sealRecord(uuid, { name, value, key: keys.sealing }), { mode: 0o600 });
}

/** Undefined where some secret still needs the old key: another process, of an older version perhaps, has set it. */
async function endIfComplete(folder: string): Promise<number | undefined> {
  const [keys, files] = [await requireKeys(folder), await readSecretFiles(folder)];
  if (files.some(({ record }) => record?.keyId !== keyIdOf(keys.sealing))) return undefined;
  await endKeyChange(folder);
  return files.length;
}

async function requireKeys(folder: string): Promise<Keys> {
  const keys = await resolveKeys(folder);
  if (keys === undefined) throw keyIsMissing(folder);
  return keys;
}

function open({ uuid, path, record }: SecretFile, { opening }: Keys): { name: string; value: string } {
  if (record === undefined) throw damaged(undefined, path);
  const { name, keyId } = record;
  const value = openWithAny(uuid, record, opening);
  if (value !== undefined) return { name, value };
  throw opening.some((key) => keyIdOf(key) === keyId) ? damaged(name, path) : sealedByAnother(name);
}
