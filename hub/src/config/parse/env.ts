// Normalizes the environment variables of an entry, given as a map or a list. Values and secrets are resolved when the server
// starts.

import { HubError } from "../../errors.ts";
import { ENV_VARS_MAX } from "../schema/limits.ts";
import type { EnvInput, ServerEntry } from "../schema/schema.ts";
import type { EnvEntry, ServerConfig } from "../schema/types.ts";

/** All variables of `env` and `env_vars`. Throws if a variable is in both: either could be meant. */
export function toEnv(entry: ServerEntry): Record<string, EnvEntry> {
  const env: Record<string, EnvEntry> = {};
  const { env: plain, env_vars, envVars, package: pkg } = entry;
  for (const [field, given] of Object.entries({ env: plain, env_vars, envVars })) {
    const variables = given ?? {};
    const pairs = Array.isArray(variables)
      ? variables.map((variable): [string, EnvInput] => [variable.name, variable])
      : Object.entries(variables);
    for (const [name, input] of pairs) {
      if (Object.hasOwn(env, name)) {
        throw new HubError("InvalidConfig", `The variable ${name} is defined twice`, { field: `${field}.${name}` });
      }
      env[name] = toEntry(input);
    }
  }
  // Variables that a registry package declares. The values of the entry take precedence.
  for (const variable of [...(pkg?.environmentVariables ?? []), ...(pkg?.environment_variables ?? [])]) {
    const declared = toEntry(variable);
    const given = Object.hasOwn(env, variable.name) ? env[variable.name] : undefined;
    env[variable.name] =
      given?.secretRef === undefined ? { ...declared, ...given } : { ...flagsOf(declared), ...given };
  }
  if (Object.keys(env).length > ENV_VARS_MAX) {
    const message = `At most ${ENV_VARS_MAX} environment variables are allowed`;
    throw new HubError("InvalidConfig", message, { field: "env_vars" });
  }
  return env;
}

function toEntry(input: EnvInput): EnvEntry {
  if (typeof input !== "object") return { value: String(input) };
  const secretRef = input.secret_ref ?? input.secretRef;
  const isSecret = input.is_secret ?? input.isSecret;
  const required = input.required ?? input.isRequired ?? input.is_required;
  const value = input.value ?? (typeof secretRef === "string" ? undefined : input.default);
  return {
    ...(typeof value === "string" ? { value } : {}),
    ...(typeof secretRef === "string" ? { secretRef } : {}),
    ...(isSecret === undefined ? {} : { isSecret }),
    ...(required === undefined ? {} : { required }),
  };
}

function flagsOf({ isSecret, required }: EnvEntry): EnvEntry {
  return { ...(isSecret === undefined ? {} : { isSecret }), ...(required === undefined ? {} : { required }) };
}

/** Throws if a required variable has neither a value nor a secret: the server could never start (MC-NT4). */
export function requireCredentials({ env }: ServerConfig): void {
  for (const [name, { value, secretRef, required }] of Object.entries(env)) {
    if (!required || value || secretRef !== undefined) continue;
    throw new HubError("InvalidConfig", "Missing required credentials", {
      field: `env.${name}`,
      detail: `The variable ${name} is required`,
      hint: `Set a value or a secretRef for ${name}`,
    });
  }
}
