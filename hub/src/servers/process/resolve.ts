// Fills in a server's config (LC-2): `${NAME}` from the hub's environment, secrets from their stores. Done at each start and
// never written back.

import { sep } from "node:path";
import { expandList, expandRecord, expandText, type OnExpanded } from "../../config/parse/expand.ts";
import type { NetworkConfig } from "../../config/schema/network.ts";
import type { ServerConfig, Transport } from "../../config/schema/types.ts";
import { noteSecrets, resolveAuth } from "../login/resolve-auth.ts";
import { secretsOf } from "../server-secrets.ts";
import {
  requirePresent,
  resolveEnv,
  resolvePath,
  withPersonalSecrets,
  type ResolvedEnv,
  type ResolveSources,
} from "./resolve-values.ts";

export interface ResolvedServer {
  readonly name: string;
  readonly transport: Transport;
  readonly env: Readonly<Record<string, string>>;
  readonly network?: NetworkConfig;
  /** For the redactor. */
  readonly secrets: readonly string[];
}

const CONFIG_VARIABLE = "MCP_SERVER_CONFIG";

export async function resolveServer(config: ServerConfig, given: ResolveSources): Promise<ResolvedServer> {
  const secrets = new Set(secretsOf(config));
  const sources = await withPersonalSecrets(config, given, secrets);
  const onFilled = noteSecrets(config, secrets);
  const filled = await resolveEnv(config.env, sources, onFilled);
  const transport = resolveTransport(config.transport, sources, filled, onFilled);
  const network = resolveNetwork(config.network, sources, filled, onFilled);
  const auth = await resolveAuth(config, sources);
  const entries = Object.entries(config.env).map(([name, entry]) => [name, { ...entry, value: filled.env[name] }]);
  for (const secret of secretsOf({ transport, env: Object.fromEntries(entries), network })) secrets.add(secret);
  for (const secret of auth.secrets) secrets.add(secret);
  const env = { ...filled.env };
  if (config.config !== undefined) env[CONFIG_VARIABLE] ??= JSON.stringify(config.config);
  return { name: config.name, transport, env, network, secrets: [...secrets] };
}

function resolveNetwork(
  { proxy, tls }: NetworkConfig = {},
  sources: Omit<ResolveSources, "secrets">,
  { env }: ResolvedEnv,
  onFilled: OnExpanded,
): NetworkConfig {
  const known = { ...sources.variables, ...env };
  const filled = typeof proxy === "string" ? expandText(proxy, known, "proxy", onFilled) : proxy;
  const { servername, ...files } = expandRecord({ ...tls }, known, "tls", onFilled);
  const paths = Object.entries(files).map(([what, path]) => [what, resolvePath(path, sources)]);
  return {
    ...(filled === undefined ? {} : { proxy: filled }),
    ...(tls === undefined
      ? {}
      : { tls: { ...Object.fromEntries(paths), ...(servername === undefined ? {} : { servername }) } }),
  };
}

function resolveTransport(
  transport: Transport,
  sources: Omit<ResolveSources, "secrets">,
  given: ResolvedEnv,
  onFilled: OnExpanded,
): Transport {
  const { variables } = sources;
  if (transport.type === "stdio") {
    const { cwd } = transport;
    return {
      ...transport,
      command: resolveCommand(transport.command, sources, onFilled),
      args: expandList(transport.args, variables, "args", onFilled),
      ...(cwd === undefined ? {} : { cwd: resolvePath(expandText(cwd, variables, "cwd", onFilled), sources) }),
    };
  }
  // A remote server has no environment: its entries and secrets are for `${NAME}` in url and headers. Command lines do not get
  // them: every user of the machine can read those.
  const known = { ...variables, ...given.env };
  requirePresent([transport.url, ...Object.values(transport.headers)], given);
  return {
    ...transport,
    url: expandText(transport.url, known, "url", onFilled),
    headers: expandRecord(transport.headers, known, "headers", onFilled),
  };
}

/** A program without a folder in its name is searched in PATH. */
export function resolveCommand(
  command: string,
  sources: Omit<ResolveSources, "secrets">,
  onFilled?: OnExpanded,
): string {
  const filled = expandText(command, sources.variables, "command", onFilled);
  const isPath = filled.includes("/") || filled.includes(sep) || filled === "~";
  return isPath ? resolvePath(filled, sources) : filled;
}
