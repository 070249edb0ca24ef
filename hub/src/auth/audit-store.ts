// Port: where the audit log is kept. Implemented by identity/sqlite-audit.ts.

import type { Role } from "./grant.ts";

export type AuditOutcome = "allowed" | "refused" | "failed";

export interface AuditRow {
  /** Counts from 1, without gaps. */
  readonly n: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly principal: string;
  readonly role: Role | undefined;
  /** The id of the token. */
  readonly token: string | undefined;
  readonly client: string | undefined;
  readonly address: string | undefined;
  readonly action: string;
  readonly object: string | undefined;
  readonly outcome: AuditOutcome;
  readonly detail: string | undefined;
  readonly requestId: string | undefined;
  /** Of this row and, through the previous row's, of all before it. */
  readonly hash: string;
}

export interface AuditQuery {
  readonly principal?: string | undefined;
  /** An action, or the part before its dot. */
  readonly action?: string | undefined;
  readonly since?: number | undefined;
  /** Rows older than this one. */
  readonly before?: number | undefined;
  readonly limit: number;
}

export interface AuditFault {
  /** The first row that is not as it was written, or is missing. */
  readonly n: number;
  readonly what: "changed" | "missing" | "inserted";
}

export interface AuditCheck {
  /** Rows that are as they were written, up to the first fault. */
  readonly rows: number;
  /** The hash of the last of them. */
  readonly head: string;
  readonly fault: AuditFault | undefined;
  /** The number of the row whose hash was noted. Undefined: none of these rows has it, or none was given. */
  readonly noted: number | undefined;
}

export interface AuditStore {
  append(row: Omit<AuditRow, "n" | "hash">): Promise<void>;
  query(query: AuditQuery): Promise<readonly AuditRow[]>;
  /** `noted`: a head of earlier. */
  verify(noted?: string): Promise<AuditCheck>;
}
