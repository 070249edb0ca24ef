// The audit log in identity.db. The hash of a row covers the row and the hash of the row before it: whoever changes, removes or
// inserts a row has to write all later rows anew, and then the last hash differs from the one that was noted elsewhere.

import { hash } from "node:crypto";
import type { SqlRow } from "@plugboard/shared/sqlite/driver";
import type { AuditFault, AuditOutcome, AuditQuery, AuditRow, AuditStore } from "../auth/audit-store.ts";
import { isRole } from "../auth/grant.ts";
import { text, textOrNothing } from "./columns.ts";
import type { IdentityFile } from "./identity-file.ts";

const COLUMNS = "n, at, principal, role, token, client, address, action, object, outcome, detail, request_id, hash";
const OUTCOMES: readonly AuditOutcome[] = ["allowed", "refused", "failed"];
/** Rows that are read at once. */
const PAGE = 1000;

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
        .map(toRow),
    );
  }

  async verify(): Promise<{ rows: number; head: string; fault: AuditFault | undefined }> {
    let [rows, head] = [0, ""];
    for (;;) {
      const page = await this.#page(rows === 0 ? -Infinity : rows);
      for (const row of page) {
        const expected = rows + 1;
        if (row.n < expected) return { rows, head, fault: { n: row.n, what: "inserted" } };
        if (row.n > expected) return { rows, head, fault: { n: expected, what: "missing" } };
        if (row.hash !== hashOf(row, head)) return { rows, head, fault: { n: row.n, what: "changed" } };
        [rows, head] = [row.n, row.hash];
      }
      if (page.length < PAGE) break;
    }
    const written = await this.#file.run((db) => db.number("SELECT seq FROM sqlite_sequence WHERE name = 'audit'"));
    return { rows, head, fault: written > rows ? { n: rows + 1, what: "missing" } : undefined };
  }

  #page(after: number): Promise<AuditRow[]> {
    return this.#file.run((db) =>
      db.all(`SELECT ${COLUMNS} FROM audit WHERE n > ? ORDER BY n LIMIT ${PAGE}`, after).map(toRow),
    );
  }
}

type Unsealed = Omit<AuditRow, "hash">;

function valuesOf(row: Unsealed): (string | number | null)[] {
  const { n, at, principal, role, token, client, address, action, object, outcome, detail, requestId } = row;
  const optional = [role, token, client, address].map((each) => each ?? null);
  return [n, at, principal, ...optional, action, object ?? null, outcome, detail ?? null, requestId ?? null];
}

function hashOf(row: Unsealed, previous: string): string {
  return hash("sha256", JSON.stringify([previous, ...valuesOf(row)]), "base64url");
}

function toRow(row: SqlRow): AuditRow {
  const { role, outcome } = row;
  return {
    n: Number(row["n"]),
    at: Number(row["at"]),
    principal: text(row["principal"]),
    role: isRole(role) ? role : undefined,
    token: textOrNothing(row["token"]),
    client: textOrNothing(row["client"]),
    address: textOrNothing(row["address"]),
    action: text(row["action"]),
    object: textOrNothing(row["object"]),
    outcome: OUTCOMES.find((each) => each === outcome) ?? "failed",
    detail: textOrNothing(row["detail"]),
    requestId: textOrNothing(row["request_id"]),
    hash: text(row["hash"]),
  };
}
