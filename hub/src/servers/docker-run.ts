// `docker run` command lines made fit for a server that the hub can end, harden and hand secrets to. Pure; reading them is
// config/docker-flags.ts's, talking to the engine container.ts's.

import { exposureOf, type DockerOption, type DockerRun } from "../config/docker-flags.ts";
import { HubError } from "../errors.ts";
import { isBasic, isDockerSetting } from "./environment.ts";

const HARDENING = ["--network=none", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"];

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

function moveVariables(options: readonly DockerOption[], granted: Readonly<Record<string, string>>) {
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
function refuseExposure(options: readonly DockerOption[]): void {
  for (const option of options) {
    if (!isExposure(option)) continue;
    throw new HubError("InvalidConfig", `A hardened server cannot run with ${option.words.join(" ")}`, {
      field: `args.${option.index}`,
      hint: "Remove the option, or switch hardened off for this server",
    });
  }
}

/** The user wrote these himself, and they give the container a part and not the whole. */
const LOOSENED: ReadonlySet<string> = new Set(["cap-add", "device", "device-cgroup-rule"]);

function isExposure(option: DockerOption): boolean {
  return !LOOSENED.has(option.name) && exposureOf(option) !== undefined;
}
