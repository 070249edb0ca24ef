// The calls that wait for approval, and the audit log that says who decided.

import type { AuditLog } from "../auth/audit.ts";
import { Grant } from "../auth/grant.ts";
import { Approvals, type ApprovalsOptions } from "../calls/call-approval/approvals.ts";

interface HubApprovalsOptions extends Omit<ApprovalsOptions, "record"> {
  readonly audit: Pick<AuditLog, "record">;
}

export function createApprovals({ audit, ...options }: HubApprovalsOptions): Approvals {
  return new Approvals({
    ...options,
    record: ({ call }, { approved, by, in: where, reason }) =>
      audit.record({
        by: by instanceof Grant ? by : { principal: by.principal },
        action: approved ? "call.approve" : "call.deny",
        object: `${call.server}:${call.name}`,
        detail: [
          `group ${call.group}`,
          `called by ${call.arrival?.requester?.principal ?? "local"}${call.client === undefined ? "" : ` (${call.client})`}`,
          where === "client" ? "decided in the client" : "decided in the hub",
          ...(reason === undefined ? [] : [reason]),
        ].join(", "),
      }),
  });
}
