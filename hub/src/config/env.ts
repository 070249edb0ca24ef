// The environment that an entry grants to its server, from a map or a list, in one form. Nothing is filled in here:
// values and secrets are read when the server starts.

import { HubError } from "../errors.ts";
import { ENV_VARS_MAX } from "./limits.ts";
import type { EnvInput, ServerEntry } from "./schema.ts";
import type { EnvEntry, ServerConfig } from "./types.ts";

/** All variables of `env` and `env_vars`; one given twice is refused, because either could be meant. */
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
        throw new HubError("InvalidConfig", `The variable ${name} is given twice`, { field: `${field}.${name}` });
      }
      env[name] = toEntry(input);
    }
  }
  // What a package of the registry asks for; what the entry itself says of a variable is added to it.
  for (const variable of [...(pkg?.environmentVariables ?? []), ...(pkg?.environment_variables ?? [])]) {
    const asked = toEntry(variable);
    const given = Object.hasOwn(env, variable.name) ? env[variable.name] : undefined;
    env[variable.name] = given?.secretRef === undefined ? { ...asked, ...given } : { ...marksOf(asked), ...given };
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

function marksOf({ isSecret, required }: EnvEntry): EnvEntry {
  return { ...(isSecret === undefined ? {} : { isSecret }), ...(required === undefined ? {} : { required }) };
}

/** Refuses a server whose required variable has neither a value nor a secret: it could never start (MC-NT4). */
export function requireCredentials({ env }: ServerConfig): void {
  for (const [name, { value, secretRef, required }] of Object.entries(env)) {
    if (!required || value || secretRef !== undefined) continue;
    throw new HubError("InvalidConfig", "Missing required credentials", {
      field: `env.${name}`,
      detail: `The variable ${name} is required`,
      hint: `Give ${name} a value or a secretRef`,
    });
  }
}
