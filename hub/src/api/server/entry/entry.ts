// Writes a server's config as an entry in the API's spelling, with its secrets in clear or masked.

import { isCommonValue } from "../../../redaction/entropy.ts";
import {
  hideAll,
  isLiteralSecret,
  MASK,
  maskArgs,
  maskJson,
  maskSecret,
  maskText,
  maskUrl,
  type Hide,
} from "../../../redaction/mask.ts";
import { secretsInAuth, toAuthEntry } from "../../../config/parse/auth-entry.ts";
import type { ServerAuth } from "../../../config/schema/auth.ts";
import type { NetworkConfig } from "../../../config/schema/network.ts";
import type { EnvEntry, ServerConfig, Source, Transport } from "../../../config/schema/types.ts";
import { fromFields, noFieldsLeft, type AllFields } from "@plugboard/shared/fields";
import { isSecretVariable } from "../../../servers/server-secrets.ts";
import type { ShownConfig } from "../../schemas/server.ts";
import { NO_SECRETS, type KnownSecrets } from "./known-secrets.ts";

/** A server entry as a file could have it; members at their default are left out. */
export interface Entry extends Omit<ShownConfig, "command" | "args" | "env"> {
  command?: string;
  args?: string[];
  env?: Record<string, string | EnvEntry>;
}

export const asIs: Hide = (secret) => secret;

/**
 * @param known secrets from elsewhere that are hidden if the entry repeats them
 * @example toEntry(server.config, hideAll) // { …, env: { API_KEY: "***" } }
 */
export function toEntry(server: ServerConfig, hide: Hide, known = NO_SECRETS): Entry {
  const { id, name, enabled, description, source, transport, env, allowEnv, config, timeouts, ...others } = server;
  const {
    auth,
    isolation,
    era,
    npm,
    pins,
    resilience,
    results,
    network,
    groups,
    writtenAs: _,
    invalid: __,
    incomplete: ___,
    ...rest
  } = others;
  noFieldsLeft(rest);
  const masking = { hide, secrets: known.with(secretValues(server)) };
  const variables = Object.entries(env).map(([key, entry]) => [key, toVariable(key, entry, masking)]);
  return fromFields<Entry>({
    id,
    name,
    enabled,
    description,
    ...toTransportFields(transport, masking),
    auth: auth && toShownAuth(auth, masking),
    env: variables.length === 0 ? undefined : Object.fromEntries(variables),
    allowEnv: allowEnv && [...allowEnv],
    source: source.type === "manual" ? undefined : toSource(source),
    config: config === undefined ? undefined : maskJson(hideInJson(config, masking), hide),
    timeouts: Object.keys(timeouts).length === 0 ? undefined : toTimeouts(timeouts),
    isolation,
    era,
    npm,
    pins,
    resilience,
    results,
    ...toNetworkFields(network, hide),
    groups: groups.length === 0 ? undefined : [...groups],
  });
}

function toTimeouts({ startMs, installMs, requestMs, ...rest }: ServerConfig["timeouts"]): Entry["timeouts"] {
  noFieldsLeft(rest);
  return fromFields<NonNullable<Entry["timeouts"]>>({
    start_ms: startMs,
    install_ms: installMs,
    request_ms: requestMs,
  });
}

function toNetworkFields(
  { proxy, tls, ...rest }: NetworkConfig = {},
  hide: Hide,
): AllFields<Pick<Entry, "proxy" | "tls">> {
  noFieldsLeft(rest);
  return { proxy: typeof proxy === "string" ? maskUrl(proxy, hide) : proxy, tls };
}

/** The config of a server in API answers: `command`, `args` and `env` are always present, variables are text, secrets hidden. */
export function toShown(config: ServerConfig, known = NO_SECRETS): ShownConfig {
  const { env = {}, command = "http", args = [], ...entry } = toEntry(config, hideAll, known);
  const texts = Object.entries(env).map(([name, variable]) => [name, toText(variable)]);
  return { ...entry, command, args, env: Object.fromEntries(texts) };
}

