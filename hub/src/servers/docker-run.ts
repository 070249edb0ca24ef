// `docker run` command lines: read as docker reads them, and made fit for a server that the hub can end, harden and hand
// secrets to. Pure; talking to the engine is container.ts's.

import { posix } from "node:path";
import { HubError } from "../errors.ts";
import { isBasic, isDockerSetting } from "./environment.ts";

interface Option {
  /** Long name without dashes. */
  readonly name: string;
  readonly value: string | undefined;
  /** As it is written out again. */
  readonly words: readonly string[];
  /** Position in the user's args. */
  readonly index: number;
}

export interface DockerRun {
  readonly options: readonly Option[];
  readonly image: string | undefined;
  /** The image, and the command inside it. */
  readonly rest: readonly string[];
}

// Every other option takes a value, in this word or in the next (docker 28, `docker run --help`).
const SWITCHES: ReadonlySet<string> = new Set(
  "detach disable-content-trust help init interactive no-healthcheck oom-kill-disable privileged publish-all quiet read-only rm sig-proxy tty use-api-socket".split(
    " ",
  ),
);
const SHORT: Readonly<Record<string, string>> = {
  d: "detach",
  e: "env",
  i: "interactive",
  P: "publish-all",
  q: "quiet",
  t: "tty",
  v: "volume",
};

const HARDENING = ["--network=none", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"];
const NAMESPACES: ReadonlySet<string> = new Set(["network", "pid", "ipc", "uts", "userns", "cgroupns"]);
const ENGINE_FOLDERS: ReadonlySet<string> = new Set(["/", "/run", "/var", "/var/run"]);

/** Reads args that begin with `run`; undefined for any other docker command. */
export function parseDockerRun(args: readonly string[]): DockerRun | undefined {
  if (args[0] !== "run") return undefined;
  const options: Option[] = [];
  let index = 1;
  for (let word = args[index]; word?.startsWith("-") && word !== "-" && word !== "--"; word = args[index]) {
    const [found, used] = word.startsWith("--") ? longOption(args, index) : shortOptions(args, index);
    options.push(...found);
    index += used;
  }
  const rest = args.slice(index);
  return { options, rest, image: rest[0] === "--" ? rest[1] : rest[0] };
}

function longOption(args: readonly string[], index: number): [Option[], number] {
  const word = args[index] ?? "";
  const equals = word.indexOf("=");
  const written = word.slice(2, equals < 0 ? undefined : equals);
  const name = written === "net" ? "network" : written;
  if (equals >= 0) return [[{ name, value: word.slice(equals + 1), words: [word], index }], 1];
  if (SWITCHES.has(name)) return [[{ name, value: undefined, words: [word], index }], 1];
  return [[{ name, value: args[index + 1], words: args.slice(index, index + 2), index }], 2];
}

/** `-it` is two switches, `-ieA=b` a switch and an option with its value. */
function shortOptions(args: readonly string[], index: number): [Option[], number] {
  const options: Option[] = [];
  const word = args[index] ?? "";
  for (let at = 1; at < word.length; at++) {
    const letter = word.charAt(at);
    const name = SHORT[letter] ?? letter;
    const tail = word.slice(at + 1);
    if (SWITCHES.has(name) && !tail.startsWith("=")) {
      options.push({ name, value: undefined, words: [`-${letter}`], index });
      continue;
    }
    if (tail !== "") {
      const value = tail.replace(/^=/, "");
      options.push({ name, value, words: [`-${letter}${SWITCHES.has(name) ? "=" : ""}${value}`], index });
      return [options, 1];
    }
    options.push({ name, value: args[index + 1], words: [`-${letter}`, ...args.slice(index + 1, index + 2)], index });
    return [options, 2];
  }
  return [options, 1];
}

export interface ServerRun {
  readonly args: string[];
  /** For the docker client: values of `-e NAME` are read from there, and so stay off the command line (T15). */
  readonly env: Record<string, string>;
  readonly containerName: string;
}

export interface ServerRunOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly name: string;
  readonly instance: string;
  readonly hardened: boolean;
}

/** The same run with what the hub needs added, and every value that could be a secret moved out of sight. */
export function toServerRun(
  { options, rest }: DockerRun,
  { env, name, instance, hardened }: ServerRunOptions,
): ServerRun {
  if (hardened) refuseExposure(options);
  const given = (wanted: string) => options.some((option) => option.name === wanted);
  const ownName = options.findLast((option) => option.name === "name")?.value;
  const added = ["--init", "--interactive", "--rm", `--name=${name}`, ...(hardened ? HARDENING : [])].filter(
    (word) => !given(word.slice(2).split("=")[0] ?? ""),
  );
  const variables = moveVariables(options, env);
  const kept = options.filter((option) => option.name !== "env").flatMap((option) => option.words);
  return {
    args: ["run", ...added, `--label=plugboard.instance=${instance}`, ...kept, ...variables.words, ...rest],
    env: variables.env,
    containerName: ownName ?? name,
  };
}

function moveVariables(options: readonly Option[], granted: Readonly<Record<string, string>>) {
  const inside = new Map<string, string | undefined>();
  for (const { name, value } of options) {
    if (name !== "env" || value === undefined) continue;
    const equals = value.indexOf("=");
    if (equals < 0) inside.set(value, undefined);
    else inside.set(value.slice(0, equals), value.slice(equals + 1));
  }
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(granted)) {
    // DOCKER_HOST and its like say where the engine is; they mean nothing inside the container.
    if (isDockerSetting(name)) env[name] = value;
    else inside.set(name, value);
  }
  const words: string[] = [];
  for (const [name, value] of inside) {
    // The container's PATH or HOME must not become the client's own. They are no secrets.
    const inPlace = isBasic(name) && value !== undefined;
    words.push("-e", inPlace ? `${name}=${value}` : name);
    if (!inPlace && value !== undefined) env[name] = value;
  }
  return { words, env };
}

/** What would undo the hardening altogether (T08). Single options may be loosened: the user wrote them himself. */
function refuseExposure(options: readonly Option[]): void {
  for (const option of options) {
    if (!isExposure(option)) continue;
    throw new HubError("InvalidConfig", `A hardened server cannot run with ${option.words.join(" ")}`, {
      field: `args.${option.index}`,
      hint: "Remove the option, or switch hardened off for this server",
    });
  }
}

function isExposure({ name, value = "" }: Option): boolean {
  if (name === "privileged" || name === "use-api-socket") return value !== "false";
  if (NAMESPACES.has(name)) return value === "host";
  if (name === "volume") return isEngineFolder(value.split(":")[0] ?? "");
  if (name === "mount")
    return value.split(",").some((part) => isEngineFolder(/^(?:source|src)=(.*)$/.exec(part)?.[1] ?? ""));
  return false;
}

function isEngineFolder(path: string): boolean {
  if (!path.startsWith("/")) return false;
  const folder = posix.resolve(path);
  return ENGINE_FOLDERS.has(folder) || posix.basename(folder) === "docker.sock";
}
