// The key that secrets are encrypted with: given by the operator, or made once and kept beside the secrets. Using it is
// left to record.ts.

import { randomBytes, scrypt } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { createFileExclusive } from "../atomic.ts";
import { HubError } from "../errors.ts";
import { readPrivateFile } from "./private-file.ts";

const KEY_BYTES = 32;
const SALT_BYTES = 16;
const KEY_FILE = "master.key";
const SALT_FILE = "master.salt";
/** 32 MiB and a tenth of a second: dear to guess, cheap once at start. */
const SCRYPT = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };

const derive: (phrase: string, salt: Buffer, length: number, options: typeof SCRYPT) => Promise<Buffer> =
  promisify(scrypt);

interface KeyOptions {
  /** 32 bytes as hex or base64, or else a passphrase. Absent: a key file in the folder. */
  readonly given: string | undefined;
  /** May a key file be made where there is none? Not where secrets exist already: it could not open them. */
  readonly create: boolean;
}

/** The key for a folder of secrets; undefined where there is none and none may be made. */
export async function resolveKey(folder: string, { given, create }: KeyOptions): Promise<Buffer | undefined> {
  if (!given) return readOrCreate(join(folder, KEY_FILE), KEY_BYTES, create);
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

async function readOrCreate(path: string, size: number, create: boolean): Promise<Buffer | undefined> {
  let text = await readPrivateFile(path);
  if (text === undefined && create) {
    // Another process may be first: then its key counts.
    await createFileExclusive(path, `${randomBytes(size).toString("hex")}\n`, { mode: 0o600 });
    text = await readPrivateFile(path);
  }
  if (text === undefined) return undefined;
  const bytes = Buffer.from(text.trim(), "hex");
  if (bytes.length === size && bytes.toString("hex") === text.trim()) return bytes;
  throw new HubError("InvalidConfig", `${path} is damaged`, { hint: "Restore it from a backup" });
}
