// A server's config in the API's spelling, whichever one it was written in, with its secrets shown or hidden.

import { isCommonplace } from "../../config/commonplace.ts";
import { hideAll, MASK, maskArgs, maskJson, maskSecret, maskText, maskUrl, type Hide } from "../../config/mask.ts";
import type { NetworkConfig } from "../../config/network.ts";
import type { EnvEntry, ServerConfig, Source } from "../../config/types.ts";
import { isSecretVariable } from "../../servers/secrets-of.ts";
import type { ShownConfig } from "../schemas/server.ts";

/** An entry as a file could have it; members at their default are left out. */
export interface Entry extends Omit<ShownConfig, "command" | "args" | "env"> {
  command?: string;
  args?: string[];
  env?: Record<string, string | EnvEntry>;
}

export const asIs: Hide = (secret) => secret;

/** @example toEntry(server.config, hideAll) // { …, env: { API_KEY: "***" } } */
export function toEntry(config: ServerConfig, hide: Hide): Entry {
  const { id, name, enabled, description, timeouts, groups } = config;
  const secrets = secretValues(config.env);
  const env = Object.entries(config.env).map(([variable, entry]) => [
    variable,
    toVariable(variable, entry, { hide, secrets }),
  ]);
  const { startMs, installMs, requestMs } = timeouts;
  return {
    id,
    name,
    enabled,
    ...(description === undefined ? {} : { description }),
    ...toWay(config, hide),
    ...(env.length === 0 ? {} : { env: Object.fromEntries(env) }),
    ...(config.allowEnv === undefined ? {} : { allowEnv: [...config.allowEnv] }),
    ...(config.source.type === "manual" ? {} : { source: toSource(config.source) }),
    ...(config.config === undefined ? {} : { config: maskJson(config.config, hide) }),
    ...(Object.keys(timeouts).length === 0
      ? {}
      : {
          timeouts: {
            ...(startMs === undefined ? {} : { start_ms: startMs }),
            ...(installMs === undefined ? {} : { install_ms: installMs }),
            ...(requestMs === undefined ? {} : { request_ms: requestMs }),
          },
        }),
    ...(config.isolation === undefined ? {} : { isolation: config.isolation }),
    ...(config.era === undefined ? {} : { era: config.era }),
    ...(config.npm === undefined ? {} : { npm: config.npm }),
    ...(config.resilience === undefined ? {} : { resilience: config.resilience }),
    ...toNetwork(config.network, hide),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
  };
}

function toNetwork({ proxy, tls }: NetworkConfig = {}, hide: Hide): Partial<Entry> {
  return {
    ...(proxy === undefined ? {} : { proxy: typeof proxy === "string" ? maskUrl(proxy, hide) : proxy }),
    ...(tls === undefined ? {} : { tls }),
  };
}

/** As S4 shows a server: what it names is always there, variables are texts, secrets are hidden. */
export function toShown(config: ServerConfig): ShownConfig {
  const { env = {}, command = "http", args = [], ...entry } = toEntry(config, hideAll);
  const texts = Object.entries(env).map(([name, variable]) => [name, toText(variable)]);
  return { ...entry, command, args, env: Object.fromEntries(texts) };
}

/** A variable of a shown entry, as one text. */
export function toText(variable: string | EnvEntry): string {
  if (typeof variable === "string") return variable;
  return variable.secretRef === undefined ? (variable.value ?? "") : MASK;
}

/** The values of all variables that are secret: one that repeats such a value gives it away, whatever its name. */
export function secretValues(env: ServerConfig["env"]): ReadonlySet<string> {
  const secret = Object.entries(env).filter(([name, entry]) => isSecretVariable(name, entry));
  return new Set(secret.flatMap(([, { value }]) => (value === undefined || isCommonplace(value) ? [] : [value])));
}

interface Showing {
  readonly hide: Hide;
  readonly secrets: ReadonlySet<string>;
}

/** A variable as an entry has it: a text, or an object where it has marks. */
export function toVariable(name: string, entry: EnvEntry, { hide, secrets }: Showing): string | EnvEntry {
  const { value, ...marks } = entry;
  const isSecret = isSecretVariable(name, entry) || (value !== undefined && secrets.has(value));
  const shown = value === undefined ? undefined : isSecret ? maskSecret(value, hide) : maskText(value, hide);
  if (Object.keys(marks).length === 0) return shown ?? "";
  return { ...(shown === undefined ? {} : { value: shown }), ...marks };
}

function toWay({ transport }: ServerConfig, hide: Hide): Partial<Entry> {
  if (transport.type === "stdio") {
    const { command, args, cwd, hardened } = transport;
    return {
      command,
      ...(args.length === 0 ? {} : { args: maskArgs(args, hide) }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(hardened ? { hardened } : {}),
    };
  }
  const headers = Object.entries(transport.headers).map(([name, value]) => [name, maskSecret(value, hide)]);
  return {
    type: transport.type,
    url: maskUrl(transport.url, hide),
    ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
  };
}

function toSource(source: Source): Record<string, string> {
  return source.type === "smithery" ? { type: source.type, qualified_name: source.qualifiedName } : { ...source };
}
