// Opens the database of a cluster and everything that a hub keeps in it.

import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { ApprovalStore } from "../approval/approval-store.ts";
import type { CallLogOptions } from "../call-log/journal/journaled-call-log.ts";
import type { CallLog } from "../call-log/port.ts";
import type { ConfigStore } from "../config/files/config-store.ts";
import { toHubError } from "../errors.ts";
import type { Row } from "../identity/columns.ts";
import type { IdentityTable } from "../identity/tables.ts";
import type { KeptText } from "../lib/files/kept-text.ts";
import type { SecretStore } from "../secrets/store.ts";
import type { ListingStore } from "../servers/resilience/listing-store.ts";
import { PgCallLog, type Durability } from "./call-log/pg-call-log.ts";
import { Changes } from "./changes.ts";
import { Database } from "./database.ts";
import { importIdentityTables, readIdentityTable } from "./identity-transfer.ts";
import { deriveKeyFor, requireKey, resolveMasterKey } from "./master-key.ts";
import { initDatabase, upgradeDatabase } from "./migrate.ts";
import { PgApprovals } from "./pg-approvals.ts";
import { PgAudit } from "./pg-audit.ts";
import { PgConfig } from "./pg-config.ts";
import { PgIssuer } from "./pg-issuer.ts";
import { keptInDatabase, PgListings } from "./pg-kept.ts";
import { PgLogins } from "./pg-logins.ts";
import { PgSecrets } from "./pg-secrets.ts";
import { PgSessions } from "./pg-sessions.ts";
import { PgTokens } from "./pg-tokens.ts";
import { PgUsers } from "./pg-users.ts";
import { Replicas } from "./replicas.ts";
import { parseDatabaseUrl, type DatabaseAddress } from "./url.ts";

const RETRY_MS = 1000;
const TASK_KEY_BYTES = 64;
const PEER_KEY_BYTES = 32;
const MAX_NAME = 32;

export interface ClusterDatabaseOptions {
  readonly url: string;
  /** The setting with the URL, for errors. */
  readonly field: string;
  /** For the one direct connection, where `url` is that of a pooler. */
  readonly directUrl: string | undefined;
  /** The name of this hub in the cluster. Default: that of its host. */
  readonly replica: string | undefined;
  /** The key that encrypts the secrets. */
  readonly key: string | undefined;
  /** Called while the database is away. Undefined: that is an error. */
  readonly onWaiting: ((problem: string) => void) | undefined;
}

export interface ClusterDatabase {
  readonly name: string;
  readonly address: DatabaseAddress;
  readonly config: ConfigStore;
  readonly secrets: SecretStore;
  readonly personalSecrets: SecretStore;
  readonly logins: PgLogins;
  readonly identity: {
    readonly hasStore: () => boolean;
    readonly openUsers: () => Promise<PgUsers>;
    readonly openTokens: () => Promise<PgTokens>;
    readonly openAudit: () => Promise<PgAudit>;
    readonly openIssuer: () => Promise<PgIssuer>;
    readonly close: () => Promise<void>;
  };
  readonly openCallLog: (data: string, options: CallLogOptions & { readonly durability: Durability }) => CallLog;
  readonly approvals: ApprovalStore;
  readonly listings: ListingStore;
  readonly kept: (name: "eras" | "entry times") => KeptText;
  /** Seals task ids, the same in all replicas: what one of them has sealed, the others can open. */
  readonly taskKey: Buffer;
  /** By it, the hubs know each other. */
  readonly peerKey: Buffer;
  readonly sessions: PgSessions;
  readonly readIdentity: (table: IdentityTable) => Promise<Row[]>;
  readonly importIdentity: (tables: Parameters<typeof importIdentityTables>[1]) => Promise<void>;
  readonly replicas: Replicas;
  readonly replica: string;
  /** Why the database cannot be used at the moment. */
  readonly problem: () => string | undefined;
  readonly close: () => Promise<void>;
}

export async function openClusterDatabase(options: ClusterDatabaseOptions): Promise<ClusterDatabase> {
  const { url, field, directUrl, key: configured } = options;
  const address = parseDatabaseUrl(url, field);
  const direct = directUrl === undefined ? address : parseDatabaseUrl(directUrl, "database.direct_url");
  const db = new Database(address);
  const key = await prepare(db, configured, options.onWaiting).catch(async (error: unknown) => {
    await db.close();
    throw error;
  });
  let problem: string | undefined;
  const changes = new Changes({
    address: direct,
    onProblem: (now) => {
      problem = now;
      // The pool may have been away as well, and may go another way: it finds out by a statement.
      if (now === undefined && db.problem !== undefined) void db.rows("select 1").catch(() => undefined);
    },
  });
  const identity = {
    hasStore: () => true,
    openUsers: async () => new PgUsers(db, changes),
    openTokens: async () => new PgTokens(db, changes),
    openAudit: async () => new PgAudit(db),
    openIssuer: async () => new PgIssuer(db),
    close: async () => {},
  };
  return {
    name: db.name,
    address,
    config: new PgConfig(db, changes),
    secrets: new PgSecrets(db, changes, { key }),
    personalSecrets: new PgSecrets(db, changes, { key, kind: "user" }),
    logins: new PgLogins(db, key),
    identity,
    openCallLog: (data, log) => new PgCallLog(address, data, log),
    approvals: new PgApprovals(db, changes),
    listings: new PgListings(db),
    kept: (name) => keptInDatabase(db, name),
    taskKey: deriveKeyFor(key, "task ids", TASK_KEY_BYTES),
    peerKey: deriveKeyFor(key, "peers", PEER_KEY_BYTES),
    sessions: new PgSessions(db),
    readIdentity: (table) => readIdentityTable(db, table),
    importIdentity: (tables) => importIdentityTables(db, tables),
    replicas: new Replicas(db, changes),
    replica: options.replica ?? defaultName(),
    problem: () => problem ?? db.problem,
    close: async () => {
      await changes.close();
      await db.close();
    },
  };
}

/** Prepares a database for hubs. Returns how many migrations were applied. */
export async function initClusterDatabase({
  url,
  field,
  key,
}: ClusterDatabaseOptions): Promise<{ name: string; migrations: number }> {
  requireKey(key);
  const db = new Database(parseDatabaseUrl(url, field));
  try {
    const migrations = await initDatabase(db);
    await resolveMasterKey(db, key);
    return { name: db.name, migrations };
  } finally {
    await db.close();
  }
}

/** Resolves with the key when the database is there, has this release's schema, and the same key. */
async function prepare(
  db: Database,
  configured: string | undefined,
  onWaiting: ClusterDatabaseOptions["onWaiting"],
): Promise<Buffer> {
  for (;;) {
    try {
      await upgradeDatabase(db);
      return await resolveMasterKey(db, configured);
    } catch (thrown) {
      const error = toHubError(thrown);
      if (onWaiting === undefined || error.kind !== "DatabaseUnavailable") throw error;
      onWaiting(`${error.message}: ${error.detail}`);
    }
    await sleep(RETRY_MS);
  }
}

/** Session ids will begin with the name, so it is short and plain. */
function defaultName(): string {
  const plain = hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");
  return plain.slice(0, MAX_NAME) || "hub";
}
