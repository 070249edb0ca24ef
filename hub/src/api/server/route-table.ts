// All routes of the API.

import { TokenCounts } from "../../catalog/tokens.ts";
import { ApprovalCommands } from "./commands/approvals.ts";
import { AuditCommands } from "./commands/audit.ts";
import { ActivityCommands } from "./commands/activity.ts";
import { CallCommands } from "./commands/calls.ts";
import { ChatCommands } from "./commands/chats.ts";
import { ClientCommands } from "./commands/clients.ts";
import { ConfigFileCommands } from "./commands/config-files.ts";
import { ConfigCommands } from "./commands/config.ts";
import { ConnectionCommands } from "./commands/connections.ts";
import { DiagnosticCommands } from "./commands/diagnostics.ts";
import { DoctorCommands } from "./commands/doctor.ts";
import { GroupPreviews } from "./commands/group-previews.ts";
import { GroupCommands } from "./commands/groups.ts";
import { ImportCommands } from "./commands/imports.ts";
import { LifecycleCommands } from "./commands/lifecycle.ts";
import { LoginCommands } from "./commands/logins.ts";
import { ParseCommands } from "./commands/parsing.ts";
import { RegistryCommands } from "./commands/registry.ts";
import { SecretCommands } from "./commands/secrets.ts";
import { ServerApprovalCommands } from "./commands/server-approvals.ts";
import { ServerCommands } from "./commands/servers.ts";
import { SettingsCommands } from "./commands/settings.ts";
import { StatsCommands } from "./commands/stats.ts";
import { OAuthCommands } from "./commands/oauth.ts";
import { TokenCommands } from "./commands/tokens.ts";
import { UserCommands } from "./commands/users.ts";
import { ToolCommands } from "./commands/tools.ts";
import { UiCommands } from "./commands/ui.ts";
import type { BrowserAccess } from "./browser/access.ts";
import type { Managed } from "./core.ts";
import type { EventStreams } from "./live/event-streams.ts";
import type { Route } from "./route.ts";
import { RecentCalls } from "./recent-calls.ts";
import { approvalRoutes } from "./routes/approvals.ts";
import { auditRoutes } from "./routes/audit.ts";
import { activityRoutes } from "./routes/activity.ts";
import { chatRoutes } from "./routes/chats.ts";
import { clientRoutes } from "./routes/clients.ts";
import { configRoutes } from "./routes/config.ts";
import { connectionRoutes } from "./routes/connections.ts";
import { diagnosticRoutes } from "./routes/diagnostics.ts";
import { doctorRoutes } from "./routes/doctor.ts";
import { eventRoutes } from "./routes/events.ts";
import { groupRoutes } from "./routes/groups.ts";
import { lifecycleRoutes } from "./routes/lifecycle.ts";
import { loginRoutes } from "./routes/logins.ts";
import { recordRoutes } from "./routes/records.ts";
import { registryRoutes } from "./routes/registry.ts";
import { secretRoutes } from "./routes/secrets.ts";
import { serverApprovalRoutes } from "./routes/server-approvals.ts";
import { serverRoutes } from "./routes/servers.ts";
import { settingsRoutes } from "./routes/settings.ts";
import { statusRoutes } from "./routes/status.ts";
import { oauthRoutes } from "./routes/oauth.ts";
import { tokenRoutes } from "./routes/tokens.ts";
import { toolRoutes } from "./routes/tools.ts";
import { userRoutes } from "./routes/users.ts";
import { uiRoutes } from "./routes/ui.ts";

/** `browser`: undefined if the hub serves no web interface. */
export function createRoutes(managed: Managed, streams: EventStreams, browser: BrowserAccess | undefined): Route[] {
  const { callLog, hub } = managed;
  const tokens = new TokenCounts();
  const countCalls = () => Object.values(hub.calls.outcomes).reduce((sum, count) => sum + count, 0);
  const servers = new ServerCommands(managed, { recentCalls: new RecentCalls(callLog, countCalls), tokens });
  const [config, groups] = [new ConfigCommands(managed), new GroupCommands(managed)];
  const [secrets, logins] = [new SecretCommands(managed), new LoginCommands(managed)];
  const imports = new ImportCommands(managed, { config, servers, groups, secrets, logins });
  return [
    ...statusRoutes(managed, streams),
    ...serverRoutes(servers, new ParseCommands(managed)),
    ...serverApprovalRoutes(new ServerApprovalCommands(managed)),
    ...lifecycleRoutes(new LifecycleCommands(managed, servers)),
    ...loginRoutes(logins),
    ...connectionRoutes(new ConnectionCommands(managed)),
    ...toolRoutes(new ToolCommands(managed, tokens)),
    ...groupRoutes(groups, new GroupPreviews(managed)),
    ...chatRoutes(new ChatCommands(managed)),
    ...registryRoutes(new RegistryCommands(managed, { servers, secrets })),
    ...secretRoutes(secrets),
    ...tokenRoutes(new TokenCommands(managed)),
    ...userRoutes(new UserCommands(managed)),
    ...auditRoutes(new AuditCommands(managed)),
    ...oauthRoutes(new OAuthCommands(managed)),
    ...diagnosticRoutes(new DiagnosticCommands(managed)),
    // Before /calls/{id}.
    ...approvalRoutes(new ApprovalCommands(managed)),
    ...activityRoutes(new ActivityCommands(managed)),
    ...recordRoutes(managed, new CallCommands(managed), new StatsCommands(managed)),
    ...configRoutes(config, new ConfigFileCommands(managed)),
    ...settingsRoutes(new SettingsCommands(managed)),
    ...doctorRoutes(new DoctorCommands(managed, servers)),
    ...clientRoutes(new ClientCommands(managed, imports), imports),
    ...eventRoutes(managed.hub, streams),
    ...(browser === undefined
      ? []
      : uiRoutes(new UiCommands({ browser, users: hub.users, audit: hub.audit, lastEvent: () => streams.lastId }))),
  ];
}
