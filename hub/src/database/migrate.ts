// Prepares the database and brings its schema up to date: forward only, one hub at a time. Hubs of the release before keep running.

import { HubError } from "../errors.ts";
import { VERSION } from "../version.ts";
import type { Database, Sql } from "./database.ts";
import { MIGRATIONS } from "./schema.ts";

const OLDEST_POSTGRESQL = 14;

/** For an administrator of the database: what the role of the hubs cannot or should not do itself. */
export function roleSql(role: string, database: string): string {
  const [user, db] = [quoteName(role), quoteName(database)];
  return [
    `create role ${user} login password '…';`,
    `create database ${db} owner ${user} encoding 'UTF8' template template0;`,
    `-- or, in a database that exists: create schema plugboard authorization ${user};`,
  ].join("\n");
}

/** Creates the schema if it is missing, and migrates it. Returns how many migrations were applied. */
export async function initDatabase(db: Database): Promise<number> {
  await requireServer(db);
  return db.transact(async (sql) => {
    await lock(sql);
    if (!(await hasSchema(sql))) await sql.run("create schema plugboard");
    return migrate(sql);
  });
}

/** Of a hub that starts: the database must have been prepared. */
export async function upgradeDatabase(db: Database): Promise<number> {
  await requireServer(db);
  return db.transact(async (sql) => {
    await lock(sql);
    if (await hasSchema(sql)) return migrate(sql);
    throw new HubError("InvalidConfig", `The database ${db.name} is not prepared for Plugboard`, {
      hint: "Prepare it once: plugboard cluster init",
    });
  });
}

async function migrate(sql: Sql): Promise<number> {
  await sql.run(`create table if not exists plugboard.migration
    (id int primary key, min_release text not null, release text not null, at timestamptz not null default now())`);
  const applied = await sql.rows("select id, min_release from plugboard.migration order by id");
  const newest = applied.at(-1);
  const minRelease = newest?.["min_release"];
  if (typeof minRelease === "string" && isOlder(VERSION, minRelease)) {
    throw new HubError("InvalidConfig", `The database needs Plugboard ${minRelease} or newer; this is ${VERSION}`, {
      hint: "Update this hub",
    });
  }
  const missing = MIGRATIONS.filter(({ id }) => id > Number(newest?.["id"] ?? 0));
  for (const { id, minRelease: min, sql: text } of missing) {
    await sql.run(text);
    await sql.run("insert into plugboard.migration (id, min_release, release) values ($1, $2, $3)", id, min, VERSION);
  }
  return missing.length;
}

async function requireServer(db: Database): Promise<void> {
  const [row] = await db.rows(
    "select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding",
  );
  if (Number(row?.["version"]) < OLDEST_POSTGRESQL * 10_000) {
    throw new HubError("InvalidConfig", `The database ${db.name} is older than PostgreSQL ${OLDEST_POSTGRESQL}`, {
      hint: "Update it",
    });
  }
  if (row?.["encoding"] !== "UTF8") {
    throw new HubError("InvalidConfig", `The encoding of the database ${db.name} is not UTF8`, {
      hint: "Create one with: create database … encoding 'UTF8' template template0",
    });
  }
}

async function lock(sql: Sql): Promise<void> {
  await sql.run("select pg_advisory_xact_lock(hashtextextended('plugboard migration', 0))");
}

async function hasSchema(sql: Sql): Promise<boolean> {
  const rows = await sql.rows("select 1 from pg_namespace where nspname = 'plugboard'");
  return rows.length > 0;
}

/** Compares the numbers of two releases; what follows a hyphen does not count. */
export function isOlder(release: string, than: string): boolean {
  const [a, b] = [release, than].map((text) => (text.split("-")[0] ?? "").split(".").map(Number));
  for (let index = 0; index < 3; index++) {
    const difference = (a?.[index] ?? 0) - (b?.[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function quoteName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
