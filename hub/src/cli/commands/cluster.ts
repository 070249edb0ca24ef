// `plugboard cluster`: prepares the PostgreSQL database that replicas of the hub share, moves a hub's files into it and back, and shows
// the replicas. Works on the database itself, with the hub's settings.

import { resolve } from "node:path";
import type { ClusterDatabaseOptions } from "../../database/open.ts";
import { HubError } from "../../errors.ts";
import type { Transferred } from "../../hub/transfer.ts";
import type { Register } from "../command.ts";
import { findLocalHub } from "../hub-access/find-hub.ts";
import { hubFoldersOf } from "../hub-access/run-file.ts";
import type { GlobalOptions, Io } from "../io.ts";
import { Output } from "../terminal/output.ts";
import { count } from "../terminal/text.ts";

interface InitOptions extends GlobalOptions {
  readonly print?: boolean;
}

export const clusterCommand: Register = (program, { io }) => {
  const cluster = program
    .command("cluster")
    .description("several hubs on one PostgreSQL database: init, import, export, status");
  cluster
    .command("init")
    .description("prepare the database: create the schema, or bring it up to date")
    .option("--print", "print the SQL for an administrator of the database instead")
    .action(async ({ print, ...options }: InitOptions) => {
      const out = new Output(io, options);
      if (print === true) return printSql(out);
      const { initClusterDatabase } = await import("../../database/open.ts");
      const { name, migrations } = await initClusterDatabase(await settingsOf(io, options));
      const text = migrations === 0 ? `The database ${name} is up to date` : `Prepared the database ${name}`;
      out.changed(text, { database: name, migrations });
    });
  cluster
    .command("import")
    .description("copy this hub's config, secrets, logins, users, tokens and audit log into the empty database")
    .action(async (options: GlobalOptions) => {
      const settings = await settingsOf(io, options);
      await requireStopped(io, options);
      const { importFiles } = await import("../../hub/transfer.ts");
      const copied = await importFiles(hubFoldersOf(io, options), settings);
      new Output(io, options).changed(`Imported ${describe(copied)}`, copied);
    });
  cluster
    .command("export")
    .description("copy what is in the database into a new folder, which works as PLUGBOARD_HOME")
    .argument("<folder>", "a folder that does not exist yet")
    .action(async (folder: string, options: GlobalOptions) => {
      const { exportFiles } = await import("../../hub/transfer.ts");
      const path = resolve(folder);
      const copied = await exportFiles(path, await settingsOf(io, options));
      new Output(io, options).changed(`Exported ${describe(copied)} to ${path}`, { ...copied, folder: path });
    });
  cluster
    .command("status")
    .description("show the replicas, and whether they are alive")
    .action(async (options: GlobalOptions) => {
      const { openClusterDatabase } = await import("../../database/open.ts");
      const database = await openClusterDatabase(await settingsOf(io, options));
      try {
        const replicas = await database.replicas.list();
        const out = new Output(io, options);
        if (out.json) return out.data({ database: database.name, replicas });
        out.print(`database  ${database.name}`);
        if (replicas.length === 0) return out.note("No hub has joined: plugboard up");
        const rows = replicas.map(({ name, alive, release, url, startedAt }) => [
          name,
          alive ? "alive" : "gone",
          release,
          url ?? "-",
          startedAt,
        ]);
        out.table([["NAME", "STATE", "RELEASE", "ADDRESS", "STARTED"], ...rows]);
      } finally {
        await database.close();
      }
    });
};

async function settingsOf(io: Io, options: GlobalOptions): Promise<ClusterDatabaseOptions> {
  const { databaseOptions } = await import("../../hub/storage.ts");
  const { readHubSettings } = await import("../../config/files/hub-settings.ts");
  const found = databaseOptions(await readHubSettings(hubFoldersOf(io, options).config), io.env);
  if (found !== undefined) return found;
  throw new HubError("InvalidConfig", "No database is configured", {
    field: "database.url",
    hint: 'Set PLUGBOARD_DATABASE_URL, or in hub.json: {"database": {"url": "postgres://…"}}',
  });
}

/** What it writes meanwhile would not be copied. */
async function requireStopped(io: Io, options: GlobalOptions): Promise<void> {
  const running = await findLocalHub(io, options).catch(() => undefined); // one that does not answer writes nothing
  if (running === undefined) return;
  throw new HubError("Conflict", `The hub is running: ${running.record.url}`, {
    hint: "Stop it first: plugboard stop",
  });
}

async function printSql(out: Output): Promise<void> {
  const [{ roleSql }, { MIGRATIONS }] = await Promise.all([
    import("../../database/migrate.ts"),
    import("../../database/schema.ts"),
  ]);
  out.print("-- As an administrator. The hubs create their tables themselves: plugboard cluster init");
  out.print(roleSql("plugboard", "plugboard"));
  out.print("\n-- The tables, to be read:\ncreate schema plugboard;");
  for (const { sql } of MIGRATIONS) out.print(sql.trimEnd());
}

function describe({ servers, groups, secrets, personal_secrets, logins, identity }: Transferred): string {
  const { token = 0, user = 0, audit = 0 } = identity;
  return [
    count(servers, "server"),
    count(groups, "group"),
    count(secrets, "secret"),
    ...(personal_secrets === 0 ? [] : [count(personal_secrets, "personal secret")]),
    ...(logins === 0 ? [] : [count(logins, "login")]),
    count(token, "token"),
    count(user, "user"),
    `${count(audit, "row")} of the audit log`,
  ].join(", ");
}
