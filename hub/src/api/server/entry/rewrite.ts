// Merges a changed entry into the stored one: unchanged parts keep their spelling, so that the file keeps it too, with its
// comments.

import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../../config/parse/plain-object.ts";
import type { serverEntry } from "../../../config/schema/schema.ts";
import type { ServerConfig } from "../../../config/schema/types.ts";

/** The part of a config that each member of an entry belongs to. Members of one part are written together. */
const PART_OF = {
  id: "id",
  enabled: "enabled",
  disabled: "enabled",
  description: "description",
  command: "transport",
  args: "transport",
  cwd: "transport",
  hardened: "transport",
  type: "transport",
  url: "transport",
  headers: "transport",
  auth: "auth",
  oauth: "auth",
  package: "transport",
  transport: "transport",
  env: "env",
  env_vars: "env",
  envVars: "env",
  allowEnv: "allowEnv",
  allow_env: "allowEnv",
  source: "source",
  config: "config",
  timeouts: "timeouts",
  timeout: "timeouts",
  isolation: "isolation",
  era: "era",
  npm: "npm",
  pins: "pins",
  resilience: "resilience",
  results: "results",
  proxy: "network",
  tls: "network",
  ca: "network",
  groups: "groups",
} as const satisfies Record<keyof typeof serverEntry.shape, keyof ServerConfig>;

const MEMBERS = Object.entries(PART_OF);

export interface Change {
  /** The entry as stored, and parsed. */
  readonly stored: Readonly<JsonObject>;
  readonly before: ServerConfig;
  /** The entry as requested, and parsed. */
  readonly given: Readonly<JsonObject>;
  readonly after: ServerConfig;
}

export function rewriteEntry({ stored, before, given, after }: Change): JsonObject {
  const renamed = before.name !== after.name;
  const entry: JsonObject = { name: after.name, ...othersOf(given) };
  for (const [key, part] of MEMBERS) {
    // An id that defaulted to the old name has to be written once the name changes.
    const isUnchanged = isDeepStrictEqual(before[part], after[part]) && !(part === "id" && renamed);
    const value = (isUnchanged ? stored : given)[key];
    if (value !== undefined) entry[key] = value;
  }
  // The API shows a remote server with the command "http"; in a file the url is enough.
  if (entry["command"] === "http" && entry["url"] !== undefined) {
    delete entry["command"];
    delete entry["args"];
  }
  return entry;
}

/** Members that the hub does not know: other clients store theirs in the same entry. */
export function othersOf(entry: Readonly<JsonObject>): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => key !== "name" && !Object.hasOwn(PART_OF, key)));
}
