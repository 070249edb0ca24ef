// The JSON Schema of the config files, generated from the rules that validate them.

import * as z from "zod/mini";
import { callLogEntry } from "../../config/schema/call-log.ts";
import { hubLimitsEntry } from "../../config/schema/hub-limits.ts";
import { groupEntry, serverEntry } from "../../config/schema/schema.ts";
import { HubError } from "../../errors.ts";

const servers = z.looseObject({
  $schema: z.optional(z.string()),
  mcpServers: z.record(z.string(), serverEntry),
  limits: z.optional(hubLimitsEntry),
  call_log: z.optional(callLogEntry),
});
const groups = z.record(z.string(), groupEntry);

const FILES = {
  servers: { schema: servers, title: "Plugboard: mcp_server.json" },
  groups: { schema: groups, title: "Plugboard: group.json" },
} as const;

export function configSchema(file: string): unknown {
  const known = file === "servers" || file === "groups" ? FILES[file] : undefined;
  if (known === undefined) {
    throw new HubError("InvalidArgument", `Unknown file "${file}"`, {
      field: "file",
      hint: "plugboard config schema servers|groups",
    });
  }
  const json = z.toJSONSchema(known.schema, { io: "input", unrepresentable: "any" });
  return { ...json, title: known.title };
}
