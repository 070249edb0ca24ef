// What people approve: what a server runs, and its tools.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";

export const pinPolicy = z.enum(["warn", "block", "off"]);

/** Of one server, in lists. */
export const approval = component(
  "MCPApproval",
  z.object({
    server: z.string(),
    state: describe(
      z.enum(["approved", "required"]),
      "`required`: the server does not start until a person has seen what it runs",
    ),
    reason: describe(z.nullable(z.string()), "Why an approval is required"),
    origin: describe(z.string(), "Where its entry comes from, such as: an import from cursor"),
    by: describe(z.nullable(z.string()), "Who approved what it runs; null for entries written by hand"),
    at: z.nullable(z.string()),
    pins: describe(pinPolicy, "What happens to tools that are not as they were approved"),
    pinned: describe(z.nullable(z.int()), "Approved tools; null: they are pinned when the server has listed them"),
    changed: describe(z.int(), "Tools that have changed since they were approved"),
    added: describe(z.int(), "Tools that are new since then"),
    removed: describe(z.int(), "Approved tools that it no longer has"),
    withheld: describe(z.int(), "Tools that are not listed and cannot be called until they are approved"),
    damaged: describe(z.nullable(z.string()), "Why it is not known what was approved: nothing counts as approved then"),
  }),
);
export type Approval = z.infer<typeof approval>;

const memberChange = z.object({
  path: describe(z.string(), "@example inputSchema.properties.path.description"),
  before: describe(z.nullable(z.string()), "JSON around the part that differs, with escapes for invisible characters"),
  after: z.nullable(z.string()),
});

const toolDifference = z.object({
  tool: z.string(),
  change: z.enum(["added", "changed", "removed"]),
  withheld: z.boolean(),
  warnings: describe(z.array(z.string()), "What is suspicious about its texts"),
  description: describe(z.nullable(z.string()), "Of a new tool, with escapes for invisible characters"),
  members: describe(z.array(memberChange), "Of a changed tool: what differs"),
});
export type ToolDifference = z.infer<typeof toolDifference>;

export const approvalDetail = component(
  "MCPApprovalDetail",
  z.extend(approval, {
    digest: describe(z.string(), "Of everything shown here: an approval that names it holds for nothing else"),
    run: describe(
      z.object({
        command: describe(z.nullable(z.array(z.string())), "The whole command line; credentials are hidden"),
        cwd: z.nullable(z.string()),
        url: z.nullable(z.string()),
        headers: describe(z.array(z.string()), "Names of the headers"),
        env: describe(z.array(z.string()), "Names of the variables that it gets"),
        allow_env: describe(z.array(z.string()), "Variables of the hub that its entry may use"),
      }),
      "What is run, or connected to",
    ),
    differences: z.array(toolDifference),
  }),
);
export type ApprovalDetail = z.infer<typeof approvalDetail>;

export const approvalInput = component(
  "MCPApprovalInput",
  z.strictObject({
    tools: describe(
      z.optional(z.array(z.string()).check(z.minLength(1))),
      "Only these tools. Without it: what the server runs, and all its tools as they are now",
    ),
    digest: describe(z.optional(z.string()), "What was shown: refused with CONFLICT if it is different now"),
  }),
);
export type ApprovalInput = z.infer<typeof approvalInput>;
