// One encrypted secret as the text of a file: AES-256-GCM, bound to the file and the name it was written for. Where keys
// and files come from is left to key.ts and file-store.ts.

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

/** Tells keys apart without telling anything about them. */
export function keyIdOf(key: Buffer): string {
  return createHmac("sha256", key).update("plugboard secret key id").digest("hex").slice(0, 16);
}

/** A value, encrypted for the file of this uuid. */
export function sealRecord(uuid: string, { name, value, key }: { name: string; value: string; key: Buffer }): string {
  const keyId = keyIdOf(key);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(bindingOf(uuid, { v: 1, name, keyId }));
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

/** The record in a file's text; undefined where it is not exactly what sealRecord writes. */
export function parseRecord(text: string): SecretRecord | undefined {
  try {
    const record = recordSchema.parse(JSON.parse(text));
    // Base64 and JSON have several spellings of one value; one that we did not write is damage.
    const isOurs = toText(record) === text && [record.nonce, record.tag, record.data].every(isCanonical);
    return isOurs ? record : undefined;
  } catch {
    // Not JSON, or not a record: the caller says so, with the file's name.
    return undefined;
  }
}

/** The value of a record; undefined where key, file, name or data is not what it was sealed with. */
export function openRecord(uuid: string, record: SecretRecord, key: Buffer): string | undefined {
  try {
    const nonce = Buffer.from(record.nonce, "base64");
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(bindingOf(uuid, record));
    decipher.setAuthTag(Buffer.from(record.tag, "base64"));
    return Buffer.concat([decipher.update(record.data, "base64"), decipher.final()]).toString("utf8");
  } catch {
    // GCM gives no reason, on purpose.
    return undefined;
  }
}

/** With whichever of the keys it was sealed with. */
export function openWithAny(uuid: string, record: SecretRecord, keys: readonly Buffer[]): string | undefined {
  for (const key of keys) {
    const value = openRecord(uuid, record, key);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** What the ciphertext is bound to: a record moved to another file or given another name does not open. */
function bindingOf(uuid: string, { v, name, keyId }: Pick<SecretRecord, "v" | "name" | "keyId">): Buffer {
  return Buffer.from(JSON.stringify([uuid, v, keyId, name]));
}

function toText({ v, name, keyId, nonce, tag, data }: SecretRecord): string {
  return `${JSON.stringify({ v, name, keyId, nonce, tag, data })}\n`;
}

function isCanonical(text: string): boolean {
  return Buffer.from(text, "base64").toString("base64") === text;
}
