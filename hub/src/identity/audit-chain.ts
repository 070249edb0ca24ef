// The audit log as a chain: the hash of a row covers the row and the hash of the row before it. Whoever changes, removes or inserts a
// row has to write all later rows anew, and then the last hash differs from the one that was noted elsewhere.

import { hash } from "node:crypto";
import type { AuditCheck, AuditFault, AuditOutcome, AuditRow } from "../auth/audit-store.ts";
import { isRole } from "../auth/grant.ts";
import { text, textOrNothing, type Row } from "./columns.ts";

const OUTCOMES: readonly AuditOutcome[] = ["allowed", "refused", "failed"];
/** Rows that are read at once. */
export const AUDIT_PAGE = 1000;

interface Chain {
  /** The next rows, at most AUDIT_PAGE of them. */
  readonly page: (after: number) => Promise<readonly AuditRow[]>;
  /** How many rows were ever written. */
  readonly written: () => Promise<number>;
  /** The hash of a row that must be among them. */
  readonly noted: string | undefined;
}

export async function verifyChain({ page, written, noted: wanted }: Chain): Promise<AuditCheck> {
  let [rows, head] = [0, ""];
  let noted: number | undefined;
  const upToHere = (fault?: AuditFault): AuditCheck => ({ rows, head, fault, noted });
  for (;;) {
    const next = await page(rows === 0 ? Number.MIN_SAFE_INTEGER : rows);
    for (const row of next) {
      const expected = rows + 1;
      if (row.n < expected) return upToHere({ n: row.n, what: "inserted" });
      if (row.n > expected) return upToHere({ n: expected, what: "missing" });
      if (row.hash !== hashOf(row, head)) return upToHere({ n: row.n, what: "changed" });
      [rows, head] = [row.n, row.hash];
      if (row.hash === wanted) noted = row.n;
    }
    if (next.length < AUDIT_PAGE) break;
  }
  return upToHere((await written()) > rows ? { n: rows + 1, what: "missing" } : undefined);
}

type Unsealed = Omit<AuditRow, "hash">;

/** In the order of the columns. */
export function valuesOf(row: Unsealed): (string | number | null)[] {
  const { n, at, principal, role, token, client, address, action, object, outcome, detail, requestId } = row;
  const optional = [role, token, client, address].map((each) => each ?? null);
  return [n, at, principal, ...optional, action, object ?? null, outcome, detail ?? null, requestId ?? null];
}

export function hashOf(row: Unsealed, previous: string): string {
  return hash("sha256", JSON.stringify([previous, ...valuesOf(row)]), "base64url");
}

export function toAuditRow(row: Row): AuditRow {
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
