// A server's config with everything filled in (LC-2): `${NAME}` from the hub's environment, secrets from their store.
// Done anew at each start and never written back. Building the command line is launch.ts's.

import { unescape } from "node:querystring";
import { expandList, expandRecord, expandText } from "../config/expand.ts";
import type { Variables } from "../config/expand.ts";
import type { EnvEntry, ServerConfig, Transport } from "../config/types.ts";
import { HubError } from "../errors.ts";
import type { SecretStore } from "../secrets/store.ts";

export interface ResolvedServer {
  readonly name: string;
  readonly transport: Transport;
  readonly env: Readonly<Record<string, string>>;
  /** Values that must never be shown: for the redactor. */
  readonly secrets: readonly string[];
}

export interface ResolveSources {
  readonly variables: Variables;
  readonly secrets: Pick<SecretStore, "get">;
}

const CONFIG_VARIABLE = "MCP_SERVER_CONFIG";
const SECRET_NAME = /authorization|cookie|token|secret|passw|credential|api[-_]?key|private[-_]?key/i;

export async function resolveServer(config: ServerConfig, sources: ResolveSources): Promise<ResolvedServer> {
  const env: Record<string, string> = {};
  const secrets = new Set<string>();
  // In order, not all at once: of several missing values the first is named, every time.
  for (const [name, entry] of Object.entries(config.env)) {
    const value = await resolveEntry(name, entry, sources);
    if (value === undefined) continue;
    env[name] = value;
    if (entry.secretRef !== undefined || (entry.isSecret ?? SECRET_NAME.test(name))) secrets.add(value);
  }
  const transport = resolveTransport(config.transport, sources.variables, env);
  if (transport.type !== "stdio")
    for (const value of remoteSecrets(transport.url, transport.headers)) secrets.add(value);
  if (config.config !== undefined) env[CONFIG_VARIABLE] ??= JSON.stringify(config.config);
  secrets.delete("");
  return { name: config.name, transport, env, secrets: [...secrets] };
}

async function resolveEntry(name: string, entry: EnvEntry, sources: ResolveSources): Promise<string | undefined> {
  const { secretRef, value } = entry;
  if (secretRef !== undefined) {
    const secret = await sources.secrets.get(secretRef);
    if (secret !== undefined) return secret;
    throw missing(name, `The secret ${secretRef} is not in the secret store`, `plugboard secret set ${secretRef}`);
  }
  const filled = value === undefined ? undefined : expandText(value, sources.variables, `env.${name}`);
  if (entry.required === true && !filled) {
    throw missing(name, `${name} is required and has no value`, `Give ${name} a value, or a secretRef`);
  }
  return filled;
}

function missing(name: string, detail: string, hint: string): HubError {
  return new HubError("InvalidConfig", "Missing required credentials", { field: `env.${name}`, detail, hint });
}

function resolveTransport(transport: Transport, variables: Variables, env: Record<string, string>): Transport {
  if (transport.type === "stdio") return { ...transport, args: expandList(transport.args, variables, "args") };
  // A remote server has no environment: its entries, and so its secrets, are there for `${NAME}` in url and headers.
  // Arguments do not get them: a command line is open to every user of the machine.
  const known = { ...variables, ...env };
  return {
    ...transport,
    url: expandText(transport.url, known, "url"),
    headers: expandRecord(transport.headers, known, "headers"),
  };
}

/** Credentials that stand in a URL or in headers. */
function remoteSecrets(url: string, headers: Readonly<Record<string, string>>): string[] {
  const found = Object.entries(headers).flatMap(([name, value]) =>
    SECRET_NAME.test(name) ? [value, value.replace(/^(Bearer|Basic|Token)\s+/i, "")] : [],
  );
  if (!URL.canParse(url)) return found;
  const { password, searchParams } = new URL(url);
  const inQuery = [...searchParams].filter(([name]) => SECRET_NAME.test(name)).map(([, value]) => value);
  return [...found, unescape(password), ...inQuery];
}
