// Calls that wait until a person approves them.

import * as z from "zod/mini";
import { callApproval, denial } from "../../schemas/approval.ts";
import type { ApprovalCommands } from "../commands/approvals.ts";
import { rightsOf, routesOf, type Route } from "../route.ts";

const { get, post } = routesOf("activity");
const idParam = z.strictObject({ id: z.string().check(z.minLength(1)) });

export function approvalRoutes(approvals: ApprovalCommands): Route[] {
  return [
    get("/calls/approvals", "listCallApprovals", "Calls that wait for the approval of a person, oldest first", {
      answer: z.array(callApproval),
      run: (call) => approvals.list(rightsOf(call)),
    }),
    post("/calls/approvals/{id}/approve", "approveCall", "Approve a call; not with an access token", {
      params: idParam,
      run: ({ params, ...call }) => approvals.decide(params.id, rightsOf(call), { approved: true }),
    }),
    post("/calls/approvals/{id}/deny", "denyCall", "Deny a call; not with an access token", {
      params: idParam,
      body: denial,
      run: ({ params, body, ...call }) =>
        approvals.decide(params.id, rightsOf(call), { approved: false, reason: body.reason }),
    }),
  ];
}
