// What in a config works, but should be known. What groups name in vain, the catalog says.

import { findRisks } from "./risks.ts";
import type { HubConfig, ServerConfig } from "./types.ts";
import { quoted } from "./where.ts";

export function findWarnings({ servers, invalidGroups = [] }: Pick<HubConfig, "servers" | "invalidGroups">): string[] {
  return [
    ...servers.flatMap(serverWarnings),
    ...invalidGroups.map(({ error }) => `${error.message}. The group is left out`),
  ];
}

/** What should be known of one server. */
export function serverWarnings(server: ServerConfig): string[] {
  const { name, writtenAs, invalid, enabled } = server;
  const renamed =
    writtenAs === undefined
      ? []
      : [`Server ${quoted(writtenAs)} is called "${name}" here: a name has letters, digits, _ and - only`];
  // One that is enabled is shown with its error.
  if (invalid !== undefined) return enabled ? renamed : [...renamed, `${invalid.message} (it is disabled)`];
  return [...renamed, ...findRisks(server).map(({ reason }) => `Server "${name}": ${reason}`)];
}
