// What in an entry would give a server power over the machine. A person who writes the file by hand may want that, and
// is only warned; an edit that comes through the hub may not add it. Acting on the list is left to file.ts.

import { findExposures } from "./docker-flags.ts";
import type { ServerConfig } from "./types.ts";

export interface Risk {
  readonly field: string;
  readonly reason: string;
}

/** Variables by which any program can be made to run other code. npm takes its own in either case. */
const ENV_RISKS =
  /^(?:LD_PRELOAD|LD_LIBRARY_PATH|LD_AUDIT|DYLD_.*|NODE_OPTIONS|PYTHONSTARTUP|BASH_ENV|GIT_SSH_COMMAND|NPM_CONFIG_.*)$/i;
const CONTAINERS = /^(?:docker|podman|nerdctl)$/;

/** The risks of a server, each reason once. */
export function findRisks({ env, transport }: ServerConfig): Risk[] {
  const risks = new Map<string, Risk>();
  const add = (field: string, reason: string) => risks.set(reason, { field, reason });
  for (const name of Object.keys(env)) {
    if (ENV_RISKS.test(name)) add(`env.${name}`, `the variable ${name} can make a program run other code`);
  }
  if (transport.type !== "stdio") return [...risks.values()];
  const { args } = transport;
  const program = programOf(transport.command);
  if (CONTAINERS.test(program)) for (const reason of findExposures(args)) add("args", reason);
  if (program === "npx" || (program === "npm" && /^(?:exec|x)$/.test(args[0] ?? ""))) {
    const option = findNpmCall(program === "npm" ? args.slice(1) : args);
    if (option !== undefined) add("args", `${option} makes npx run a command line and no package`);
  }
  return [...risks.values()];
}

/** Without its folder, and without what Windows adds. */
function programOf(command: string): string {
  const base = command.slice(Math.max(command.lastIndexOf("/"), command.lastIndexOf("\\")) + 1);
  return base.replace(/\.(?:exe|cmd|bat|ps1)$/i, "");
}

/** npm takes the beginning of an option for the whole, and short ones in one word. */
const NPM_CALL = /^(?:--cal|--call|--script-shell|--shell|--node-options)(?:=|$)|^-[a-z]{0,5}c/i;
const NPM_SWITCHES =
  /^(?:-[a-z]+|--(?:yes|no|no-install|quiet|silent|prefer-offline|prefer-online|offline|ignore-existing))$/i;

/** The option by which npx runs something else than a package; the package's own arguments do not count. */
function findNpmCall(args: readonly string[]): string | undefined {
  let mayBeValue = false;
  for (const word of args) {
    if (word === "--") return undefined;
    if (!word.startsWith("-")) {
      if (!mayBeValue) return undefined;
      mayBeValue = false;
      continue;
    }
    if (NPM_CALL.test(word)) return word.split("=", 1)[0];
    mayBeValue = word === "-p" || !(word.includes("=") || NPM_SWITCHES.test(word));
  }
  return undefined;
}
