// MCP clients on this machine: their config files, the import of their servers, and the hub's own entry in them.

import * as z from "zod/mini";
import { component, describe } from "./docs.ts";
import { errorBody } from "./error.ts";
import { json } from "./json.ts";

const names = z.array(z.string());
const transport = z.enum(["http", "stdio"]);

export const client = component(
  "Client",
  z.object({
    id: z.string(),
    title: z.string(),
    installed: describe(z.boolean(), "Its config file or its config folder exists"),
    path: describe(z.string(), "Its config file; the one that would be created if there is none"),
    scope: describe(
      z.enum(["user", "project"]),
      "`project`: the file of the folder in the query, in place of the user's file",
    ),
    hub: describe(
      z.nullable(z.object({ entry: describe(z.string(), "Name of the entry"), group: z.string(), transport })),
      "The hub's entry in its file",
    ),
    servers: describe(z.int(), "Number of other servers in its file"),
    duplicates: describe(names, "Those of its servers that the hub has too"),
    error: describe(z.nullable(errorBody), "Why its file cannot be read"),
    tool_limit: z.nullable(z.int()),
    transports: describe(z.array(transport), "What it can connect with"),
    restart_hint: describe(z.nullable(z.string()), "What the user does for a change to take effect"),
    deep_link: describe(z.nullable(z.string()), "An address that adds the hub to the client when it is opened"),
  }),
);
export type Client = z.infer<typeof client>;

const folder = describe(
  z.optional(z.string().check(z.minLength(1))),
  "Absolute path of a project, for its file in place of the user's",
);
export const clientQuery = z.strictObject({ folder });

export const importCandidate = component(
  "ImportCandidate",
  z.object({
    client: z.string(),
    name: describe(z.string(), "Its name in the client"),
    as: describe(z.nullable(z.string()), "Its name in the hub: the planned one, or that of the same server"),
    kind: describe(z.nullable(z.string()), "As `kind` of a server; null if the entry is invalid"),
    command_line: describe(z.string(), "The command line or the address, without credentials"),
    path: describe(z.string(), "The file that it comes from"),
    scope: describe(z.enum(["user", "local", "project"]), "`local`: of one folder, in the user's file"),
    entry: describe(z.nullable(json), "What would be saved, without credentials"),
    secrets: describe(z.int(), "Number of credentials that would be moved to the secret store"),
    missing_secrets: describe(names, "Secrets that the client asks its user for, and the hub's store lacks"),
    notes: names,
    state: describe(
      z.enum(["new", "same", "conflict", "invalid"]),
      "`same`: the hub has this server; `conflict`: the hub has another server of that name",
    ),
    reason: describe(z.nullable(z.string()), "Why it is not new"),
    enabled_by_default: describe(z.boolean(), "False for a server of a project's file, and for one that is disabled"),
  }),
);
export type ImportCandidate = z.infer<typeof importCandidate>;

export const importPlan = component(
  "ImportPlan",
  z.object({
    servers: z.array(importCandidate),
    broken: describe(
      z.array(z.object({ client: z.string(), path: z.string(), error: errorBody })),
      "Files that cannot be read",
    ),
    notes: describe(
      z.array(z.object({ client: z.string(), text: z.string() })),
      "Settings of other hubs and gateways that have no equivalent here, and what to do instead",
    ),
  }),
);
export type ImportPlan = z.infer<typeof importPlan>;

export const importInput = z.strictObject({
  servers: z
    .array(
      z.strictObject({
        client: z.string(),
        name: describe(z.string(), "Its name in the client"),
        path: describe(z.optional(z.string()), "Its file, if the client has several"),
        as: describe(z.optional(z.string()), "Another name in the hub"),
      }),
    )
    .check(z.minLength(1), z.maxLength(1000)),
  folder,
  approve: describe(
    z.optional(z.boolean()),
    "A person has seen what they run: they start. Default: they wait for an approval, as those of a project always do",
  ),
});
export type ImportInput = z.infer<typeof importInput>;

export const importResult = component(
  "ImportResult",
  z.object({
    added: describe(names, "Names in the hub"),
    skipped: z.array(z.object({ client: z.string(), name: z.string(), reason: z.string() })),
    groups: describe(names, "Groups that were set, for clients that use only some tools"),
    missing_secrets: describe(names, "Secrets that the imported servers need, and the store lacks"),
  }),
);
export type ImportResult = z.infer<typeof importResult>;

const target = {
  group: describe(z.optional(z.string()), "Default: `default`"),
  transport: describe(z.optional(transport), "Default: `stdio`, which starts the hub if none is running"),
  takeover: describe(z.optional(z.boolean()), "Also remove the client's own entries of servers that the hub has"),
  folder,
};

export const installInput = component("ClientInstall", z.strictObject(target));
export type InstallInput = z.infer<typeof installInput>;

export const clientPlan = component(
  "ClientPlan",
  z.object({
    path: z.string(),
    before: describe(z.string(), "The file, with its credentials masked; empty if there is none"),
    after: describe(z.string(), "The file after the change, masked in the same way"),
    summary: describe(z.string(), "The change as a sentence"),
    change: z.enum(["added", "replaced", "removed", "none"]),
    removed: describe(names, "Servers of the client that the change removes"),
    warnings: names,
    restart_hint: z.nullable(z.string()),
  }),
);
export type ClientPlan = z.infer<typeof clientPlan>;

export const clientChange = component(
  "ClientChange",
  z.object({
    path: z.string(),
    backup: describe(z.nullable(z.string()), "Id of the backup of the previous file; null if nothing has changed"),
    changed: z.boolean(),
    removed: describe(names, "Servers of the client that were removed"),
    restart_hint: z.nullable(z.string()),
  }),
);
export type ClientChange = z.infer<typeof clientChange>;

export const backup = component(
  "ClientBackup",
  z.object({
    id: z.string(),
    client: z.string(),
    path: z.string(),
    at: z.string(),
    bytes: describe(z.nullable(z.int()), "Null if there was no file"),
  }),
);
export type ClientBackup = z.infer<typeof backup>;
