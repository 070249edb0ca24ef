// Explains why a server could not be started. Reads exit codes and error codes. npm and uv give no codes: for them, and only
// here, a decision depends on the text of an error (the table below).

import { access, constants, open, stat } from "node:fs/promises";
import type { Launcher } from "../../config/schema/types.ts";
import { HubError } from "../../errors.ts";
import type { ErrorKind } from "../../errors.ts";
import { engineAnswers, hasImage } from "./container.ts";
import { parseDockerRun } from "../../config/parse/docker-flags.ts";
import type { LaunchCommand } from "./command-line.ts";
import type { ProcessExit } from "./process.ts";
import { explain, missingVariable, findFailureLine } from "./failure-line.ts";

type Cause = Extract<ErrorKind, "PackageNotFound" | "ConnectionFailed" | "DockerNotRunning">;

/** Why a launcher failed, if that is certain. */
interface Diagnosis {
  readonly kind: Cause;
  readonly message: string;
  /** Details, in one line. */
  readonly what?: string;
  readonly hint: string;
}

const NETWORK_HINT = "Check the network, the proxy and the registry settings";
const UNREACHABLE: Diagnosis = {
  kind: "ConnectionFailed",
  message: "The package registry cannot be reached",
  hint: NETWORK_HINT,
};
const NO_ENGINE: Diagnosis = {
  kind: "DockerNotRunning",
  message: "Docker not running",
  hint: "Start Docker, then start the server again",
};

function notFound(what: string | undefined, hint = "Check the package's name and version"): Diagnosis {
  return { kind: "PackageNotFound", message: "Package not found", hint, ...(what === undefined ? {} : { what }) };
}

function noVersion(what: string, hint: string): Diagnosis {
  return { kind: "PackageNotFound", message: "Version not found", what, hint };
}

// A network failure ends with a long dump of the error: a short tail still has its fields.
const npmCode = (codes: string) => new RegExp(`^npm (?:error|ERR!) +code:? '?(?:${codes})'?,?$`, "m");

type Rule = readonly [words: RegExp, read: (stderr: string, requested: string | undefined) => Diagnosis];

