// Where a hub keeps what outlives it: in files and SQLite of its machine, in a database that all replicas share, or in memory. What the
// program that embeds the hub brings along replaces the rest.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ApprovalFiles } from "../approval/approval-files.ts";
import type { ApprovalStore } from "../approval/approval-store.ts";
import { MemoryApprovals } from "../approval/memory-approvals.ts";
import type { CallLog, Retention } from "../call-log/port.ts";
import { SqliteCallLog } from "../call-log/sqlite/sqlite-call-log.ts";
import { ConfigFiles } from "../config/files/config-files.ts";
import type { ConfigStore } from "../config/files/config-store.ts";
import { HUB_FILE, readHubSettings } from "../config/files/hub-settings.ts";
import type { HubSettingsEntry } from "../config/schema/hub-settings.ts";
import type { ClusterDatabase, ClusterDatabaseOptions } from "../database/open.ts";
import { HubError } from "../errors.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { configuredSecretKey } from "../secrets/configured-key.ts";
import { FileSecrets } from "../secrets/file-store.ts";
import { LoginFiles } from "../secrets/login-files.ts";
import type { LoginStore } from "../secrets/login-store.ts";
import { MemoryLogins } from "../secrets/memory-logins.ts";
import { MemorySecrets } from "../secrets/memory-store.ts";
import { PersonalSecrets } from "../secrets/personal.ts";
import type { SecretStore } from "../secrets/store.ts";
import { sqliteIdentity, type IdentityStores } from "./access.ts";
import type { HubOptions } from "./hub.ts";
import { approvalsPath } from "./state.ts";

/** What is wrong with hub.json is said when the hub listens: nothing else needs it. */
export interface ReadSettings {
  readonly entry: HubSettingsEntry;
  readonly error?: unknown;
}

export interface Storage {
  readonly config: ConfigStore;
  readonly secrets: SecretStore;
  readonly personalSecrets: PersonalSecrets;
  readonly logins: LoginStore;
  readonly identity: IdentityStores;
  readonly approvals: ApprovalStore;
  /** Undefined: this machine alone. */
  readonly database: ClusterDatabase | undefined;
  readonly openCallLog: (options: CallLogSettings) => CallLog;
}

interface CallLogSettings {
  readonly redactor: Redactor;
  readonly retention: Partial<Retention>;
  readonly onWarning: (message: string) => void;
}

const DATABASE_VARIABLE = "PLUGBOARD_DATABASE_URL";

export async function readSettings(folder: string): Promise<ReadSettings> {
  try {
    return { entry: await readHubSettings(folder) };
  } catch (error) {
    const text = await readFile(join(folder, HUB_FILE), "utf8").catch(() => "");
    // A mistake in the file must not make a replica use files of its own.
    if (text.includes('"database"')) throw error;
    return { entry: {}, error };
  }
}

export async function openStorage(options: HubOptions, { entry: settings }: ReadSettings): Promise<Storage> {
  const { paths, variables } = options;
  const database = options.store === undefined ? await openDatabase(options, settings) : undefined;
  const data = options.store === undefined ? paths.data : undefined;
  const key = configuredSecretKey(variables);
  const isGiven = options.secrets !== undefined;
  return {
    config: options.store ?? database?.config ?? new ConfigFiles(paths.config),
    secrets: options.secrets ?? database?.secrets ?? new FileSecrets(paths.data, { key }),
    personalSecrets: new PersonalSecrets(
      isGiven ? new MemorySecrets() : (database?.personalSecrets ?? new FileSecrets(paths.data, { key, kind: "user" })),
    ),
    logins:
      options.logins ?? (isGiven ? new MemoryLogins() : (database?.logins ?? new LoginFiles(paths.data, { key }))),
    identity: database?.identity ?? sqliteIdentity(data),
    approvals:
      database?.approvals ?? (data === undefined ? new MemoryApprovals() : new ApprovalFiles(approvalsPath(paths))),
    database,
    openCallLog: (log) =>
      options.callLog?.(log.redactor) ??
      database?.openCallLog(paths.data, { ...log, durability: settings.database?.durability ?? "shared" }) ??
      new SqliteCallLog(join(paths.data, "calls.db"), log),
  };
}

/** Undefined if none is configured. The driver is loaded only for one. */
async function openDatabase(options: HubOptions, settings: HubSettingsEntry): Promise<ClusterDatabase | undefined> {
  const found = databaseOptions(settings, options.variables);
  if (found === undefined) return undefined;
  const { openClusterDatabase } = await import("../database/open.ts");
  return openClusterDatabase({ ...found, onWaiting: options.onWaiting });
}

/** Undefined if no database is configured. */
export function databaseOptions(
  { database: settings = {}, cluster = {} }: HubSettingsEntry,
  variables: HubOptions["variables"],
): ClusterDatabaseOptions | undefined {
  const given = variables[DATABASE_VARIABLE];
  if (given && settings.url !== undefined) {
    throw new HubError("InvalidConfig", `${DATABASE_VARIABLE} and database.url in ${HUB_FILE} are both set: keep one`, {
      field: DATABASE_VARIABLE,
    });
  }
  const url = given || settings.url;
  if (url === undefined) return undefined;
  return {
    url,
    field: given ? DATABASE_VARIABLE : "database.url",
    directUrl: settings.direct_url,
    replica: cluster.name,
    key: configuredSecretKey(variables),
    onWaiting: undefined,
  };
}
