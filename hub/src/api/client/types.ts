// All types of HubClient: its parts, what its methods take, and the documents that they return, which are those of the REST API.

export type { ApprovalsClient } from "./approvals-client.ts";
export type { CallsClient, StatsQuery } from "./calls-client.ts";
export type { ChatsClient } from "./chats-client.ts";
export type { CallOptions, EventsOptions, ToolCallRequest, ToolTarget } from "./client.ts";
export type { ConfigClient } from "./config-client.ts";
export type { AnsweredRequest, ConnectionOptions } from "./connection.ts";
export type { ConnectionsClient, Whose } from "./connections-client.ts";
export type { GrantsClient } from "./grants-client.ts";
export type { GroupsClient } from "./groups-client.ts";
export type { LoginsClient, OnBehalf } from "./logins-client.ts";
export type { InFolder, MachineClient } from "./machine-client.ts";
export type { ReceivedEvent } from "./received-events.ts";
export type { RegistryClient, RegistryQuery } from "./registry-client.ts";
export type { EditOptions } from "./request-parts.ts";
export type { SecretsClient } from "./secrets-client.ts";
export type { ServerApprovalsClient } from "./server-approvals-client.ts";
export type { LogFilter, ServersClient } from "./servers-client.ts";
export type { TokensClient } from "./tokens-client.ts";
export type { AuditClient, AuditFilter, UsersClient } from "./users-client.ts";
export type { CallApproval, Denial } from "../schemas/approval.ts";
export type { AuditCheck, AuditNote, AuditPage } from "../schemas/audit.ts";
export type {
  ActiveCall,
  Call,
  CallCount,
  CallDeletion,
  CallNeighbours,
  CallPage,
  CallSeriesQuery,
  CallSummaryPage,
  CallsQuery,
  LatencyMetrics,
  Series,
  Stats,
} from "../schemas/call.ts";
export type { ChatAccess, ChatAccessInput } from "../schemas/chat.ts";
export type {
  Client,
  ClientBackup,
  ClientChange,
  ClientPlan,
  ImportInput,
  ImportPlan,
  ImportResult,
  InstallInput,
} from "../schemas/client.ts";
export type { ConfigFile, ConfigFileName } from "../schemas/config-file.ts";
export type {
  ConfigChangesView,
  ConfigCheck,
  ConfigDocument,
  ConfigView,
  KeyRotation,
  MissingSecret,
  Secret,
} from "../schemas/config.ts";
export type { Connections, PersonalSecret } from "../schemas/connection.ts";
export type { DoctorReport } from "../schemas/doctor.ts";
export type { GroupInput, GroupPreview, GroupPreviewInput, GroupView } from "../schemas/group.ts";
export type { LogLine, LogSource, ServerLogLevel } from "../schemas/log.ts";
export type { Login, LoginAttempt, LoginInput, Logout, TakenLogin } from "../schemas/login.ts";
export type { AccessRequestView, ClientGrant, ClientGrantInput, NewClientGrant } from "../schemas/oauth.ts";
export type { ParsedServers } from "../schemas/parse.ts";
export type { RegistryAdd, RegistryAdded, RegistrySearch, RegistryServer, RegistryView } from "../schemas/registry.ts";
export type { Approval, ApprovalDetail, ApprovalInput } from "../schemas/server-approval.ts";
export type { Logs, PackageUpdate, Server, StatusChange, TestResult, UpdatePreview, Usage } from "../schemas/server.ts";
export type { Session } from "../schemas/session.ts";
export type { Settings, SettingsPatch } from "../schemas/settings.ts";
export type { HubStatus } from "../schemas/status.ts";
export type { AccessToken, AccessTokenInput, NewAccessToken } from "../schemas/token.ts";
export type {
  GroupTool,
  GroupToolDetail,
  Prompt,
  ResourceTemplate,
  Tool,
  ToolCallResult,
  ToolDetail,
  ToolIndex,
} from "../schemas/tool.ts";
export type { UiKey, UiSessionEntry } from "../schemas/ui.ts";
export type { UserPatch, UserView } from "../schemas/user.ts";
