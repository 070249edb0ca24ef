// Fills in single values of a server's config: variables of its entry, secrets from the store, paths.

import { homedir } from "node:os";
import { isAbsolute, join, resolve, sep } from "node:path";
import { expandText, personalVariable, type OnExpanded, type Variables } from "../../config/parse/expand.ts";
import { personalSecretsOf } from "../../config/parse/per-user.ts";
import type { EnvEntry, ServerConfig } from "../../config/schema/types.ts";
import { HubError } from "../../errors.ts";
import { quoted } from "../../lib/quoted.ts";
import type { PersonalSecrets } from "../../secrets/personal.ts";
import type { SecretStore } from "../../secrets/store.ts";

export interface ResolveSources {
  readonly variables: Variables;
  /** The base of relative paths. Without it they stay as they are. */
  readonly configFolder?: string;
  readonly secrets: Pick<SecretStore, "get">;
  readonly personalSecrets?: Pick<PersonalSecrets, "get">;
  /** On whose behalf: the owner of the personal secrets that are filled in. Default: the owner of the hub. */
  readonly principal?: string;
}

/** Adds the personal secrets that an entry uses to the variables. Throws SecretRequired if the person has not stored one. */
export async function withPersonalSecrets(
  server: Pick<ServerConfig, "name" | "transport" | "env">,
  sources: ResolveSources,
  secrets: Set<string>,
): Promise<ResolveSources> {
  const names = personalSecretsOf(server);
  if (names.length === 0) return sources;
  const { personalSecrets, principal = OWNER } = sources;
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = await personalSecrets?.get(principal, name);
    if (value === undefined) throw secretRequired(server.name, name, principal);
    found[personalVariable(name)] = value;
    secrets.add(value);
  }
  return { ...sources, variables: { ...sources.variables, ...found } };
}

/** The principal of the hub's owner. */
const OWNER = "local";

function secretRequired(server: string, name: string, principal: string): HubError {
  return new HubError("SecretRequired", `Server "${server}" needs your personal secret ${name}`, {
    delivery: "rejected",
    detail: `The entry uses \${user:${name}}, and ${principal} has stored no such secret`,
    hint: `plugboard secret set ${name} --for ${quoted(principal)}`,
  });
}

export interface ResolvedEnv {
  readonly env: Readonly<Record<string, string>>;
  /** Why a variable is empty. An error only if the variable is used. */
  readonly absent: ReadonlyMap<string, HubError>;
}

/** In order: of several missing values the error always names the first. */
export async function resolveEnv(
  env: ServerConfig["env"],
  sources: ResolveSources,
  onFilled: OnExpanded,
): Promise<ResolvedEnv> {
  const values: Record<string, string> = {};
  const absent = new Map<string, HubError>();
  for (const [name, entry] of Object.entries(env)) {
    const { value, missing } = await resolveEntry(
      name,
      entry,
      sources,
      entry.isSecret === false ? undefined : onFilled,
    );
    if (missing !== undefined) absent.set(name, missing);
    values[name] = value;
  }
  return { env: values, absent };
}

async function resolveEntry(
  name: string,
  entry: EnvEntry,
  sources: ResolveSources,
  onFilled: OnExpanded | undefined,
): Promise<{ value: string; missing?: HubError }> {
  const { secretRef, value, required = false } = entry;
  const field = `env.${name}`;
  if (secretRef !== undefined) {
    const secret = await sources.secrets.get(secretRef);
    if (secret !== undefined) return { value: secret };
    const missing = missingSecret(field, secretRef, name);
    if (required) throw missing;
    return { value: "", missing };
  }
  const filled = value === undefined ? "" : expandText(value, sources.variables, field, onFilled);
  if (required && filled === "") {
    const hint = `Set a value or a secretRef for ${name}`;
    throw missingCredentials(field, `${name} is required and has no value`, hint);
  }
  return { value: filled };
}

export function missingSecret(field: string, secretRef: string, user: string): HubError {
  const detail = `The secret ${secretRef} for ${user} is not in the secret store`;
  return missingCredentials(field, detail, `plugboard secret set ${secretRef}`);
}

function missingCredentials(field: string, detail: string, hint: string): HubError {
  return new HubError("InvalidConfig", "Missing required credentials", { field, detail, hint });
}

/** Throws if a text uses a variable without a value: a request without its credential would be refused with a vaguer reason. */
export function requirePresent(texts: readonly string[], { absent }: Pick<ResolvedEnv, "absent">): void {
  for (const text of texts) {
    for (const [, name = ""] of text.matchAll(/\$\{([A-Za-z_]\w*)\}/g)) {
      const missing = absent.get(name);
      if (missing !== undefined) throw missing;
    }
  }
}

/** `~` is the user's home. Relative paths start from the config's folder, not from the hub's working directory. */
export function resolvePath(path: string, { variables, configFolder }: Omit<ResolveSources, "secrets">): string {
  const home = () => variables["HOME"] || variables["USERPROFILE"] || homedir();
  if (path === "~") return home();
  if (path.startsWith("~/") || path.startsWith(`~${sep}`)) return join(home(), path.slice(2));
  return configFolder === undefined || isAbsolute(path) ? path : resolve(configFolder, path);
}
