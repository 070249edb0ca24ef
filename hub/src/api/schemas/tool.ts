// Tools, resources and prompts of a server, and calls of them.

import { z } from "@hono/zod-openapi";
import * as limits from "../../config/limits.ts";
import { outcome } from "./call.ts";
import { json } from "./json.ts";

export const tool = z
  .object({
    name: z.string(),
    description: z.string(),
    input_schema: json,
    title: z.string().optional(),
    output_schema: json.optional(),
    annotations: json.optional(),
  })
  .openapi("MCPTool");
export type Tool = z.infer<typeof tool>;

export const groupTool = tool
  .extend({
    server: z.string().openapi({ description: "The server that has it" }),
    tool: z.string().openapi({ description: "The name that the server knows" }),
  })
  .openapi("GroupTool");
export type GroupTool = z.infer<typeof groupTool>;

export const resource = z
  .object({
    uri: z.string(),
    name: z.string(),
    description: z.string().optional(),
    mime_type: z.string().optional(),
  })
  .openapi("MCPResource");
export type Resource = z.infer<typeof resource>;

const timeoutMs = z.number().int().min(1).max(limits.TIMEOUT_MAX_MS);

export const toolCall = z.strictObject({
  arguments: json.default({}),
  timeout_ms: timeoutMs.optional(),
  workflow_id: z
    .string()
    .max(limits.WORKFLOW_ID_MAX)
    .optional()
    .openapi({ description: "Kept in the call log, which can be searched for it" }),
});

export const toolCallResult = z
  .object({
    success: z.boolean(),
    outcome,
    content: z.unknown(),
    error: z.string().optional(),
    code: z.string().optional().openapi({
      description:
        "Of a call that is not ok: SERVICE_UNAVAILABLE, or VALIDATION_ERROR where the server takes the arguments for wrong",
    }),
    duration_ms: z.number(),
    structured_content: z.unknown().optional(),
    rpc_error: json.optional().openapi({ description: "The server's own JSON-RPC error, unchanged" }),
  })
  .openapi("MCPToolCallResult");
export type ToolCallResult = z.infer<typeof toolCallResult>;

export const resourceRead = z.strictObject({
  uri: z.string().min(1).max(limits.URL_MAX),
  timeout_ms: timeoutMs.optional(),
});

export const promptGet = z.strictObject({
  arguments: z.record(z.string(), z.string()).default({}),
  timeout_ms: timeoutMs.optional(),
});

export const anyResult = z.looseObject({}).openapi("MCPResult");
