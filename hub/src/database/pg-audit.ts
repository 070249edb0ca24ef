// The audit log in PostgreSQL: one chain for all replicas, so rows are written one after the other.

import type { AuditCheck, AuditQuery, AuditRow, AuditStore } from "../auth/audit-store.ts";
import { AUDIT_PAGE, hashOf, toAuditRow, valuesOf, verifyChain } from "../identity/audit-chain.ts";
import { text } from "../identity/columns.ts";
import type { Database } from "./database.ts";

const COLUMNS = "n, at, principal, role, token, client, address, action, object, outcome, detail, request_id, hash";

export class PgAudit implements AuditStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  append(given: Omit<AuditRow, "n" | "hash">): Promise<void> {
    return this.#db.transact(async (sql) => {
      const [last] = await sql.rows("select n, hash from plugboard.audit_head for update");
      const row = { ...given, n: Number(last?.["n"]) + 1 };
      const hash = hashOf(row, text(last?.["hash"]));
      await sql.run(
        `insert into plugboard.audit (${COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
        ...valuesOf(row),
        hash,
      );
      await sql.run("update plugboard.audit_head set n = $1, hash = $2", row.n, hash);
    });
  }

  async query({ principal, action, since, before, limit }: AuditQuery): Promise<readonly AuditRow[]> {
    const rows = await this.#db.rows(
      `select ${COLUMNS} from plugboard.audit where ($1::text is null or principal = $1)
        and ($2::text is null or action = $2 or starts_with(action, $2 || '.'))
        and ($3::bigint is null or at >= $3) and ($4::bigint is null or n < $4)
      order by n desc limit $5`,
      principal ?? null,
      action ?? null,
      since ?? null,
      before ?? null,
      limit,
    );
    return rows.map(toAuditRow);
  }

  verify(noted?: string): Promise<AuditCheck> {
    return verifyChain({
      page: async (after) =>
        (
          await this.#db.rows(
            `select ${COLUMNS} from plugboard.audit where n > $1 order by n limit ${AUDIT_PAGE}`,
            after,
          )
        ).map(toAuditRow),
      written: async () => Number((await this.#db.rows("select n from plugboard.audit_head"))[0]?.["n"]),
      noted,
    });
  }
}
