// The audit log: who did what.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";
import { integer, time } from "./query.ts";

export const auditQuery = z.strictObject({
  who: describe(z.optional(z.string()), "A principal, or the email address of a user"),
  what: describe(z.optional(z.string()), "An action, or the part before its dot: `token` finds `token.create`"),
  since: z.optional(time),
  before: z.optional(integer({ min: 1, description: "Rows before this number" })),
  limit: z._default(integer({ min: 1, max: 1000 }), 50),
});
export type AuditSearch = z.output<typeof auditQuery>;

export const auditVerifyQuery = z.strictObject({
  head: describe(z.optional(z.string()), "A head that was noted earlier: it must still be in the log"),
});
export type AuditNote = z.output<typeof auditVerifyQuery>;

export const auditRow = component(
  "AuditRow",
  z.object({
    n: describe(z.int(), "Counts from 1, without gaps"),
    at: z.string(),
    principal: z.string(),
    who: describe(z.string(), "The principal, or the address or name of the user"),
    role: z.nullable(z.enum(["user", "operator", "admin"])),
    token: describe(z.nullable(z.string()), "Id of the access token"),
    client: describe(z.nullable(z.string()), "The access token by name, or the OAuth client"),
    address: z.nullable(z.string()),
    action: z.string(),
    object: describe(z.nullable(z.string()), "What was acted on, by name"),
    outcome: describe(z.enum(["allowed", "refused", "failed"]), "`failed`: it was allowed, and had no effect"),
    detail: z.nullable(z.string()),
    request_id: z.nullable(z.string()),
    hash: describe(z.string(), "Of this row and all rows before it"),
  }),
);
export type AuditRowView = z.infer<typeof auditRow>;

export const auditPage = component(
  "AuditPage",
  z.object({
    rows: describe(z.array(auditRow), "Newest first"),
    next: describe(z.nullable(z.int()), "`before` of the next page; null: there is none"),
    head: describe(z.string(), "Hash of the newest row of the whole log; empty without rows"),
  }),
);
export type AuditPage = z.infer<typeof auditPage>;

export const auditCheck = component(
  "AuditCheck",
  z.object({
    rows: describe(z.int(), "Rows that are as they were written, up to the first fault"),
    head: describe(z.string(), "Hash of the last of them: keep it elsewhere, and later rows cannot be made up"),
    fault: describe(
      z.nullable(z.object({ n: z.int(), what: z.enum(["changed", "missing", "inserted"]) })),
      "The first row that is not as it was written; null: there is none",
    ),
    noted: describe(
      z.nullable(z.object({ n: z.nullable(z.int()) })),
      "The row with the head that was given; `n` is null if no row has it: rows were removed at the end, or all were written anew",
    ),
  }),
);
export type AuditCheck = z.infer<typeof auditCheck>;
