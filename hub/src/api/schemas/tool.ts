// Tools, resources and prompts of a server, and calls of them.

import * as z from "zod/mini";
import * as limits from "../../config/schema/limits.ts";
import { outcome } from "./call.ts";
import { component, describe } from "./docs.ts";
import { json } from "./json.ts";

const toolShape = {
  name: z.string(),
  description: z.string(),
  input_schema: json,
  title: z.optional(z.string()),
  output_schema: z.optional(json),
  annotations: z.optional(json),
  warnings: describe(
    z.optional(z.array(z.string())),
    "What is suspicious about its texts: invisible characters, comments, commands to the model. Absent: nothing",
  ),
};

export const tool = component(
  "MCPTool",
  z.object({
    ...toolShape,
    approval: describe(
      z.optional(z.enum(["added", "changed"])),
      "It is not as it was approved: new, or changed since. Absent: it is",
    ),
    withheld: describe(z.optional(z.boolean()), "It is not listed and cannot be called until it is approved"),
  }),
);
export type Tool = z.infer<typeof tool>;

export const groupTool = component(
  "GroupTool",
  z.object({
    ...toolShape,
    server: describe(z.string(), "Name of the server that has the tool"),
    tool: describe(z.string(), "Name of the tool on its server"),
  }),
);
export type GroupTool = z.infer<typeof groupTool>;

const tokens = describe(z.int(), "Estimated tokens of the definition that clients get");

export const toolDetail = component("MCPToolDetail", z.object({ ...tool.shape, tokens }));
export type ToolDetail = z.infer<typeof toolDetail>;

export const groupToolDetail = component("GroupToolDetail", z.object({ ...groupTool.shape, tokens }));
export type GroupToolDetail = z.infer<typeof groupToolDetail>;

/** Bits of the flags in a tool index: hints that the tool sets to true. */
export const TOOL_FLAGS = { readOnly: 1, destructive: 2, idempotent: 4, openWorld: 8 } as const;

export const toolIndex = component(
  "ToolIndex",
  z.object({
    servers: z.array(z.string()),
    tools: describe(
      z.array(z.tuple([z.int(), z.string(), z.string(), z.nullable(z.string()), z.int(), z.int()])),
      "Of each tool: index of its server in `servers`, name that clients see, name on the server, title, flags (1 reads only, 2 destructive, 4 idempotent, 8 open world), tokens",
    ),
  }),
);
export type ToolIndex = z.infer<typeof toolIndex>;

export const prompt = component(
  "MCPPrompt",
  z.object({
    name: z.string(),
    title: z.optional(z.string()),
    description: z.optional(z.string()),
    arguments: z.optional(
      z.array(
        z.object({
          name: z.string(),
          title: z.optional(z.string()),
          description: z.optional(z.string()),
          required: z.optional(z.boolean()),
        }),
      ),
    ),
  }),
);
export type Prompt = z.infer<typeof prompt>;

export const resourceTemplate = component(
  "MCPResourceTemplate",
  z.object({
    uri_template: z.string(),
    name: z.string(),
    title: z.optional(z.string()),
    description: z.optional(z.string()),
    mime_type: z.optional(z.string()),
  }),
);
export type ResourceTemplate = z.infer<typeof resourceTemplate>;

export const resource = component(
  "MCPResource",
  z.object({
    uri: z.string(),
    name: z.string(),
    description: z.optional(z.string()),
    mime_type: z.optional(z.string()),
  }),
);
export type Resource = z.infer<typeof resource>;

const timeoutMs = z.int().check(z.gte(1), z.lte(limits.TIMEOUT_MAX_MS));

export const toolCall = z.strictObject({
  arguments: z._default(json, {}),
  timeout_ms: z.optional(timeoutMs),
  workflow_id: describe(
    z.optional(z.string().check(z.maxLength(limits.WORKFLOW_ID_MAX))),
    "Stored in the call log, which can be filtered by it",
  ),
});

export const toolCallResult = component(
  "MCPToolCallResult",
  z.object({
    success: z.boolean(),
    outcome,
    content: z.unknown(),
    error: z.optional(z.string()),
    code: describe(
      z.optional(z.string()),
      "Unless the outcome is `ok`: NETWORK_ERROR, or VALIDATION_ERROR if the server rejects the arguments",
    ),
    duration_ms: z.number(),
    structured_content: z.optional(z.unknown()),
    rpc_error: describe(z.optional(json), "The JSON-RPC error of the server, unchanged"),
  }),
);
export type ToolCallResult = z.infer<typeof toolCallResult>;

export const resourceRead = z.strictObject({
  uri: z.string().check(z.minLength(1), z.maxLength(limits.URL_MAX)),
  timeout_ms: z.optional(timeoutMs),
});

export const promptGet = z.strictObject({
  arguments: z._default(z.record(z.string(), z.string()), {}),
  timeout_ms: z.optional(timeoutMs),
});

export const anyResult = component("MCPResult", z.looseObject({}));
