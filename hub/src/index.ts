// The library: a hub inside your own process, a client of one server, a client of a running hub, and their types.

export { createHub } from "./library/create-hub.ts";
export type {
  AvailableTool,
  ConfigDirOptions,
  CreateHubOptions,
  EmbeddedHub,
  HomeOptions,
  HubServers,
  InMemoryOptions,
  ToolCallOptions,
  UserConfigOptions,
} from "./library/create-hub.ts";
export { McpClient } from "./library/mcp-client.ts";
export type { ClientOptions, ConnectOptions, RemoteOptions, ToolDefinition } from "./library/mcp-client.ts";
export type { QuestionHandler, QuestionHandlers } from "./library/program-client.ts";
export type { ServerInput } from "./library/server-input.ts";
export type { ToolResult } from "./library/tool-result.ts";
export type {
  AnthropicTool,
  AnthropicToolResult,
  AnthropicToolUse,
  FunctionCalling,
  GeminiFunctionCall,
  GeminiFunctionResponse,
  GeminiTools,
  OpenAiTool,
  OpenAiToolCall,
  OpenAiToolMessage,
} from "./library/function-calling.ts";
export { HubClient } from "./api/client/client.ts";
export type * from "./api/client/types.ts";
export { HubError } from "./errors.ts";
export type { ErrorBody, ErrorCode, ErrorDetails, ErrorKind, RpcError } from "./errors.ts";
export type { IdentityProvider, SecretValue, ServerAuth } from "./config/schema/auth.ts";
export type { NetworkConfig, TlsFiles } from "./config/schema/network.ts";
export type { ResilienceEntry } from "./config/schema/resilience.ts";
export type { ToolSettings, ToolSettingsMap } from "./config/schema/tool-settings.ts";
export type {
  EnvEntry,
  EraChoice,
  GroupConfig,
  GroupExposure,
  Isolation,
  Launcher,
  NpmMode,
  RemoteTransport,
  ServerConfig,
  Source,
  StdioTransport,
  Transport,
} from "./config/schema/types.ts";
export type { JsonObject } from "./lib/json/json.ts";
export type { ClientInfo } from "./servers/connection/handshake.ts";
export type { Stage, Status } from "./servers/status.ts";
