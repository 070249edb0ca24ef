// A server's config with everything filled in (LC-2): `${NAME}` from the hub's environment, secrets from their store.
// Done anew at each start and never written back. Building the command line is launch.ts's.

import { homedir } from "node:os";
import { isAbsolute, join, resolve, sep } from "node:path";
import { expandList, expandRecord, expandText, type OnFilled, type Variables } from "../config/expand.ts";
import type { NetworkConfig } from "../config/network.ts";
import type { EnvEntry, ServerConfig, Transport } from "../config/types.ts";
import { HubError } from "../errors.ts";
import type { SecretStore } from "../secrets/store.ts";
import { isSecretFilling, secretsOf } from "./secrets-of.ts";

export interface ResolvedServer {
  readonly name: string;
  readonly transport: Transport;
  readonly env: Readonly<Record<string, string>>;
  readonly network?: NetworkConfig;
  /** Values that must never be shown: for the redactor. */
  readonly secrets: readonly string[];
}

export interface ResolveSources {
  readonly variables: Variables;
  /** What relative paths start from. Without it they are left as they are. */
  readonly configFolder?: string;
  readonly secrets: Pick<SecretStore, "get">;
}

const CONFIG_VARIABLE = "MCP_SERVER_CONFIG";

export async function resolveServer(config: ServerConfig, sources: ResolveSources): Promise<ResolvedServer> {
  const env: Record<string, string> = {};
  const entries: Record<string, EnvEntry> = {};
  const secrets = new Set(secretsOf(config));
  const onFilled: OnFilled = (name, value) => {
    // Of a remote server's own variables: one that is marked as no secret is none in its url either.
    if (config.env[name]?.isSecret !== false && isSecretFilling(name, value)) secrets.add(value);
  };
  // In order, not all at once: of several missing values the first is named, every time.
  const absent = new Map<string, HubError>();
  for (const [name, entry] of Object.entries(config.env)) {
    const { value, missing: why } = await resolveEntry(
      name,
      entry,
      sources,
      entry.isSecret === false ? undefined : onFilled,
    );
    if (why !== undefined) absent.set(name, why);
    env[name] = value;
    entries[name] = { ...entry, value };
  }
  const transport = resolveTransport(config.transport, sources, { env, absent }, onFilled);
  const network = resolveNetwork(config.network, sources, env, onFilled);
  for (const secret of secretsOf({ transport, env: entries, network })) secrets.add(secret);
  if (config.config !== undefined) env[CONFIG_VARIABLE] ??= JSON.stringify(config.config);
  return { name: config.name, transport, env, network, secrets: [...secrets] };
}

function resolveNetwork(
  { proxy, tls }: NetworkConfig = {},
  sources: Omit<ResolveSources, "secrets">,
  env: Record<string, string>,
  onFilled: OnFilled,
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

async function resolveEntry(
  name: string,
  entry: EnvEntry,
  sources: ResolveSources,
  onFilled: OnFilled | undefined,
): Promise<Resolved> {
  const { secretRef, value, required = false } = entry;
  if (secretRef !== undefined) {
    const secret = await sources.secrets.get(secretRef);
    if (secret !== undefined) return { value: secret };
    const detail = `The secret ${secretRef}, which ${name} takes, is not in the secret store`;
    const why = missing(name, detail, `plugboard secret set ${secretRef}`);
    if (required) throw why;
    return { value: "", missing: why };
  }
  const filled = value === undefined ? "" : expandText(value, sources.variables, `env.${name}`, onFilled);
  if (required && filled === "") {
    throw missing(name, `${name} is required and has no value`, `Give ${name} a value, or a secretRef`);
  }
  return { value: filled };
}

interface Resolved {
  readonly value: string;
  /** It is empty for want of this, which only matters where it is used. */
  readonly missing?: HubError;
}

function missing(name: string, detail: string, hint: string): HubError {
  return new HubError("InvalidConfig", "Missing required credentials", { field: `env.${name}`, detail, hint });
}

function resolveTransport(
  transport: Transport,
  sources: Omit<ResolveSources, "secrets">,
  { env, absent }: { env: Readonly<Record<string, string>>; absent: ReadonlyMap<string, HubError> },
  onFilled: OnFilled,
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
  // A remote server has no environment: its entries, and so its secrets, are there for `${NAME}` in url and headers.
  // Arguments do not get them: a command line is open to every user of the machine.
  const known = { ...variables, ...env };
  // A request without its credential would only be refused, for a reason that says less.
  for (const text of [transport.url, ...Object.values(transport.headers)]) {
    for (const [, name = ""] of text.matchAll(/\$\{([A-Za-z_]\w*)\}/g)) {
      const why = absent.get(name);
      if (why !== undefined) throw why;
    }
  }
  return {
    ...transport,
    url: expandText(transport.url, known, "url", onFilled),
    headers: expandRecord(transport.headers, known, "headers", onFilled),
  };
}

/** A program without a folder in its name is searched in PATH. */
export function resolveCommand(command: string, sources: Omit<ResolveSources, "secrets">, onFilled?: OnFilled): string {
  const filled = expandText(command, sources.variables, "command", onFilled);
  const isPath = filled.includes("/") || filled.includes(sep) || filled === "~";
  return isPath ? resolvePath(filled, sources) : filled;
}

/** `~` is the user's home; a relative path starts from the folder of the config, wherever the hub was started. */
function resolvePath(path: string, { variables, configFolder }: Omit<ResolveSources, "secrets">): string {
  const home = () => variables["HOME"] || variables["USERPROFILE"] || homedir();
  if (path === "~") return home();
  if (path.startsWith("~/") || path.startsWith(`~${sep}`)) return join(home(), path.slice(2));
  return configFolder === undefined || isAbsolute(path) ? path : resolve(configFolder, path);
}
