// A group, as it is written and as it is shown.

import * as z from "zod/mini";
import { approvalRule, resultLimits } from "../../config/schema/call-rules.ts";
import { groupEntry } from "../../config/schema/schema.ts";
import { groupTools } from "../../config/schema/tool-settings.ts";
import { component, describe } from "./docs.ts";
import { errorBody } from "./error.ts";

export const group = component(
  "Group",
  z.object({
    name: z.string(),
    description: z.nullable(z.string()),
    servers: describe(z.array(z.string()), "Includes servers that the group names and that are not configured"),
    unknown_servers: describe(z.array(z.string()), "The servers among them that are not configured"),
    tools: describe(
      groupTools,
      "Patterns of tools that are exposed, or hidden after `!`; empty: all. An object if tools have settings, by pattern",
    ),
    name_asker: describe(z.nullable(z.boolean()), "Whether questions name the server that asks; null: default"),
    access: describe(
      z.nullable(z.array(z.string())),
      "Who may use it: `user:`, `team:` or `service:` and a name, or `*`; null: as auth.default_access says, or not for this caller to know",
    ),
    exposure: describe(
      z.nullable(z.enum(["auto", "all", "search"])),
      "Whether clients get all tools, or tools that search them; null: default, by the size of the tools",
    ),
    always: describe(z.array(z.string()), "Patterns of tools that are listed although the group is searched"),
    approve: describe(
      z.nullable(approvalRule),
      "Which calls a person approves first; null: none, except of tools whose settings say so",
    ),
    approval_timeout_ms: describe(z.nullable(z.int()), "How long a call waits for approval; null: default"),
    results: describe(z.nullable(resultLimits), "How large results may be; null: as the entries of the servers say"),
    is_searched: describe(z.boolean(), "Whether clients get tools that search, in place of all tools"),
    declared: describe(z.boolean(), "False if no config file names the group: the default group, or one from a hint"),
    error: describe(z.nullable(errorBody), "Why the group in the file is invalid"),
    path: describe(z.string(), "Path of its MCP endpoint"),
    tool_count: z.int(),
    tokens: describe(z.int(), "What the definitions of all its tools take of a model's context: an estimate"),
    too_many_for: describe(
      z.array(z.object({ client: z.string(), title: z.string(), limit: z.int() })),
      "Clients that support fewer tools than they get",
    ),
    prompt_count: z.int(),
    resource_count: z.int(),
  }),
);
export type GroupView = z.infer<typeof group>;

export const groupInput = component(
  "GroupEntry",
  z.strictObject({ name: z.optional(z.string()), ...groupEntry.shape }),
);
export const newGroup = component("NewGroup", z.strictObject({ ...groupEntry.shape, name: z.string() }));
export type GroupInput = z.infer<typeof groupInput>;

export const groupPreviewInput = component(
  "GroupPreviewInput",
  z.strictObject({
    name: describe(z.optional(z.string()), "The saved group to compare with"),
    servers: z.array(z.string()),
    tools: groupTools,
    exposure: groupEntry.shape.exposure,
  }),
);
export type GroupPreviewInput = z.infer<typeof groupPreviewInput>;

const previewedTool = z.object({
  name: describe(z.string(), "The name that clients would see"),
  server: z.string(),
  tool: describe(z.string(), "Its name on the server"),
  tokens: describe(z.int(), "An estimate of its definition"),
  rule: describe(z.nullable(z.string()), "The pattern that lets it in; null if no pattern is needed"),
  change: z.enum(["same", "new", "renamed"]),
  was: describe(z.nullable(z.string()), "Its present name, if that changes"),
});

export const groupPreview = component(
  "GroupPreview",
  z.object({
    tools: z.array(previewedTool),
    hidden: describe(
      z.array(z.object({ server: z.string(), tool: z.string(), tokens: z.int(), rule: z.nullable(z.string()) })),
      "Tools of its servers that are kept out, and the pattern that does it; null: no pattern lets it in",
    ),
    removed: describe(z.array(z.string()), "Present names of the tools that leave the saved group"),
    tool_count: z.int(),
    tokens: z.int(),
    is_searched: describe(z.boolean(), "Whether clients would get tools that search, in place of all tools"),
    saved: describe(
      z.nullable(z.object({ tool_count: z.int(), tokens: z.int() })),
      "The saved group; null if there is none of that name",
    ),
    misfits: describe(
      z.array(z.object({ field: z.string(), message: z.string() })),
      "Settings that do not fit their tool: a group with them is not saved. They are among the warnings too",
    ),
    warnings: z.array(z.string()),
    clients: describe(
      z.array(z.object({ client: z.string(), title: z.string(), limit: z.int(), fits: z.boolean() })),
      "Clients that support a limited number of tools",
    ),
  }),
);
export type GroupPreview = z.infer<typeof groupPreview>;
