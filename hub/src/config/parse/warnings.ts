// Warnings about a valid config. The catalog warns about group entries that match nothing.

import { plainSecretsInAuth } from "./auth-entry.ts";
import { findRisks } from "./risks.ts";
import type { HubConfig, ServerConfig } from "../schema/types.ts";
import { quoted } from "./error-path.ts";

export function findWarnings({ servers, invalidGroups = [] }: Pick<HubConfig, "servers" | "invalidGroups">): string[] {
  return [
    ...servers.flatMap(serverWarnings),
    ...invalidGroups.map(({ error }) => `${error.message}. The group is ignored`),
  ];
}

/** The warnings about one server. */
export function serverWarnings(server: ServerConfig): string[] {
  const { name, writtenAs, invalid, enabled } = server;
  const renamed =
    writtenAs === undefined
      ? []
      : [`Server ${quoted(writtenAs)} is named "${name}" here: names may only contain letters, digits, _ and -`];
  // An enabled invalid server is listed with its error, so it needs no warning.
  if (invalid !== undefined) return enabled ? renamed : [...renamed, `${invalid.message} (it is disabled)`];
  return [...renamed, ...authWarnings(server), ...findRisks(server).map(({ reason }) => `Server "${name}": ${reason}`)];
}

function authWarnings({ name, transport, auth }: ServerConfig): string[] {
  if (auth === undefined || transport.type === "stdio") return [];
  const header = Object.keys(transport.headers).find((key) => key.toLowerCase() === "authorization");
  const isReplaced = header !== undefined && auth.type !== "none";
  const plain = plainSecretsInAuth(auth).map((field) => {
    const stored = `${name}-${field.replaceAll(".", "-")}`;
    return `Server "${name}": ${field} is stored as plain text. Safer: plugboard secret set ${stored}, then write { "secretRef": "${stored}" } instead`;
  });
  return [
    ...(isReplaced
      ? [`Server "${name}": the header ${header} is not sent, because the entry has auth: remove one`]
      : []),
    ...plain,
  ];
}
