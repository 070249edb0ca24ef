// The file format of one secret: AES-256-GCM, bound to the file and the secret's name.

import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import * as z from "zod/mini";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const base64 = z.string().check(z.regex(/^[A-Za-z0-9+/]*={0,2}$/));
const recordSchema = z.strictObject({
  v: z.literal(1),
  name: z.string(),
  keyId: z.string(),
  nonce: base64,
  tag: base64,
  data: base64,
});

export type SecretRecord = z.infer<typeof recordSchema>;

/** Identifies a key without revealing it. */
export function keyIdOf(key: Buffer): string {
  return createHmac("sha256", key).update("plugboard secret key id").digest("hex").slice(0, 16);
}

/** Encrypts a value for the file with this uuid. */
export function sealRecord(uuid: string, { name, value, key }: { name: string; value: string; key: Buffer }): string {
  const keyId = keyIdOf(key);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(associatedData(uuid, { v: 1, name, keyId }));
  const data = Buffer.concat([cipher.update(value, "utf8"), cipher.final()]);
  return toText({
    v: 1,
    name,
    keyId,
    nonce: nonce.toString("base64"),
    tag: cipher.getAuthTag().toString("base64"),
    data: data.toString("base64"),
  });
}

/** Parses the text of a file; undefined if it is not exactly in the form that sealRecord writes. */
export function parseRecord(text: string): SecretRecord | undefined {
  try {
    const record = recordSchema.parse(JSON.parse(text));
    // Base64 and JSON have several spellings of one value. Any other than ours counts as damaged.
    const isExact = toText(record) === text && [record.nonce, record.tag, record.data].every(isCanonical);
    return isExact ? record : undefined;
  } catch {
    // Not a record. The caller reports it with the file name.
    return undefined;
  }
}

/** Decrypts a record; undefined if key, uuid, name or data do not match. */
export function openRecord(uuid: string, record: SecretRecord, key: Buffer): string | undefined {
  try {
    const nonce = Buffer.from(record.nonce, "base64");
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(associatedData(uuid, record));
    decipher.setAuthTag(Buffer.from(record.tag, "base64"));
    return Buffer.concat([decipher.update(record.data, "base64"), decipher.final()]).toString("utf8");
  } catch {
    // GCM reports no reason for a failed authentication.
    return undefined;
  }
}

/** Decrypts with the first key that fits. */
export function openWithAny(uuid: string, record: SecretRecord, keys: readonly Buffer[]): string | undefined {
  for (const key of keys) {
    const value = openRecord(uuid, record, key);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Additional authenticated data: a record that is moved to another file or renamed cannot be decrypted. */
function associatedData(uuid: string, { v, name, keyId }: Pick<SecretRecord, "v" | "name" | "keyId">): Buffer {
  return Buffer.from(JSON.stringify([uuid, v, keyId, name]));
}

function toText({ v, name, keyId, nonce, tag, data }: SecretRecord): string {
  return `${JSON.stringify({ v, name, keyId, nonce, tag, data })}\n`;
}

function isCanonical(text: string): boolean {
  return Buffer.from(text, "base64").toString("base64") === text;
}
