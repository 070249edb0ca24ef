// Encrypts state that a client keeps and sends back, so that it can neither read nor change it. The key lives as long as the
// object: a state from before a restart is not valid after it.

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { isObject, type JsonObject } from "../../lib/json/json.ts";

/** Distinguishes our states from those of modern servers. */
const PREFIX = "plugboard.";
const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Longer than any of ours. */
const MAX_LENGTH = 4096;

export class SealedState {
  readonly #key = randomBytes(32);

  static looksSealed(state: unknown): state is string {
    return typeof state === "string" && state.startsWith(PREFIX);
  }

  seal(content: JsonObject): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    const hidden = Buffer.concat([cipher.update(JSON.stringify(content)), cipher.final()]);
    return PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), hidden]).toString("base64url");
  }

  /** Undefined unless this object sealed the state. */
  open(state: string): JsonObject | undefined {
    if (!SealedState.looksSealed(state) || state.length > MAX_LENGTH) return undefined;
    const bytes = Buffer.from(state.slice(PREFIX.length), "base64url");
    // Several texts decode to the same bytes; only the canonical one is accepted.
    if (bytes.length <= NONCE_BYTES + TAG_BYTES || PREFIX + bytes.toString("base64url") !== state) return undefined;
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
      const content: unknown = JSON.parse(text.toString());
      return isObject(content) ? content : undefined;
    } catch {
      return undefined; // tampered with, or sealed with another key
    }
  }
}
