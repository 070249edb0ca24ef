// Adapts a `docker run` command line so that the hub can end and harden the container, and pass secrets to it.

import { exposureOf, type DockerOption, type DockerRun } from "../../config/parse/docker-flags.ts";
import { HubError } from "../../errors.ts";
import { isBasic, isDockerSetting } from "./environment.ts";

const HARDENING = ["--network=none", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges"];

export interface ServerRun {
  readonly args: string[];
  /** Environment of the docker client: `-e NAME` reads the values from there, which keeps them off the command line (T15). */
  readonly env: Record<string, string>;
  readonly containerName: string;
}

export interface ServerRunOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly name: string;
  readonly instance: string;
  readonly hardened: boolean;
}

/** Adds the options that the hub needs, and moves values that may be secret off the command line. */
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
    // DOCKER_HOST and similar variables are for the client, not for the container.
    if (isDockerSetting(name)) env[name] = value;
    else inside.set(name, value);
  }
  const words: string[] = [];
  for (const [name, value] of inside) {
    // The container's PATH or HOME must not become the client's. They are not secret.
    const inPlace = isBasic(name) && value !== undefined;
    words.push("-e", inPlace ? `${name}=${value}` : name);
    if (!inPlace && value !== undefined) env[name] = value;
  }
  return { words, env };
}

/** Refuses options that would undo the hardening (T08). */
function refuseExposure(options: readonly DockerOption[]): void {
  for (const option of options) {
    if (!isExposure(option)) continue;
    throw new HubError("InvalidConfig", `A hardened server cannot run with ${option.words.join(" ")}`, {
      field: `args.${option.index}`,
      hint: "Remove the option, or switch hardened off for this server",
    });
  }
}

/** Allowed: explicit options that grant a single capability or device. */
const LOOSENED: ReadonlySet<string> = new Set(["cap-add", "device", "device-cgroup-rule"]);

function isExposure(option: DockerOption): boolean {
  return !LOOSENED.has(option.name) && exposureOf(option) !== undefined;
}
