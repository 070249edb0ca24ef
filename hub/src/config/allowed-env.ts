// Which variables of the hub's environment an entry may take into its command line, address and headers: those that it
// declares, those that the operator allows, and in a command line a few that say nothing secret. An entry that was copied
// from somewhere must not be able to send any variable anywhere. Filling them in is left to expand.ts.

import { HubError } from "../errors.ts";
import { referencesIn } from "./expand.ts";
import { normalizeServer } from "./normalize.ts";
import type { ServerConfig } from "./types.ts";

/** The operator's list: names by comma, `PREFIX_*` for all that begin so. */
export const ALLOW_VARIABLE = "PLUGBOARD_ALLOW_ENV";

/** Where the user's files are, and who that is: fit for paths, and of no use to anybody else's address. */
const HARMLESS = /^(?:HOME|USER|LOGNAME|USERPROFILE|PWD|TMPDIR|TEMP|LANG|TZ|XDG_[A-Z_]+)$/;

/** A variable that an entry uses and has not declared. */
export interface UndeclaredVariable {
  readonly name: string;
  readonly field: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Each name once, with the first place that it is used in. */
export function findUndeclared(
  { transport, env, allowEnv = [], network = {} }: Pick<ServerConfig, "transport" | "env" | "allowEnv" | "network">,
  variables: Environment,
): UndeclaredVariable[] {
  const operator = (variables[ALLOW_VARIABLE] ?? "").split(",").map((pattern) => pattern.trim());
  const allowed = [...Object.keys(env), ...allowEnv, ...operator];
  const isLocal = transport.type === "stdio";
  const places: (readonly [field: string, text: string])[] = isLocal
    ? [
        ["command", transport.command],
        ["cwd", transport.cwd ?? ""],
        ...transport.args.map((arg, index): [string, string] => [`args.${index}`, arg]),
      ]
    : [
        ["url", transport.url],
        ...Object.entries(transport.headers).map(([name, value]): [string, string] => [`headers.${name}`, value]),
      ];
  if (typeof network.proxy === "string") places.push(["proxy", network.proxy]);
  if (network.tls?.servername !== undefined) places.push(["tls.servername", network.tls.servername]);
  const found = new Map<string, UndeclaredVariable>();
  for (const [field, text] of places) {
    for (const name of referencesIn(text)) {
      const isKnown = (isLocal && HARMLESS.test(name)) || allowed.some((pattern) => fits(name, pattern));
      if (!isKnown && !found.has(name)) found.set(name, { name, field });
    }
  }
  return [...found.values()];
}

/** An entry that comes through the hub may not use more than it declares; what it used before stays its own. */
export function requireDeclared(server: ServerConfig, before: ServerConfig | undefined, variables: Environment): void {
  const known = before === undefined ? [] : findUndeclared(before, variables).map(({ name }) => name);
  const added = findUndeclared(server, variables).find(({ name }) => !known.includes(name));
  if (added === undefined) return;
  throw new HubError("InvalidConfig", `The entry uses the variable ${added.name} without declaring it`, {
    field: added.field,
    hint: `If the server may have it, add to the entry: "allowEnv": ["${added.name}"]`,
  });
}

/** An entry with a declaration of what it uses, for whoever has just written it or vouches for it. */
export function withDeclared(
  entry: Readonly<Record<string, unknown>>,
  isVouchedFor: (use: UndeclaredVariable) => boolean = () => true,
): Record<string, unknown> {
  const server = normalizeServer("entry", entry);
  const names = findUndeclared(server, {}).flatMap((use) => (isVouchedFor(use) ? [use.name] : []));
  return names.length === 0 ? { ...entry } : { ...entry, allowEnv: [...(server.allowEnv ?? []), ...names] };
}

/** What to say of an entry in the file, which goes on working for now. */
export function undeclaredWarning(server: string, undeclared: readonly UndeclaredVariable[]): string[] {
  if (undeclared.length === 0) return [];
  const uses = undeclared.map(({ name, field }) => `\${${name}} (${field})`).join(", ");
  const names = undeclared.map(({ name }) => JSON.stringify(name)).join(", ");
  return [
    `Server "${server}" uses ${uses} without declaring it, which a later version will refuse: add to its entry ` +
      `"allowEnv": [${names}]; plugboard doctor --fix does it`,
  ];
}

function fits(name: string, pattern: string): boolean {
  return pattern.endsWith("*") ? pattern.length > 1 && name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
