// Settings of the hub. Those of the call log are in mcp_server.json; the others come from the environment and the command line.

import * as z from "zod/mini";
import { callLogFields } from "../../config/schema/call-log.ts";
import { component, describe } from "./docs.ts";

export const settings = component(
  "Settings",
  z.object({
    call_log: z.object({
      retention_days: describe(z.number(), "Older calls are deleted"),
      max_bytes: describe(z.number(), "If the log is larger, its oldest calls are deleted"),
      max_calls: describe(z.int(), "If it has more calls, the oldest are deleted; not a setting"),
      used_bytes: describe(z.int(), "Without space that deleted calls leave to new ones"),
      oldest_at: describe(z.nullable(z.string()), "When the oldest call began"),
    }),
    otlp: z.object({ endpoint: describe(z.nullable(z.string()), "Where traces are sent; from the environment") }),
    paths: describe(
      z.object({ config: z.string(), data: z.string(), state: z.string(), cache: z.string() }),
      "Folders of the hub",
    ),
    listen: describe(z.nullable(z.string()), "Address of the hub"),
  }),
);
export type Settings = z.infer<typeof settings>;

export const settingsPatch = component(
  "SettingsPatch",
  z.strictObject({
    call_log: describe(
      z.optional(
        z.strictObject({
          retention_days: z.nullish(callLogFields.retention_days),
          max_bytes: z.nullish(callLogFields.max_bytes),
        }),
      ),
      "Null restores the default",
    ),
  }),
);
export type SettingsPatch = z.infer<typeof settingsPatch>;
