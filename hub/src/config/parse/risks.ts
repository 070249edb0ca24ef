// Finds settings that give a server access to the host. In a file written by hand they cause a warning; an edit through the hub
// must not add them.

import { findExposures } from "./docker-flags.ts";
import type { ServerConfig } from "../schema/types.ts";

export interface Risk {
  readonly field: string;
  readonly reason: string;
}

/** Variables that make programs run other code. Case-insensitive because npm accepts both cases. */
const ENV_RISKS =
  /^(?:LD_PRELOAD|LD_LIBRARY_PATH|LD_AUDIT|DYLD_.*|NODE_OPTIONS|PYTHONSTARTUP|BASH_ENV|GIT_SSH_COMMAND|NPM_CONFIG_.*)$/i;
const CONTAINERS = /^(?:docker|podman|nerdctl)$/;

/** Whether a variable can make a program run other code. */
export function runsOtherCode(variable: string): boolean {
  return ENV_RISKS.test(variable);
}

/** The risks of a server, each once. */
export function findRisks({ env, transport }: ServerConfig): Risk[] {
  const risks = new Map<string, Risk>();
  const add = (field: string, reason: string) => risks.set(reason, { field, reason });
  for (const name of Object.keys(env)) {
    if (runsOtherCode(name)) add(`env.${name}`, `the variable ${name} can make a program run other code`);
  }
  if (transport.type !== "stdio") return [...risks.values()];
  const { args } = transport;
  const program = programOf(transport.command);
  if (CONTAINERS.test(program)) for (const reason of findExposures(args)) add("args", reason);
  if (program === "npx" || (program === "npm" && /^(?:exec|x)$/.test(args[0] ?? ""))) {
    const option = findNpmCall(program === "npm" ? args.slice(1) : args);
    if (option !== undefined) add("args", `${option} makes npx run a shell command instead of a package`);
  }
  return [...risks.values()];
}

/** The file name without folder and Windows extension. */
function programOf(command: string): string {
  const base = command.slice(Math.max(command.lastIndexOf("/"), command.lastIndexOf("\\")) + 1);
  return base.replace(/\.(?:exe|cmd|bat|ps1)$/i, "");
}

/** npm accepts abbreviated long options and combined short ones. */
const NPM_CALL = /^(?:--cal|--call|--script-shell|--shell|--node-options)(?:=|$)|^-[a-z]{0,5}c/i;
const NPM_SWITCHES =
  /^(?:-[a-z]+|--(?:yes|no|no-install|quiet|silent|prefer-offline|prefer-online|offline|ignore-existing))$/i;

/** The option that makes npx run something other than a package. Arguments of the package do not count. */
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
