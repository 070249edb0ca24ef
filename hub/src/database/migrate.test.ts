// Releases beside each other, and databases that cannot be used.

import { describe, expect, it, onTestFinished } from "vitest";
import { openStores, usePostgres } from "../../../test/support/pg-stores.ts";
import { POSTGRES_PROGRAMS } from "../../../test/support/postgres.ts";
import { VERSION } from "../version.ts";
import { Database } from "./database.ts";
import { initDatabase, upgradeDatabase } from "./migrate.ts";
import { MIGRATIONS } from "./schema.ts";
import { parseDatabaseUrl } from "./url.ts";

describe.skipIf(POSTGRES_PROGRAMS === undefined)("SC-2 the schema of the database", () => {
  const postgres = usePostgres();
  const server = () => postgres?.() ?? expect.unreachable();

  it("is created and migrated once, also by several hubs at a time", async () => {
    const name = await server().createDatabase();
    const hubs = Array.from({ length: 3 }, () => new Database(parseDatabaseUrl(server().urlOf(name), "url")));
    onTestFinished(async () => void (await Promise.all(hubs.map((db) => db.close()))));
    const [first] = hubs;
    await expect(upgradeDatabase(first ?? expect.unreachable())).rejects.toMatchObject({
      kind: "InvalidConfig",
      hint: expect.stringContaining("plugboard cluster init"),
    });
    const applied = await Promise.all(hubs.map((db) => initDatabase(db)));
    expect(applied.reduce((sum, count) => sum + count, 0)).toBe(MIGRATIONS.length);
  });

  it("of the next release is used by this one, unless it says that it cannot be", async () => {
    const { db, close } = await openStores(server());
    onTestFinished(close);
    await db.run("insert into plugboard.migration (id, min_release, release) values (1000, $1, '9.0.0')", VERSION);
    expect(await upgradeDatabase(db)).toBe(0);
    await db.run("insert into plugboard.migration (id, min_release, release) values (1001, '9.0.0', '9.0.0')");
    await expect(upgradeDatabase(db)).rejects.toMatchObject({
      kind: "InvalidConfig",
      message: expect.stringContaining("needs Plugboard 9.0.0 or newer"),
    });
  });

  it("in another encoding is refused", async () => {
    await server().query("postgres", "create database latin encoding 'LATIN1' locale 'C' template template0");
    const db = new Database(parseDatabaseUrl(server().urlOf("latin"), "url"));
    onTestFinished(() => db.close());
    await expect(initDatabase(db)).rejects.toMatchObject({ message: expect.stringContaining("is not UTF8") });
  });
});
