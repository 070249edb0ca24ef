// Which variables of the hub's environment an entry may use in command line, url and headers: declared ones, those that the
// operator allows, and in a command line a few that are never secret. An entry copied from an untrusted place must not send
// an arbitrary variable to an arbitrary url. expand.ts substitutes the values.

import { HubError } from "../../errors.ts";
import { textsInAuth } from "./auth-entry.ts";
import { personalName, referencesIn } from "./expand.ts";
import { normalizeServer } from "./normalize.ts";
import type { ServerConfig } from "../schema/types.ts";

/** The operator's allow list: comma-separated names, or `PREFIX_*`. */
export const ALLOW_VARIABLE = "PLUGBOARD_ALLOW_ENV";

/** Variables that paths need and that are never secret. */
const NOT_SECRET = /^(?:HOME|USER|LOGNAME|USERPROFILE|PWD|TMPDIR|TEMP|LANG|TZ|XDG_[A-Z_]+)$/;

/** A variable that an entry uses without declaring it. */
export interface UndeclaredVariable {
  readonly name: string;
  readonly field: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

type VariableUser = Pick<ServerConfig, "transport" | "auth" | "env" | "allowEnv" | "network">;

/** Each variable once, with the first field that uses it. */
export function findUndeclaredVariables(
  { transport, auth, env, allowEnv = [], network = {} }: VariableUser,
  variables: Environment,
): UndeclaredVariable[] {
  const operatorAllowed = (variables[ALLOW_VARIABLE] ?? "").split(",").map((pattern) => pattern.trim());
  const allowed = [...Object.keys(env), ...allowEnv, ...operatorAllowed];
  const isLocal = transport.type === "stdio";
  const fields: (readonly [field: string, text: string])[] = isLocal
    ? [
        ["command", transport.command],
        ["cwd", transport.cwd ?? ""],
        ...transport.args.map((arg, index): [string, string] => [`args.${index}`, arg]),
      ]
    : [
        ["url", transport.url],
        ...Object.entries(transport.headers).map(([name, value]): [string, string] => [`headers.${name}`, value]),
      ];
  if (typeof network.proxy === "string") fields.push(["proxy", network.proxy]);
  if (network.tls?.servername !== undefined) fields.push(["tls.servername", network.tls.servername]);
  if (auth !== undefined) fields.push(...textsInAuth(auth));
  // It is sent as it is.
  if (auth?.tokenEnv !== undefined) fields.push(["auth.token_env", `\${${auth.tokenEnv}}`]);
  const found = new Map<string, UndeclaredVariable>();
  for (const [field, text] of fields) {
    for (const name of referencesIn(text)) {
      const isKnown = (isLocal && NOT_SECRET.test(name)) || allowed.some((pattern) => matches(name, pattern));
      if (!isKnown && personalName(name) === undefined && !found.has(name)) found.set(name, { name, field });
    }
  }
  return [...found.values()];
}

/** Throws if an edit through the hub adds an undeclared variable. Those that the entry used before are allowed. */
export function requireDeclaredVariables(
  server: ServerConfig,
  before: ServerConfig | undefined,
  variables: Environment,
): void {
  const known = before === undefined ? [] : findUndeclaredVariables(before, variables).map(({ name }) => name);
  const added = findUndeclaredVariables(server, variables).find(({ name }) => !known.includes(name));
  if (added === undefined) return;
  throw new HubError("InvalidConfig", `The entry uses the variable ${added.name} without declaring it`, {
    field: added.field,
    hint: `To allow it, add to the entry: "allowEnv": ["${added.name}"]`,
  });
}

/** Adds the variables that an entry uses to its allowEnv. For entries that the user has written or confirmed. */
export function declareVariables(
  entry: Readonly<Record<string, unknown>>,
  isTrusted: (use: UndeclaredVariable) => boolean = () => true,
): Record<string, unknown> {
  const server = normalizeServer("entry", entry);
  const names = findUndeclaredVariables(server, {}).flatMap((use) => (isTrusted(use) ? [use.name] : []));
  return names.length === 0 ? { ...entry } : { ...entry, allowEnv: [...(server.allowEnv ?? []), ...names] };
}

/** The warning for an entry in the file, which still works. */
export function undeclaredWarning(server: string, undeclared: readonly UndeclaredVariable[]): string[] {
  if (undeclared.length === 0) return [];
  const uses = undeclared.map(({ name, field }) => `\${${name}} (${field})`).join(", ");
  const names = undeclared.map(({ name }) => JSON.stringify(name)).join(", ");
  return [
    `Server "${server}" uses ${uses} without declaring it, which a later version will refuse: add to its entry ` +
      `"allowEnv": [${names}]; plugboard doctor --fix does it`,
  ];
}

function matches(name: string, pattern: string): boolean {
  return pattern.endsWith("*") ? pattern.length > 1 && name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