/** A variable of a shown entry, as one text. */
export function toText(variable: string | EnvEntry): string {
  if (typeof variable === "string") return variable;
  return variable.secretRef === undefined ? (variable.value ?? "") : MASK;
}

/** The values of all secrets in an entry: they are hidden in variables of any name that repeat them. */
export function secretValues({ env, auth }: Pick<ServerConfig, "env" | "auth">): readonly string[] {
  const variables = Object.entries(env).filter(([name, entry]) => isSecretVariable(name, entry));
  const secrets = [...variables, ...(auth === undefined ? [] : secretsInAuth(auth))];
  return secrets.flatMap(([, secret]) => {
    const value = "value" in secret ? secret.value : undefined;
    return value === undefined || !isLiteralSecret(value) || isCommonValue(value) ? [] : [value];
  });
}

interface Masking {
  readonly hide: Hide;
  readonly secrets: KnownSecrets;
}

/** A variable in an entry: text, or an object if it has more than a value. */
export function toVariable(name: string, entry: EnvEntry, { hide, secrets }: Masking): string | EnvEntry {
  const { value, ...marks } = entry;
  const isSecret = isSecretVariable(name, entry) || (value !== undefined && secrets.has(value));
  const shown =
    value === undefined ? undefined : isSecret ? maskSecret(value, hide) : maskText(secrets.hideIn(value, hide), hide);
  if (Object.keys(marks).length === 0) return shown ?? "";
  return { ...(shown === undefined ? {} : { value: shown }), ...marks };
}

/** Hides secrets in strings at any depth. */
function hideInJson(value: unknown, { hide, secrets }: Masking): unknown {
  if (typeof value === "string") return secrets.hideIn(value, hide);
  if (Array.isArray(value)) return value.map((item) => hideInJson(item, { hide, secrets }));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, hideInJson(member, { hide, secrets })]));
}

/** References are shown, since they name a secret and are none; literal secrets are hidden. */
function toShownAuth(auth: ServerAuth, { hide, secrets }: Masking): Entry["auth"] {
  return toAuthEntry(auth, {
    secret: (secret) => ("secretRef" in secret ? { ...secret } : maskSecret(secret.value, hide)),
    text: (value) => secrets.hideIn(maskText(value, hide), hide),
  });
}

type TransportField = "command" | "args" | "cwd" | "hardened" | "type" | "url" | "headers";

function toTransportFields(transport: Transport, { hide, secrets }: Masking): AllFields<Pick<Entry, TransportField>> {
  if (transport.type === "stdio") {
    const { type: _, launcher: __, command, args, cwd, hardened, ...rest } = transport;
    noFieldsLeft(rest);
    return {
      ...NO_TRANSPORT,
      command,
      args: args.length === 0 ? undefined : maskArgs(args, hide).map((arg) => secrets.hideIn(arg, hide)),
      cwd,
      hardened: hardened || undefined,
    };
  }
  const { type, url, headers, ...rest } = transport;
  noFieldsLeft(rest);
  const masked = Object.entries(headers).map(([name, value]) => [name, maskSecret(value, hide)]);
  return {
    ...NO_TRANSPORT,
    type,
    url: secrets.hideIn(maskUrl(url, hide), hide),
    headers: masked.length === 0 ? undefined : Object.fromEntries(masked),
  };
}

const NO_TRANSPORT = {
  command: undefined,
  args: undefined,
  cwd: undefined,
  hardened: undefined,
  type: undefined,
  url: undefined,
  headers: undefined,
};

function toSource(source: Source): Record<string, string> {
  if (source.type === "smithery") return { type: source.type, qualified_name: source.qualifiedName };
  if (source.type !== "registry") return { ...source };
  const { type: _, ...rest } = source;
  return rest;
}
