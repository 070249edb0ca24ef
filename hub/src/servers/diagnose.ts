// Why a server could not be started, as an error that says what to do. Reads exit codes and error codes; of npm and uv,
// which give nothing else, the words in the one table below.

import { access, constants, stat } from "node:fs/promises";
import type { Launcher } from "../config/types.ts";
import { HubError } from "../errors.ts";
import type { ErrorKind } from "../errors.ts";
import { engineAnswers, hasImage } from "./container.ts";
import { parseDockerRun } from "./docker-run.ts";
import type { LaunchCommand } from "./launch.ts";
import type { ProcessExit } from "./process.ts";

type Cause = Extract<ErrorKind, "PackageNotFound" | "ConnectionFailed" | "DockerNotRunning">;

const MESSAGES: Readonly<Record<Cause, string>> = {
  PackageNotFound: "Package not found",
  ConnectionFailed: "The package registry cannot be reached",
  DockerNotRunning: "Docker not running",
};

// A network failure comes with a long dump of the error, whose fields are what a short tail still holds.
const npmCode = (codes: string) => new RegExp(`^npm (?:error|ERR!) +code:? '?(?:${codes})'?,?$`, "m");

/** The words of each launcher, first match wins. npm 8 to 12, uv 0.4 to 0.13. */
const WORDS: Readonly<Record<Launcher, readonly (readonly [RegExp, Cause])[]>> = {
  npx: [
    [npmCode("E404|ETARGET|ENOVERSIONS|EINVALIDPACKAGENAME|EINVALIDTAGNAME"), "PackageNotFound"],
    [/^npm (?:error|ERR!) could not determine executable to run$/m, "PackageNotFound"],
    [
      npmCode("ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED"),
      "ConnectionFailed",
    ],
  ],
  uvx: [
    [/network was disabled|Failed to fetch: |error sending request for url/, "ConnectionFailed"],
    [/No solution found when resolving/, "PackageNotFound"],
    [/does not provide any executables|is not provided by package/, "PackageNotFound"],
    [/^error: Failed to parse: `/m, "PackageNotFound"],
  ],
  docker: [],
  binary: [],
};

const INSTALL: Readonly<Record<Launcher, string>> = {
  npx: "Install Node.js with npm: https://nodejs.org",
  uvx: "Install uv: https://docs.astral.sh/uv",
  docker: "Install Docker: https://docs.docker.com/get-docker",
  binary: "Check the command's name, or give its full path",
};

const DETAIL_LINES = 12;
const NETWORK_HINT = "Check the network, the proxy and the registry settings";

/** For a server that ended before its handshake. The tail may be longer than what is shown: it is searched as a whole. */
export async function diagnoseExit(command: LaunchCommand, exit: ProcessExit, stderrTail: string): Promise<HubError> {
  const cause =
    command.launcher === "docker" ? await dockerCause(command, exit) : causeInWords(command, exit, stderrTail);
  const shown = stderrTail.split("\n").slice(-DETAIL_LINES).join("\n");
  const detail = shown === "" ? {} : { detail: shown };
  if (cause !== undefined) return new HubError(cause, MESSAGES[cause], { ...detail, hint: hintFor(cause, command) });
  const end = exit.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit.signal}`;
  return new HubError("ProcessSpawnFailed", `The server ${end} before the handshake`, detail);
}

/** For an npm that ended without having installed the package. */
export function diagnoseInstall(spec: string, exit: ProcessExit, stderrTail: string): HubError {
  const cause = causeInWords({ launcher: "npx" }, exit, stderrTail);
  const shown = stderrTail.split("\n").slice(-DETAIL_LINES).join("\n");
  const detail = shown === "" ? {} : { detail: shown };
  if (cause === "PackageNotFound") {
    return new HubError(cause, MESSAGES[cause], { ...detail, hint: `Check the name and the version: ${spec}` });
  }
  if (cause !== undefined) return new HubError(cause, MESSAGES[cause], { ...detail, hint: NETWORK_HINT });
  const end = exit.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit.signal}`;
  return new HubError("ProcessSpawnFailed", `npm ${end} while it installed ${spec}`, detail);
}

function causeInWords(
  { launcher }: Pick<LaunchCommand, "launcher">,
  exit: ProcessExit,
  stderrTail: string,
): Cause | undefined {
  if (exit.code === 0 || exit.code === null) return undefined;
  return WORDS[launcher].find(([words]) => words.test(stderrTail))?.[1];
}

// The client's own code for "docker failed, not your program" (docker run, exit status).
const DOCKER_FAILED = 125;

async function dockerCause(command: LaunchCommand, exit: ProcessExit): Promise<Cause | undefined> {
  if (!(await engineAnswers(command))) return "DockerNotRunning";
  const image = parseDockerRun(command.args)?.image;
  if (exit.code !== DOCKER_FAILED || image === undefined) return undefined;
  // Not here, and docker could not fetch it either: whether the registry refused or was out of reach, stderr says.
  return (await hasImage(command, image)) ? undefined : "PackageNotFound";
}

function hintFor(cause: Cause, { launcher, args }: LaunchCommand): string {
  if (cause === "DockerNotRunning") return "Start Docker, then start the server again";
  if (cause === "ConnectionFailed") return NETWORK_HINT;
  if (launcher === "docker") return `Check the image's name: docker pull ${parseDockerRun(args)?.image ?? ""}`;
  return "Check the package's name and version";
}

/** For a process that could not even be spawned. */
export async function diagnoseSpawn(command: LaunchCommand, error: unknown): Promise<HubError> {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  const about = { cause: error };
  // Node reports a missing folder exactly as it reports a missing command.
  if (command.cwd !== undefined && !(await isUsableFolder(command.cwd))) {
    return new HubError("InvalidConfig", `Folder ${command.cwd} does not exist or cannot be entered`, {
      ...about,
      field: "cwd",
    });
  }
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return new HubError("PackageNotFound", MESSAGES.PackageNotFound, {
        ...about,
        field: "command",
        detail: `The command ${command.command} was not found`,
        hint: INSTALL[command.launcher],
      });
    case "EACCES":
      return new HubError("InvalidConfig", `${command.command} is not executable`, {
        ...about,
        field: "command",
        hint: `chmod +x ${command.command}`,
      });
    case "ERR_INVALID_ARG_VALUE":
      return new HubError("InvalidConfig", "The command line holds a character that no process can be given", about);
    default:
      return new HubError("ProcessSpawnFailed", `The process could not be started (${code})`, about);
  }
}

async function isUsableFolder(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
