// What people approve: what a server runs, and its tools.

import * as z from "zod/mini";
import { approval, approvalDetail, approvalInput } from "../../schemas/server-approval.ts";
import type { ServerApprovalCommands } from "../commands/server-approvals.ts";
import { idParam, rightsOf, routesOf, type Route } from "../route.ts";

const { get, post } = routesOf("servers");

export function serverApprovalRoutes(approvals: ServerApprovalCommands): Route[] {
  return [
    get("/server-approvals", "listServerApprovals", "What was approved of every server, and what waits for it", {
      answer: z.array(approval),
      run: () => approvals.list(),
    }),
    get(
      "/servers/{id}/approval",
      "getServerApproval",
      "What a server runs, and how its tools differ from those approved",
      {
        params: idParam,
        answer: approvalDetail,
        run: ({ params }) => approvals.get(params.id),
      },
    ),
    post("/servers/{id}/approve", "approveServer", "Approve what a server runs and its tools, or some of its tools", {
      params: idParam,
      body: approvalInput,
      answer: approvalDetail,
      run: (call) => approvals.approve(call.params.id, call.body, rightsOf(call).principal),
    }),
  ];
}
