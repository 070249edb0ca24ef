// A changed entry in the hand of the one who wrote it: what the change leaves alone keeps its spelling, so that the file
// keeps it too, with its comments.

import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "../../config/plain.ts";
import type { ServerConfig } from "../../config/types.ts";

/** What a part of a config is written as, in any spelling. */
const PARTS: readonly { readonly part: keyof ServerConfig; readonly keys: readonly string[] }[] = [
  { part: "id", keys: ["id"] },
  { part: "enabled", keys: ["enabled", "disabled"] },
  { part: "description", keys: ["description"] },
  {
    part: "transport",
    keys: ["command", "args", "cwd", "hardened", "type", "url", "headers", "package", "transport"],
  },
  { part: "env", keys: ["env", "env_vars", "envVars"] },
  { part: "allowEnv", keys: ["allowEnv", "allow_env"] },
  { part: "source", keys: ["source"] },
  { part: "config", keys: ["config"] },
  { part: "timeouts", keys: ["timeouts", "timeout"] },
  { part: "isolation", keys: ["isolation"] },
  { part: "era", keys: ["era"] },
  { part: "npm", keys: ["npm"] },
  { part: "resilience", keys: ["resilience"] },
  { part: "network", keys: ["proxy", "tls", "ca"] },
  { part: "groups", keys: ["groups"] },
];

const KNOWN: ReadonlySet<string> = new Set(["name", ...PARTS.flatMap(({ keys }) => keys)]);

export interface Change {
  /** The entry as it is written now, and what it means. */
  readonly stored: Readonly<JsonObject>;
  readonly before: ServerConfig;
  /** The entry as it shall be, and what it means. */
  readonly given: Readonly<JsonObject>;
  readonly after: ServerConfig;
}

export function rewriteEntry({ stored, before, given, after }: Change): JsonObject {
  const renamed = before.name !== after.name;
  const entry: JsonObject = { name: after.name, ...othersOf(given) };
  for (const { part, keys } of PARTS) {
    // An id that was only the name must not change with it.
    const same = isDeepStrictEqual(before[part], after[part]) && !(part === "id" && renamed);
    const source = same ? stored : given;
    for (const key of keys) if (source[key] !== undefined) entry[key] = source[key];
  }
  // How S4 shows a server that has a url; the url alone says it.
  if (entry["command"] === "http" && entry["url"] !== undefined) {
    delete entry["command"];
    delete entry["args"];
  }
  return entry;
}

/** The members that are not the hub's: other clients keep theirs in the same entry. */
export function othersOf(entry: Readonly<JsonObject>): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !KNOWN.has(key)));
}
