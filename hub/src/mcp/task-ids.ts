// Task ids as clients know them. Sealed, so that an id says itself which server has the task and what that calls it, and only
// to the user and in the era that it was made for: nothing has to be remembered. The same task always has the same id.

import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { writeFileAtomic } from "../atomic.ts";
import { toHubError } from "../errors.ts";
import { readPrivateFile } from "../secrets/private-file.ts";
import type { Era } from "../wire/era.ts";

export interface TaskOwner {
  readonly era: Era;
  readonly principal: string;
}

/** A task, as its server knows it. */
export interface TaskOrigin {
  readonly server: string;
  readonly taskId: string;
}

const CIPHER = "aes-256-gcm";
/** One half hides, the other makes the nonce. */
const KEY_BYTES = 64;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** An id travels in a header too. */
const MAX_LENGTH = 4096;

export class TaskIds {
  readonly #cipherKey: Buffer;
  readonly #nonceKey: Buffer;
  /** Puts the key where the next hub finds it; nothing where it stands there already. */
  #keep: (() => Promise<unknown>) | undefined;
  #kept: Promise<unknown> = Promise.resolve();

  /** Good for as long as the process, unless it is kept. */
  constructor(key: Buffer = randomBytes(KEY_BYTES), keep?: () => Promise<unknown>) {
    this.#cipherKey = key.subarray(0, KEY_BYTES / 2);
    this.#nonceKey = key.subarray(KEY_BYTES / 2);
    this.#keep = keep;
  }

  /** With the key of a file. Where there is none that can be used, it is made with the first task: few servers have any. */
  static async open(path: string, onWarning?: (message: string) => void): Promise<TaskIds> {
    const tell = (problem: string) => onWarning?.(`${problem}: tasks of before are not found any more`);
    // A new key only costs the ids of before.
    const text = await readPrivateFile(path).catch((thrown: unknown) => {
      tell(toHubError(thrown).message);
      return undefined;
    });
    const known = Buffer.from(text ?? "", "base64url");
    if (known.length === KEY_BYTES) return new TaskIds(known);
    if (text !== undefined) tell(`${path} is damaged`);
    const fresh = randomBytes(KEY_BYTES);
    return new TaskIds(fresh, () => writeFileAtomic(path, `${fresh.toString("base64url")}\n`, { mode: 0o600 }));
  }

  /** Resolves when the key is on disk, or cannot be. */
  async saved(): Promise<void> {
    await this.#kept;
  }

  seal({ server, taskId }: TaskOrigin, owner: TaskOwner): string {
    if (this.#keep !== undefined) this.#kept = this.#keep().catch(() => undefined); // a full disk must not fail a call
    this.#keep = undefined;
    const text = JSON.stringify([server, taskId]);
    const bound = boundTo(owner);
    // Made of what is sealed: two contents never share one, and one content never has two ids.
    const nonce = createHmac("sha256", this.#nonceKey).update(bound).update(text).digest().subarray(0, NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#cipherKey, nonce, { authTagLength: TAG_BYTES }).setAAD(bound);
    const hidden = Buffer.concat([cipher.update(text), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), hidden]).toString("base64url");
  }

  /** Undefined for everything that was not sealed with this key for this owner. */
  open(id: unknown, owner: TaskOwner): TaskOrigin | undefined {
    if (typeof id !== "string" || id.length > MAX_LENGTH) return undefined;
    const bytes = Buffer.from(id, "base64url");
    // Several texts decode to the same bytes; only the one that we gave is ours.
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
      return undefined; // changed on its way, or somebody else's
    }
  }
}

function boundTo({ era, principal }: TaskOwner): Buffer {
  return Buffer.from(`${era} ${principal}\n`);
}
