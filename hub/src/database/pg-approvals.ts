// Approvals of servers and pins of tools in PostgreSQL: the same texts as the files of one machine.

import { createHash } from "node:crypto";
import type { ApprovalStore, StoredApproval } from "../approval/approval-store.ts";
import { changedElsewhere } from "../approval/memory-approvals.ts";
import { formatRecord, parseRecord, type ApprovalRecord } from "../approval/record.ts";
import { text } from "../identity/columns.ts";
import type { Changes } from "./changes.ts";
import type { Database } from "./database.ts";

export class PgApprovals implements ApprovalStore {
  readonly #db: Database;
  readonly #changes: Changes;
  /** When the approvals were loaded last. */
  #version = 0;

  constructor(db: Database, changes: Changes) {
    this.#db = db;
    this.#changes = changes;
  }

  async load(): Promise<Awaited<ReturnType<ApprovalStore["load"]>>> {
    // First: what changes meanwhile is loaded again.
    const version = await this.#db.versionOf("approval");
    const rows = await this.#db.rows("select server, text from plugboard.approval");
    this.#version = version;
    const approvals = rows.map((row): [string, StoredApproval] => {
      const server = text(row["server"]);
      return [server, toStored(server, text(row["text"]))];
    });
    return { approvals: new Map(approvals), isNew: version === 0 };
  }

  save(server: string, record: ApprovalRecord, expected: string | undefined): Promise<string> {
    const next = formatRecord(server, record);
    return this.#db.change("approval", async (sql) => {
      const [row] = await sql.rows("select text from plugboard.approval where server = $1", server);
      if ((row === undefined ? undefined : versionOf(text(row["text"]))) !== expected) throw changedElsewhere(server);
      await sql.run(
        "insert into plugboard.approval values ($1, $2) on conflict (server) do update set text = excluded.text",
        server,
        next,
      );
      return versionOf(next);
    });
  }

  async remove(server: string): Promise<void> {
    await this.#db.change("approval", (sql) => sql.run("delete from plugboard.approval where server = $1", server));
  }

  async watch(onChange: () => void): Promise<() => void> {
    return this.#changes.watch("approval", { isCurrent: (version) => version === this.#version, onChange });
  }
}

function toStored(server: string, stored: string): StoredApproval {
  const [record, version] = [parseRecord(server, stored), versionOf(stored)];
  if (record !== undefined) return { state: "kept", record, version };
  return { state: "damaged", reason: `The approval of "${server}" in the database is damaged`, version };
}

function versionOf(stored: string): string {
  return createHash("sha256").update(stored).digest("base64url");
}
