// The tables of who may use the hub, read and written as a whole: for import and export.

import { IDENTITY_TABLES, toColumn, type IdentityTable } from "../identity/tables.ts";
import { HubError } from "../errors.ts";
import type { Row } from "../identity/columns.ts";
import type { Database } from "./database.ts";

interface TableRows {
  readonly table: IdentityTable;
  readonly rows: readonly Row[];
}

export function readIdentityTable(db: Database, { postgres, columns }: IdentityTable): Promise<Row[]> {
  return db.rows(`select ${Object.keys(columns).join(", ")} from ${postgres} order by 1`);
}

/** All rows, or none if a table has rows already: two audit logs cannot be joined. */
export async function importIdentityTables(db: Database, tables: readonly TableRows[]): Promise<void> {
  await db.change("identity", async (sql) => {
    for (const { postgres } of IDENTITY_TABLES) {
      if ((await sql.rows(`select 1 from ${postgres} limit 1`)).length === 0) continue;
      throw new HubError("Conflict", `The database ${db.name} has users, tokens or an audit log already`, {
        hint: "Import into an empty database: run plugboard cluster init on a new one",
      });
    }
    for (const { table, rows } of tables) {
      const names = Object.keys(table.columns);
      const insert = `insert into ${table.postgres} (${names.join(", ")}) values (${names.map((_, n) => `$${n + 1}`).join(", ")})`;
      for (const row of rows) {
        await sql.run(
          insert,
          ...Object.entries(table.columns).map(([name, type]) => toColumn(row[name], type, "postgres")),
        );
      }
    }
    await sql.run(`update plugboard.audit_head set (n, hash) = (select n, hash from plugboard.audit order by n desc limit 1)
      where exists (select 1 from plugboard.audit)`);
  });
}
