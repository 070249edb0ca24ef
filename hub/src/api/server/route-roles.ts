// The role that each route of the API needs, by its operationId. A route that is not listed here needs the role admin.

import type { Role } from "../../auth/grant.ts";

/** What an operator may do: see what runs, start and stop it, and end what hangs. No config, secrets or access. */
const OPERATOR: ReadonlySet<string> = new Set([
  "getStatus",
  "getOpenApi",
  "streamEvents",
  "listServers",
  "getServer",
  "startServer",
  "stopServer",
  "restartServer",
  "testSavedServer",
  "listServerApprovals",
  "getServerApproval",
  "getServerLogs",
  "getServerHistory",
  "getServerUsage",
  "getHubLogs",
  "listTools",
  "getTool",
  "getToolIndex",
  "listPrompts",
  "listResourceTemplates",
  "listGroupTools",
  "getGroupTool",
  "listActiveCalls",
  "cancelCall",
  "listSessions",
  "endSession",
  "getStats",
  "getSeries",
  "getLatency",
  "examine",
]);

/** What everyone with valid credentials may do, each with what belongs to it: the routes look at whose it is. */
const USER: ReadonlySet<string> = new Set<string>([
  "getMe",
  "listCalls",
  "getCall",
  "countCalls",
  "exportCalls",
  "getCallNeighbours",
  "listCallApprovals",
  "approveCall",
  "denyCall",
  "listTokens",
  "createToken",
  "revokeToken",
  "listGroups",
  "getGroup",
  // About the caller's own logins and secrets; the commands refuse those of others.
  "beginLogin",
  "logout",
  "refreshLogin",
  "listLogins",
  "getLoginAttempt",
  "finishLogin",
  "cancelLogin",
  "getConnections",
  "setPersonalSecret",
  "deletePersonalSecret",
  "getAccessRequest",
  "approveAccessRequest",
  "listGrants",
  "revokeGrant",
  // Browsers: the commands show and end only the caller's own, unless it is an administrator.
  "getUiSession",
  "signOut",
  "listUiSessions",
  "signOutAll",
  "endUiSession",
]);

export function roleOf(operationId: string): Role {
  if (USER.has(operationId)) return "user";
  return OPERATOR.has(operationId) ? "operator" : "admin";
}
