// A group, as it is written and as it is shown.

import { z } from "@hono/zod-openapi";
import { groupEntry } from "../../config/schema.ts";
import { errorBody } from "./error.ts";
import { fileRules } from "./file-rule.ts";

export const group = z
  .object({
    name: z.string(),
    description: z.string().nullable(),
    servers: z.array(z.string()).openapi({ description: "Also those that the group names and nobody has configured" }),
    unknown_servers: z.array(z.string()).openapi({ description: "Those of them that are not configured" }),
    tools: z
      .array(z.string())
      .openapi({ description: "Which tools it lets through, and after ! which it does not; empty: all" }),
    declared: z
      .boolean()
      .openapi({ description: "False for a group that no config names: the default one, or a hint's" }),
    error: errorBody.nullable().openapi({ description: "Why the group of the file cannot be used" }),
    path: z.string().openapi({ description: "Where its MCP endpoint is" }),
    tool_count: z.number().int(),
    prompt_count: z.number().int(),
    resource_count: z.number().int(),
  })
  .openapi("Group");
export type GroupView = z.infer<typeof group>;

export const groupInput = z
  .strictObject({
    name: z.string().optional(),
    ...fileRules(groupEntry.shape),
  })
  .openapi("GroupEntry");
export const newGroup = z.strictObject({ ...groupInput.shape, name: z.string() }).openapi("NewGroup");
export type GroupInput = z.infer<typeof groupInput>;
