// The library: a hub inside your own process, a client of one server, a client of a running hub, and their types.

export { createHub } from "./library/create-hub.ts";
export type { AvailableTool, CreateHubOptions, EmbeddedHub } from "./library/create-hub.ts";
export { McpClient } from "./library/mcp-client.ts";
export type { ConnectOptions, ToolDefinition } from "./library/mcp-client.ts";
export type { QuestionHandler, QuestionHandlers } from "./library/program-client.ts";
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
export { HubError } from "./errors.ts";
export type { ErrorBody, ErrorCode, ErrorKind, RpcError } from "./errors.ts";
export type { GroupConfig, ServerConfig } from "./config/schema/types.ts";
export type { Status } from "./servers/status.ts";
