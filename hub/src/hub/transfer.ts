// Moves what a hub keeps between the files of one machine and the database of a cluster: config, secrets, logins, and who may use it.
// The call log stays where it is.

import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { ConfigFiles } from "../config/files/config-files.ts";
import type { ConfigStore } from "../config/files/config-store.ts";
import { openClusterDatabase, type ClusterDatabase, type ClusterDatabaseOptions } from "../database/open.ts";
import { HubError } from "../errors.ts";
import { IdentityFile } from "../identity/identity-file.ts";
import { IDENTITY_TABLES, toColumn, type IdentityTable } from "../identity/tables.ts";
import { FileSecrets } from "../secrets/file-store.ts";
import { KEY_FILE } from "../secrets/key.ts";
import { LoginFiles } from "../secrets/login-files.ts";
import type { LoginKey, LoginStore } from "../secrets/login-store.ts";
import type { SecretStore } from "../secrets/store.ts";

/** How much was copied. */
export interface Transferred {
  readonly servers: number;
  readonly groups: number;
  readonly secrets: number;
  readonly personal_secrets: number;
  readonly logins: number;
  /** Rows by table. */
  readonly identity: Readonly<Record<string, number>>;
}

interface Folders {
  readonly config: string;
  readonly data: string;
}

/** From the files of this machine into the database, which must have no config yet. */
export async function importFiles(folders: Folders, options: ClusterDatabaseOptions): Promise<Transferred> {
  const database = await openClusterDatabase(options);
  try {
    const { present } = await database.config.load();
    if (present.servers || present.groups) {
      throw new HubError("Conflict", `The database ${database.name} has a config already`, {
        hint: "Import into an empty database, or add the servers: plugboard add",
      });
    }
    const files = openFiles(folders, options.key);
    const identity = await openIdentityFile(folders.data);
    try {
      const rows = identity === undefined ? {} : await copyIdentity(database, readFrom(identity));
      return { ...(await copyAll(files, database)), identity: rows };
    } finally {
      await identity?.close();
    }
  } finally {
    await database.close();
  }
}

/** From the database into `config` and `data` of a new folder: a hub with this PLUGBOARD_HOME runs on them. */
export async function exportFiles(folder: string, options: ClusterDatabaseOptions): Promise<Transferred> {
  if ((await readdir(folder).catch(() => [])).length > 0) {
    throw new HubError("Conflict", `${folder} is not empty`, { hint: "Export into a new folder" });
  }
  const database = await openClusterDatabase(options);
  try {
    const folders = { config: join(folder, "config"), data: join(folder, "data") };
    for (const path of Object.values(folders)) await mkdir(path, { recursive: true, mode: 0o700 });
    const counts = await copyAll(database, openFiles(folders, options.key));
    const identity = await IdentityFile.open(join(folders.data, "identity.db"));
    try {
      return { ...counts, identity: await exportIdentity(database, identity) };
    } finally {
      await identity.close();
    }
  } finally {
    await database.close();
  }
}

interface Stores {
  readonly config: ConfigStore;
  readonly secrets: SecretStore;
  readonly personalSecrets: SecretStore;
  readonly logins: LoginStore & { keys(): Promise<LoginKey[]> };
}

function openFiles({ config, data }: Folders, configured: string | undefined): Stores {
  // A hub without a configured key has made one.
  const key = existsSync(join(data, "secrets", KEY_FILE)) ? undefined : configured;
  return {
    config: new ConfigFiles(config),
    secrets: new FileSecrets(data, { key }),
    personalSecrets: new FileSecrets(data, { key, kind: "user" }),
    logins: new LoginFiles(data, { key }),
  };
}

async function openIdentityFile(data: string): Promise<IdentityFile | undefined> {
  const path = join(data, "identity.db");
  return existsSync(path) ? IdentityFile.open(path) : undefined;
}

/** The config comes last: with it, the import is complete. */
async function copyAll(from: Stores, to: Stores): Promise<Omit<Transferred, "identity">> {
  const secrets = await copySecrets(from.secrets, to.secrets);
  const personal_secrets = await copySecrets(from.personalSecrets, to.personalSecrets);
  const keys = await from.logins.keys();
  for (const key of keys) {
    const record = await from.logins.read(key);
    if (record !== undefined) await to.logins.edit(key, (slot) => slot.write(record));
  }
  const { config } = await from.config.load();
  const texts = await from.config.readTexts();
  for (const file of ["group", "mcp_server"] as const) {
    if (texts[file] !== "") await to.config.replaceText(file, texts[file]);
  }
  const [servers, groups] = [config.servers.length, config.groups.length];
  return { servers, groups, secrets, personal_secrets, logins: keys.length };
}

async function copySecrets(from: SecretStore, to: SecretStore): Promise<number> {
  const names = await from.list();
  for (const name of names) {
    const value = await from.get(name);
    if (value !== undefined) await to.set(name, value);
  }
  return names.length;
}

type ReadTable = (table: IdentityTable) => Promise<readonly Readonly<Record<string, unknown>>[]>;

function readFrom(file: IdentityFile): ReadTable {
  return ({ sqlite, columns }) =>
    file.run((db) => db.all(`SELECT ${Object.keys(columns).join(", ")} FROM ${sqlite} ORDER BY 1`));
}

async function copyIdentity(database: ClusterDatabase, read: ReadTable): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const tables = await Promise.all(IDENTITY_TABLES.map(async (table) => ({ table, rows: await read(table) })));
  await database.importIdentity(tables);
  for (const { table, rows } of tables) counts[table.sqlite] = rows.length;
  return counts;
}

async function exportIdentity(database: ClusterDatabase, file: IdentityFile): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of IDENTITY_TABLES) {
    const rows = await database.readIdentity(table);
    const names = Object.keys(table.columns);
    const sql = `INSERT INTO ${table.sqlite} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
    await file.run((db) =>
      db.transact(() => {
        for (const row of rows) {
          const values = Object.entries(table.columns).map(([name, type]) => toColumn(row[name], type, "sqlite"));
          db.run(sql, ...values.map((value) => (typeof value === "boolean" ? Number(value) : value)));
        }
      }),
    );
    counts[table.sqlite] = rows.length;
  }
  return counts;
}
