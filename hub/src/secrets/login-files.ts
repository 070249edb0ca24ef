// Stores logins as encrypted files beside the secrets, one per server and principal. The file name is derived from both, so that a
// login is found without decrypting the others.

import { createHash } from "node:crypto";
import { join } from "node:path";
import { parseJson } from "@plugboard/shared/lenient";
import { HubError } from "../errors.ts";
import { writeFileAtomic } from "../lib/files/atomic.ts";
import { withLock } from "../lib/files/lock.ts";
import { makePrivateFolder, removeFile } from "../lib/files/private-file.ts";
import { KeyRing } from "./key-ring.ts";
import { loginRecordSchema, type LoginKey, type LoginRecord, type LoginSlot, type LoginStore } from "./login-store.ts";
import { openWithAny, sealRecord } from "./record.ts";
import { readSealedFiles, readSecretFile, secretPath } from "./secret-files.ts";
import { missingKey } from "./unreadable.ts";

/** A renewal in another process may take this long. */
const LOCK_WAIT_MS = 20_000;

/** The encrypted file adapter of LoginStore. */
export class LoginFiles implements LoginStore {
  readonly #folder: string;
  readonly #keys: KeyRing;

  constructor(dataDir: string, { key }: { key?: string | undefined } = {}) {
    this.#folder = join(dataDir, "secrets");
    this.#keys = new KeyRing(this.#folder, key);
  }

  async keys(): Promise<LoginKey[]> {
    const files = await readSealedFiles(this.#folder);
    return files.flatMap(({ kind, record }) => (kind === "oauth" && record !== undefined ? keyOf(record.name) : []));
  }

  async principals(server: string): Promise<string[]> {
    return (await this.keys()).flatMap((key) => (key.server === server ? [key.principal] : [])).toSorted();
  }

  async read(key: LoginKey): Promise<LoginRecord | undefined> {
    const uuid = uuidOf(key);
    const file = await readSecretFile(this.#folder, uuid, "oauth");
    if (file === undefined) return undefined;
    const keys = await this.#keys.resolve();
    if (keys === undefined) throw missingKey(this.#folder);
    const { record } = file;
    const text = record?.name === nameOf(key) ? openWithAny(uuid, record, keys.opening) : undefined;
    const parsed = text === undefined ? undefined : loginRecordSchema.safeParse(JSON.parse(text));
    if (parsed?.success === true) return parsed.data;
    throw new HubError("DatabaseError", `The login at "${key.server}" cannot be decrypted`, {
      detail: file.path,
      hint: `Log in again: plugboard auth ${key.server}`,
    });
  }

  async edit<T>(key: LoginKey, edit: (slot: LoginSlot) => Promise<T>): Promise<T> {
    await makePrivateFolder(this.#folder);
    const slot: LoginSlot = {
      read: () => this.read(key),
      write: (record) => this.#locked(() => this.#write(key, record)),
      delete: () => this.#locked(() => removeFile(this.#pathOf(key))),
    };
    return withLock(this.#pathOf(key), () => edit(slot), { waitMs: LOCK_WAIT_MS });
  }

  /** The lock of the folder excludes a rotation of the key, which reads and rewrites every file. */
  #locked<T>(change: () => Promise<T>): Promise<T> {
    return withLock(this.#folder, change, { waitMs: LOCK_WAIT_MS });
  }

  async #write(key: LoginKey, record: LoginRecord): Promise<void> {
    const isFirst = (await readSealedFiles(this.#folder)).length === 0;
    const keys = await this.#keys.resolve({ create: true, isFirst });
    if (keys === undefined) throw missingKey(this.#folder);
    const value = JSON.stringify(record);
    const text = sealRecord(uuidOf(key), { name: nameOf(key), value, key: keys.sealing });
    await writeFileAtomic(this.#pathOf(key), text, { mode: 0o600 });
  }

  #pathOf(key: LoginKey): string {
    return secretPath(this.#folder, uuidOf(key), "oauth");
  }
}

function nameOf({ server, principal }: LoginKey): string {
  return JSON.stringify(["login", server, principal]);
}

function keyOf(name: string): LoginKey[] {
  const parts = parseJson(name);
  const [kind, server, principal] = Array.isArray(parts) ? parts : [];
  return kind === "login" && typeof server === "string" && typeof principal === "string" ? [{ server, principal }] : [];
}

/** The digest in the form of a uuid. */
function uuidOf(key: LoginKey): string {
  const hex = createHash("sha256").update(nameOf(key)).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}
