// The audit log in identity.db.

import type { AuditCheck, AuditQuery, AuditRow, AuditStore } from "../auth/audit-store.ts";
import { AUDIT_PAGE, hashOf, toAuditRow, valuesOf, verifyChain } from "./audit-chain.ts";
import { text } from "./columns.ts";
import type { IdentityFile } from "./identity-file.ts";

const COLUMNS = "n, at, principal, role, token, client, address, action, object, outcome, detail, request_id, hash";

export class SqliteAudit implements AuditStore {
  readonly #file: IdentityFile;

  constructor(file: IdentityFile) {
    this.#file = file;
  }

  append(given: Omit<AuditRow, "n" | "hash">): Promise<void> {
    return this.#file.run((db) =>
      db.transact(() => {
        const last = db.get("SELECT n, hash FROM audit ORDER BY n DESC LIMIT 1");
        // After rows were removed at the end their numbers are not used again.
        const n = db.number("SELECT seq FROM sqlite_sequence WHERE name = 'audit'") + 1;
        const row = { ...given, n };
        db.run(
          `INSERT INTO audit (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          ...valuesOf(row),
          hashOf(row, text(last?.["hash"])),
        );
      }),
    );
  }

  query({ principal, action, since, before, limit }: AuditQuery): Promise<readonly AuditRow[]> {
    return this.#file.run((db) =>
      db
        .all(
          `SELECT ${COLUMNS} FROM audit WHERE (?1 IS NULL OR principal = ?1)
            AND (?2 IS NULL OR action = ?2 OR substr(action, 1, length(?2) + 1) = ?2 || '.')
            AND (?3 IS NULL OR at >= ?3) AND (?4 IS NULL OR n < ?4)
          ORDER BY n DESC LIMIT ?5`,
          principal ?? null,
          action ?? null,
          since ?? null,
          before ?? null,
          limit,
        )
        .map(toAuditRow),
    );
  }

  verify(noted?: string): Promise<AuditCheck> {
    return verifyChain({
      page: (after) => this.#page(after),
      written: () => this.#file.run((db) => db.number("SELECT seq FROM sqlite_sequence WHERE name = 'audit'")),
      noted,
    });
  }

  #page(after: number): Promise<AuditRow[]> {
    return this.#file.run((db) =>
      db.all(`SELECT ${COLUMNS} FROM audit WHERE n > ? ORDER BY n LIMIT ${AUDIT_PAGE}`, after).map(toAuditRow),
    );
  }
}
