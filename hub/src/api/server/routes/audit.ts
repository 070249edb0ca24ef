// The audit log. It is written by what happens, never by a request of its own.

import { auditCheck, auditPage, auditQuery, auditVerifyQuery } from "../../schemas/audit.ts";
import type { AuditCommands } from "../commands/audit.ts";
import { routesOf, type Route } from "../route.ts";

const { get } = routesOf("audit");

export function auditRoutes(audit: AuditCommands): Route[] {
  return [
    get("/audit", "searchAudit", "Who did what, newest first", {
      query: auditQuery,
      answer: auditPage,
      run: ({ query }) => audit.search(query),
    }),
    get("/audit/verify", "verifyAudit", "Whether a row of the audit log was changed, removed or inserted", {
      query: auditVerifyQuery,
      answer: auditCheck,
      run: ({ query }) => audit.verify(query),
    }),
  ];
}
