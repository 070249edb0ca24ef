// The key that encrypts the secrets: configured by the operator, or created once and stored beside the secrets. A second
// key file exists during a rotation. record.ts uses the key, rotation.ts changes it.

import { randomBytes, scrypt } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { createFileExclusive, writeFileAtomic } from "../lib/files/atomic.ts";
import { HubError } from "../errors.ts";
import { readPrivateFile, removeFile } from "../lib/files/private-file.ts";

const KEY_BYTES = 32;
export const SALT_BYTES = 16;
export const KEY_FILE = "master.key";
const NEXT_FILE = "master.key.next";
const SALT_FILE = "master.salt";
/** Takes 32 MiB and 0.1 s: expensive for an attacker, acceptable once at start. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

const derive: (phrase: string, salt: Buffer, length: number, options: typeof SCRYPT) => Promise<Buffer> =
  promisify(scrypt);

interface KeyOptions {
  /** 32 bytes as hex or base64, or else a passphrase. Absent: a key file in the folder. */
  readonly configured?: string | undefined;
  /** Whether a missing key file is created. False if secrets exist: a new key could not decrypt them. */
  readonly create?: boolean;
}

export interface Keys {
  /** Encrypts new secrets. */
  readonly sealing: Buffer;
  /** Decrypt existing secrets. There are two during a rotation. */
  readonly opening: readonly Buffer[];
}

/** The keys of a secrets folder; undefined if there are none and `create` is false. */
export async function resolveKeys(
  folder: string,
  { configured, create = false }: KeyOptions = {},
): Promise<Keys | undefined> {
  // Read the next key first: a rotation that ends in between moves it to the current key, so it is found there.
  const next = configured ? undefined : await readOrCreate(join(folder, NEXT_FILE), KEY_BYTES, false);
  const current = configured
    ? await resolveConfigured(folder, configured, create)
    : await readOrCreate(join(folder, KEY_FILE), KEY_BYTES, create && next === undefined);
  const opening = [next, current].filter((key) => key !== undefined);
  return opening[0] === undefined ? undefined : { sealing: opening[0], opening };
}

/** Adds the next key beside the current one. Secrets written from now on are encrypted with it. */
export async function beginKeyChange(folder: string): Promise<void> {
  await createFileExclusive(join(folder, NEXT_FILE), newKey(KEY_BYTES), { mode: 0o600 });
}

/** Whether a rotation was started and not finished. */
export async function isKeyChanging(folder: string): Promise<boolean> {
  return (await readPrivateFile(join(folder, NEXT_FILE))) !== undefined;
}

/** Replaces the old key by the next one. If the process is killed in between, both files have the new key. */
export async function endKeyChange(folder: string): Promise<void> {
  const next = await readPrivateFile(join(folder, NEXT_FILE));
  if (next === undefined) return;
  await writeFileAtomic(join(folder, KEY_FILE), next, { mode: 0o600 });
  await removeFile(join(folder, NEXT_FILE));
}

async function resolveConfigured(folder: string, configured: string, create: boolean): Promise<Buffer | undefined> {
  const bytes = toKeyBytes(configured);
  if (bytes !== undefined) return bytes;
  const salt = await readOrCreate(join(folder, SALT_FILE), SALT_BYTES, create);
  return salt === undefined ? undefined : deriveKey(configured, salt);
}

/** The key that an operator has configured. The salt counts for a passphrase only. */
export async function deriveKey(configured: string, salt: Buffer): Promise<Buffer> {
  return toKeyBytes(configured) ?? derive(configured.normalize("NFKC"), salt, KEY_BYTES, SCRYPT);
}

function toKeyBytes(text: string): Buffer | undefined {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, "hex");
  // base64 or base64url: 43 digits encode 32 bytes.
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return Buffer.from(trimmed, "base64");
  return undefined;
}

function newKey(size: number): string {
  return `${randomBytes(size).toString("hex")}\n`;
}

async function readOrCreate(path: string, size: number, create: boolean): Promise<Buffer | undefined> {
  let text = await readPrivateFile(path);
  if (text === undefined && create) {
    // If another process creates the file first, its key is used.
    await createFileExclusive(path, newKey(size), { mode: 0o600 });
    text = await readPrivateFile(path);
  }
  if (text === undefined) return undefined;
  const bytes = Buffer.from(text.trim(), "hex");
  if (bytes.length === size && bytes.toString("hex") === text.trim()) return bytes;
  throw new HubError("InvalidConfig", `${path} is damaged`, { hint: "Restore it from a backup" });
}
