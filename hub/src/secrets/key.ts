// The key that secrets are encrypted with: given by the operator, or made once and kept beside the secrets, with a second
// one while it is being changed. Using it is left to record.ts, changing it to rotation.ts.

import { randomBytes, scrypt } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { createFileExclusive, writeFileAtomic } from "../atomic.ts";
import { HubError } from "../errors.ts";
import { readPrivateFile, removeFile } from "./private-file.ts";

const KEY_BYTES = 32;
const SALT_BYTES = 16;
export const KEY_FILE = "master.key";
const NEXT_FILE = "master.key.next";
const SALT_FILE = "master.salt";
/** 32 MiB and a tenth of a second: dear to guess, cheap once at start. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

const derive: (phrase: string, salt: Buffer, length: number, options: typeof SCRYPT) => Promise<Buffer> =
  promisify(scrypt);

interface KeyOptions {
  /** 32 bytes as hex or base64, or else a passphrase. Absent: a key file in the folder. */
  readonly given?: string | undefined;
  /** May a key file be made where there is none? Not where secrets exist already: it could not open them. */
  readonly create?: boolean;
}

export interface Keys {
  /** For what is written now. */
  readonly sealing: Buffer;
  /** All that a secret may be encrypted with: two while the key is being changed. */
  readonly opening: readonly Buffer[];
}

/** The keys for a folder of secrets; undefined where there are none and none may be made. */
export async function resolveKeys(
  folder: string,
  { given, create = false }: KeyOptions = {},
): Promise<Keys | undefined> {
  // In this order: the next one becomes the present one, never the other way round, so none is overlooked.
  const next = given ? undefined : await readOrCreate(join(folder, NEXT_FILE), KEY_BYTES, false);
  const present = given
    ? await resolveGiven(folder, given, create)
    : await readOrCreate(join(folder, KEY_FILE), KEY_BYTES, create && next === undefined);
  const opening = [next, present].filter((key) => key !== undefined);
  return opening[0] === undefined ? undefined : { sealing: opening[0], opening };
}

/** Puts a new key beside the present one. What is written from now on is encrypted with it. */
export async function beginKeyChange(folder: string): Promise<void> {
  await createFileExclusive(join(folder, NEXT_FILE), newKey(KEY_BYTES), { mode: 0o600 });
}

/** A change was begun, and has not come to its end. */
export async function isKeyChanging(folder: string): Promise<boolean> {
  return (await readPrivateFile(join(folder, NEXT_FILE))) !== undefined;
}

/** The new key takes the place of the old one, which is gone for good. Killed in between, it stands in both places. */
export async function endKeyChange(folder: string): Promise<void> {
  const next = await readPrivateFile(join(folder, NEXT_FILE));
  if (next === undefined) return;
  await writeFileAtomic(join(folder, KEY_FILE), next, { mode: 0o600 });
  await removeFile(join(folder, NEXT_FILE));
}

async function resolveGiven(folder: string, given: string, create: boolean): Promise<Buffer | undefined> {
  const bytes = toKeyBytes(given);
  if (bytes !== undefined) return bytes;
  const salt = await readOrCreate(join(folder, SALT_FILE), SALT_BYTES, create);
  return salt === undefined ? undefined : derive(given.normalize("NFKC"), salt, KEY_BYTES, SCRYPT);
}

function toKeyBytes(text: string): Buffer | undefined {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, "hex");
  // Both alphabets; 43 digits hold 32 bytes.
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return Buffer.from(trimmed, "base64");
  return undefined;
}

function newKey(size: number): string {
  return `${randomBytes(size).toString("hex")}\n`;
}

async function readOrCreate(path: string, size: number, create: boolean): Promise<Buffer | undefined> {
  let text = await readPrivateFile(path);
  if (text === undefined && create) {
    // Another process may be first: then its key counts.
    await createFileExclusive(path, newKey(size), { mode: 0o600 });
    text = await readPrivateFile(path);
  }
  if (text === undefined) return undefined;
  const bytes = Buffer.from(text.trim(), "hex");
  if (bytes.length === size && bytes.toString("hex") === text.trim()) return bytes;
  throw new HubError("InvalidConfig", `${path} is damaged`, { hint: "Restore it from a backup" });
}