/** The messages of each launcher. The first match wins. npm 8 to 12, uv 0.4 to 0.13. `requested` is the package of the command line. */
const WORDS: Readonly<Record<Launcher, readonly Rule[]>> = {
  npx: [
    [npmCode("ETARGET|ENOVERSIONS"), noNpmVersion],
    [npmCode("E404|EINVALIDPACKAGENAME|EINVALIDTAGNAME"), notOnNpm],
    [
      /^npm (?:error|ERR!) could not determine executable to run$/m,
      (_, requested) =>
        notFound(`${requested ?? "The package"} has no program to run`, "It may be a library, not a server"),
    ],
    [
      npmCode("ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED"),
      () => UNREACHABLE,
    ],
  ],
  uvx: [
    [/network was disabled|Failed to fetch: |error sending request for url/, () => UNREACHABLE],
    [/ requires Python |does not satisfy Python/, pythonTooOld],
    [/there (?:is|are) no versions? of \S+ and you require/, noPythonVersion],
    [/No solution found when resolving/, notOnPypi],
    [
      /does not provide any executables|is not provided by package/,
      (_, requested) =>
        notFound(`${requested ?? "The package"} has no program to run`, "uvx --from PACKAGE PROGRAM names it"),
    ],
    [
      /^error: Failed to parse: `/m,
      (_, requested) => notFound(requested === undefined ? undefined : `${requested} is not a valid package name`),
    ],
  ],
  docker: [],
  binary: [],
};

function notOnNpm(stderr: string, requested: string | undefined): Diagnosis {
  const named = /'(@?[^'@\s]+)@[^'\s]*' (?:is not in this registry|could not be found)/.exec(stderr)?.[1];
  const hint = `Check the name and the version: ${requested ?? named ?? ""}`;
  if (named === undefined)
    return notFound(requested === undefined ? undefined : `${nameOf(requested)} is not on the npm registry`, hint);
  const isOwn = requested === undefined || nameOf(requested) === named;
  return notFound(
    isOwn ? `${named} is not on the npm registry` : `${named}, which ${requested} needs, is not on the npm registry`,
    hint,
  );
}

function noNpmVersion(stderr: string, requested: string | undefined): Diagnosis {
  const wanted = /No matching version found for (\S+?)\.?$/m.exec(stderr)?.[1] ?? requested ?? "";
  const name = nameOf(wanted);
  const what = `There is no ${wanted} on the npm registry`;
  if (requested === undefined || nameOf(requested) === name) return noVersion(what, `npm view ${name} versions`);
  return noVersion(
    `${what}, which ${requested} needs`,
    `Another version of ${nameOf(requested)} may work: npm view ${nameOf(requested)} versions`,
  );
}

function notOnPypi(stderr: string, requested: string | undefined): Diagnosis {
  const named = /Because (\S+) was not found in the package registry/.exec(stderr)?.[1] ?? requested;
  return notFound(named === undefined ? undefined : `${named} is not on the Python package index`);
}

function noPythonVersion(stderr: string): Diagnosis {
  const wanted = /no versions? of (\S+) and you require/.exec(stderr)?.[1] ?? "";
  return noVersion(`There is no ${wanted} on the Python package index`, "Check the version");
}

function pythonTooOld(stderr: string, requested: string | undefined): Diagnosis {
  const needed =
    /(?: requires Python |does not satisfy Python)\s*([<>=!~.,\d]+)/.exec(stderr)?.[1] ?? "of another version";
  return {
    kind: "PackageNotFound",
    message: "No version for this Python",
    what: `${requested ?? "The package"} needs Python ${needed}`,
    hint: `Let uvx use that Python, with these arguments first: --python ${/\d[\d.]*/.exec(needed)?.[0] ?? "3.13"}`,
  };
}

/** Without its version. @example nameOf("@scope/name@1.2") // "@scope/name" */
function nameOf(spec: string): string {
  const at = spec.lastIndexOf("@");
  return at > 0 ? spec.slice(0, at) : spec;
}

const LAUNCHER_NAMES: Readonly<Record<Exclude<Launcher, "binary">, string>> = {
  npx: "npm",
  uvx: "uv",
  docker: "Docker",
};

const INSTALL: Readonly<Record<Launcher, string>> = {
  npx: "Install Node.js with npm: https://nodejs.org",
  uvx: "Install uv: https://docs.astral.sh/uv",
  docker: "Install Docker: https://docs.docker.com/get-docker",
  binary: "Check the command's name, or give its full path",
};

const DETAIL_LINES = 12;
/** A program that prints its usage and has an option for stdio. */
const STDIO_OPTION = /--stdio\b|--transport\b/;

/** For a server that exited before its handshake. The whole tail is searched, also the part that is not shown. */
export async function diagnoseExit(command: LaunchCommand, exit: ProcessExit, stderrTail: string): Promise<HubError> {
  const found =
    command.launcher === "docker"
      ? await diagnoseDocker(command, exit)
      : diagnoseWords(command.launcher, exit, stderrTail, packageOf(command));
  if (found !== undefined) return toError(found, stderrTail);
  const end = exit.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit.signal}`;
  const failureLine = findFailureLine(stderrTail);
  const variable = failureLine === undefined ? undefined : missingVariable(stderrTail, failureLine);
  return new HubError("ProcessSpawnFailed", `The server ${end} before the handshake`, {
    ...detailOf(stderrTail, failureLine),
    ...(variable === undefined ? {} : { field: `env.${variable}` }),
    ...(STDIO_OPTION.test(stderrTail) ? { hint: "Its usage names an option for stdio: add it to args" } : {}),
  });
}

/** For an npm that exited without having installed the package. */
export function diagnoseInstall(spec: string, exit: ProcessExit, stderrTail: string): HubError {
  const found = diagnoseWords("npx", exit, stderrTail, spec);
  if (found !== undefined) return toError(found, stderrTail);
  const end = exit.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit.signal}`;
  return new HubError("ProcessSpawnFailed", `npm ${end} while it installed ${spec}`, detailOf(stderrTail));
}

/** An exact reason needs no output of npm: that is in the server's log. */
function toError({ kind, message, what, hint }: Diagnosis, stderrTail: string): HubError {
  return new HubError(kind, message, { ...(what === undefined ? detailOf(stderrTail) : { detail: what }), hint });
}

function detailOf(stderrTail: string, failureLine?: string): { readonly detail?: string } {
  const detail = explain(stderrTail, DETAIL_LINES, failureLine);
  return detail === "" ? {} : { detail };
}

function diagnoseWords(
  launcher: Launcher,
  exit: ProcessExit,
  stderrTail: string,
  requested: string | undefined,
): Diagnosis | undefined {
  if (exit.code === 0 || exit.code === null) return undefined;
  return WORDS[launcher].find(([words]) => words.test(stderrTail))?.[1](stderrTail, requested);
}

/** The package of a launcher's command line. */
function packageOf({ args }: LaunchCommand): string | undefined {
  return args.find((word) => !word.startsWith("-"));
}

// The client's own code for "docker failed, not your program" (docker run, exit status).
const DOCKER_FAILED = 125;

async function diagnoseDocker(command: LaunchCommand, exit: ProcessExit): Promise<Diagnosis | undefined> {
  if (!(await engineAnswers(command))) return NO_ENGINE;
  const image = parseDockerRun(command.args)?.image;
  if (exit.code !== DOCKER_FAILED || image === undefined) return undefined;
  // Not here, and docker could not download it: stderr says whether the registry refused or was unreachable.
  return (await hasImage(command, image))
    ? undefined
    : notFound(undefined, `Check the image's name: docker pull ${image}`);
}

/** For a process that could not be spawned. */
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
      return commandNotFound(command, error);
    case "EACCES":
      return new HubError("InvalidConfig", `${command.command} is not executable`, {
        ...about,
        field: "command",
        ...((await isScript(command.command)) ? { hint: `chmod +x '${command.command}'` } : {}),
      });
    case "ERR_INVALID_ARG_VALUE":
      return new HubError("InvalidConfig", "The command line contains a character that is not allowed there", about);
    default:
      return new HubError("ProcessSpawnFailed", `The process could not be started (${code})`, about);
  }
}

/** A missing launcher is a separate error, because the package may exist. */
function commandNotFound({ command, launcher }: LaunchCommand, cause: unknown): HubError {
  const details = { field: "command", detail: `The command ${command} was not found`, hint: INSTALL[launcher], cause };
  if (launcher === "binary") return new HubError("PackageNotFound", "Package not found", details);
  return new HubError("LauncherNotInstalled", `${LAUNCHER_NAMES[launcher]} is not installed`, details);
}

/** Only a file that begins like a script is likely to be a program. The hint must not name, say, a password file. */
async function isScript(path: string): Promise<boolean> {
  try {
    const file = await open(path);
    try {
      const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
      return buffer.toString("latin1") === "#!";
    } finally {
      await file.close();
    }
  } catch {
    return false; // unreadable: unknown
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
