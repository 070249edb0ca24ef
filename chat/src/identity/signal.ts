// Derives the id of a Signal group, as signal-cli and the apps use it, from the master key in an export. Follows libsignal's
// zkgroup (GroupSecretParams.deriveFromMasterKey), which uses poksho's ShoHmacSha256, a stateful hash of HMAC-SHA256: absorb
// the label, absorb the key, and the first bytes of output are the group's identifier.

import { createHash, createHmac } from "node:crypto";

const LABEL = "Signal_ZKGroup_20200424_GroupMasterKey_GroupSecretParams_DeriveFromMasterKey";
const KEY_BYTES = 32;
const END_OF_INPUT = Buffer.of(0);
const OUTPUT = Buffer.of(1);
/** The 64-bit counter of output blocks. The identifier is one block. */
const FIRST_BLOCK = Buffer.alloc(8);

/** In base64; undefined if the key is invalid. The key gives access to the group and must not be stored. */
export function groupIdOf(masterKey: string): string | undefined {
  const key = Buffer.from(masterKey, "base64");
  if (key.length !== KEY_BYTES) return undefined;
  const state = [Buffer.from(LABEL), key].reduce(absorb, Buffer.alloc(KEY_BYTES));
  return hmac(state, FIRST_BLOCK, OUTPUT).toString("base64");
}

/** The id that earlier versions gave an imported group. */
export function formerGroupIdOf(masterKey: string): string {
  return `group:${createHash("sha256").update(Buffer.from(masterKey, "base64")).digest("base64url").slice(0, 22)}`;
}

const absorb = (state: Buffer, input: Buffer): Buffer => hmac(state, input, END_OF_INPUT);

function hmac(key: Buffer, ...parts: readonly Buffer[]): Buffer {
  return createHmac("sha256", key).update(Buffer.concat(parts)).digest();
}
