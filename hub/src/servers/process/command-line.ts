// Builds the command line of a stdio server, and the variables that its entry grants.

import type { Launcher } from "../../config/schema/types.ts";
import { HubError } from "../../errors.ts";
import { parseDockerRun } from "../../config/parse/docker-flags.ts";
import { toServerRun } from "./docker-run.ts";
import { START_VARIABLE } from "./environment.ts";
import type { Program } from "../npm/program.ts";
import type { ResolvedServer } from "./resolve.ts";

export interface LaunchCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly launcher: Launcher;
  /** The container that the command creates, and the client that can remove it. */
  readonly container?: { readonly name: string; readonly client: string };
}

export interface LaunchOptions {
  /** The id of this run of the hub. */
  readonly instance: string;
  /** The id of this start: letters, digits, `_`, `.` and `-`. */
  readonly unique: string;
  /** The program of the package, in place of npx. */
  readonly program?: Program;
}

/**
 * @example launchCommand(resolved, { instance: "4f1c", unique: "7" }).args // ["-y", "some-mcp-server"]
 */
export function launchCommand(resolved: ResolvedServer, options: LaunchOptions): LaunchCommand {
  const { instance, unique, program } = options;
  const { transport, name } = resolved;
  if (transport.type !== "stdio") {
    throw new HubError("InvalidConfig", `Server ${name} is reached by URL and has no command`, { field: "command" });
  }
  const { command, launcher, hardened, cwd } = transport;
  const base = { command, launcher, ...(cwd === undefined ? {} : { cwd }) };
  const mark = { [START_VARIABLE]: `${instance}.${unique}` };
  const run = launcher === "docker" ? parseDockerRun(transport.args) : undefined;
  if (run !== undefined) {
    const containerName = `plugboard-${name}-${unique}`;
    const prepared = toServerRun(run, { env: resolved.env, name: containerName, instance, hardened });
    const container = { name: prepared.containerName, client: command };
    return { ...base, args: prepared.args, env: { ...prepared.env, ...mark }, container };
  }
  if (hardened) {
    throw new HubError("InvalidConfig", "Only a server started by docker run can be hardened", {
      field: launcher === "docker" ? "args.0" : "hardened",
    });
  }
  if (program !== undefined) {
    // "binary": its stderr must not be read as npm's.
    return { ...base, ...program, launcher: "binary", env: { ...resolved.env, ...mark } };
  }
  return { ...base, args: transport.args, env: { ...resolved.env, ...mark } };
}
