// Task ids for clients: the server and its own task id, encrypted and bound to the user and era that made the task, so
// that nothing has to be stored. The same task always has the same id.

import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { writeFileAtomic } from "../../lib/files/atomic.ts";
import { toHubError } from "../../errors.ts";
import { readPrivateFile } from "../../lib/files/private-file.ts";
import type { Era } from "../../protocol/revisions/era.ts";

export interface TaskOwner {
  readonly era: Era;
  readonly principal: string;
}

/** A task on its server. */
export interface TaskOrigin {
  readonly server: string;
  readonly taskId: string;
}

const CIPHER = "aes-256-gcm";
/** One half encrypts, the other derives the nonce. */
const KEY_BYTES = 64;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Ids are also sent in a header. */
const MAX_LENGTH = 4096;

export class TaskIds {
  readonly #cipherKey: Buffer;
  readonly #nonceKey: Buffer;
  /** Saves the key for the next process; undefined if it is saved already. */
  #save: (() => Promise<unknown>) | undefined;
  #saved: Promise<unknown> = Promise.resolve();

  /** Without `save` the key lives as long as the process. */
  constructor(key: Buffer = randomBytes(KEY_BYTES), save?: () => Promise<unknown>) {
    this.#cipherKey = key.subarray(0, KEY_BYTES / 2);
    this.#nonceKey = key.subarray(KEY_BYTES / 2);
    this.#save = save;
  }

  /** With the key in a file. If there is no usable key, a new one is saved with the first task: few servers have tasks. */
  static async open(path: string, onWarning?: (message: string) => void): Promise<TaskIds> {
    const warn = (problem: string) => onWarning?.(`${problem}: ids of earlier tasks are no longer valid`);
    // A new key only invalidates earlier ids.
    const text = await readPrivateFile(path).catch((thrown: unknown) => {
      warn(toHubError(thrown).message);
      return undefined;
    });
    const known = Buffer.from(text ?? "", "base64url");
    if (known.length === KEY_BYTES) return new TaskIds(known);
    if (text !== undefined) warn(`${path} is damaged`);
    const newKey = randomBytes(KEY_BYTES);
    return new TaskIds(newKey, () => writeFileAtomic(path, `${newKey.toString("base64url")}\n`, { mode: 0o600 }));
  }

  /** Resolves when the key is on disk, or could not be written. */
  async saved(): Promise<void> {
    await this.#saved;
  }

  seal({ server, taskId }: TaskOrigin, owner: TaskOwner): string {
    if (this.#save !== undefined) this.#saved = this.#save().catch(() => undefined); // a full disk must not fail a call
    this.#save = undefined;
    const text = JSON.stringify([server, taskId]);
    const bound = boundTo(owner);
    // Derived from the content: two contents never share a nonce, and one content always has the same id.
    const nonce = createHmac("sha256", this.#nonceKey).update(bound).update(text).digest().subarray(0, NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#cipherKey, nonce, { authTagLength: TAG_BYTES }).setAAD(bound);
    const hidden = Buffer.concat([cipher.update(text), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), hidden]).toString("base64url");
  }

  /** Undefined unless the id was sealed with this key for this owner. */
  open(id: unknown, owner: TaskOwner): TaskOrigin | undefined {
    if (typeof id !== "string" || id.length > MAX_LENGTH) return undefined;
    const bytes = Buffer.from(id, "base64url");
    // Several texts decode to the same bytes; only the canonical one is accepted.
    if (bytes.length <= NONCE_BYTES + TAG_BYTES || bytes.toString("base64url") !== id) return undefined;
    const decipher = createDecipheriv(CIPHER, this.#cipherKey, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(boundTo(owner)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
      const content: unknown = JSON.parse(text.toString());
      const [server, taskId]: unknown[] = Array.isArray(content) ? content : [];
      return typeof server === "string" && typeof taskId === "string" ? { server, taskId } : undefined;
    } catch {
      return undefined; // tampered with, or another owner's
    }
  }
}

function boundTo({ era, principal }: TaskOwner): Buffer {
  return Buffer.from(`${era} ${principal}\n`);
}
