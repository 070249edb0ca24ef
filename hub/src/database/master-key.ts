// The key that encrypts the secrets of a cluster. Every hub is given it; the database has only what tells whether it is the right one.

import { hkdfSync, randomBytes } from "node:crypto";
import { HubError } from "../errors.ts";
import { text } from "../identity/columns.ts";
import { deriveKey, SALT_BYTES } from "../secrets/key.ts";
import { keyIdOf } from "../secrets/record.ts";
import type { Database } from "./database.ts";

const HINT =
  "Give every hub of the cluster the same key in PLUGBOARD_SECRET_KEY or PLUGBOARD_SECRET_KEY_FILE: 64 hex digits, for example from `openssl rand -hex 32`";

/** The first hub of a cluster decides the key. Throws InvalidConfig if there is none, or another one is in use. */
export async function resolveMasterKey(db: Database, configured: string | undefined): Promise<Buffer> {
  const given = requireKey(configured);
  const stored = async () => (await db.rows("select salt, key_id from plugboard.master_key"))[0];
  let row = await stored();
  if (row === undefined) {
    const salt = randomBytes(SALT_BYTES);
    const keyId = keyIdOf(await deriveKey(given, salt));
    const sql = "insert into plugboard.master_key (salt, key_id) values ($1, $2) on conflict do nothing";
    await db.run(sql, salt.toString("hex"), keyId);
    row = await stored();
  }
  const key = await deriveKey(given, Buffer.from(text(row?.["salt"]), "hex"));
  const [own, wanted] = [keyIdOf(key), text(row?.["key_id"])];
  if (own === wanted) return key;
  throw new HubError("InvalidConfig", "The secret key of this hub is not that of the cluster", {
    detail: `Its id is ${own}, and the secrets in ${db.name} are encrypted with ${wanted}`,
    hint: HINT,
  });
}

/** Never made by a hub itself: each would make another one. */
export function requireKey(configured: string | undefined): string {
  if (configured) return configured;
  throw new HubError("InvalidConfig", "A hub on a database needs the key of its secrets", { hint: HINT });
}

/** A key for another purpose, the same in all hubs of the cluster. */
export function deriveKeyFor(master: Buffer, purpose: "task ids" | "peers", bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", master, "", `plugboard ${purpose}`, bytes));
}
