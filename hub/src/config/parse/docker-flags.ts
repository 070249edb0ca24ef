// Parses command lines of docker, podman and nerdctl, and finds options that give the container access to the host. This
// guards against mistakes and pasted entries. It is no security boundary: a user who can edit the config can run a shell.

import { posix } from "node:path";

export interface DockerOption {
  /** Long name without dashes. */
  readonly name: string;
  readonly value: string | undefined;
  /** The arguments to pass on. */
  readonly words: readonly string[];
  /** Position in the user's args. */
  readonly index: number;
}

export interface DockerRun {
  readonly options: readonly DockerOption[];
  readonly image: string | undefined;
  /** The image, and the command inside it. */
  readonly rest: readonly string[];
}

// Options without a value. All others take one, in the same word or the next (docker 28, podman 5, nerdctl 2: `run --help`).
const SWITCHES: ReadonlySet<string> = new Set(
  [
    "detach disable-content-trust help init interactive no-healthcheck oom-kill-disable privileged publish-all quiet",
    "read-only rm sig-proxy tty use-api-socket",
    "env-host http-proxy no-hostname no-hosts passwd read-only-tmpfs replace rmi rootfs tls-verify unsetenv-all",
  ].flatMap((line) => line.split(" ")),
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

/** Parses args that begin with `run`; undefined for any other docker command. */
export function parseDockerRun(args: readonly string[]): DockerRun | undefined {
  if (args[0] !== "run") return undefined;
  const options: DockerOption[] = [];
  let index = 1;
  for (let word = args[index]; word?.startsWith("-") && word !== "-" && word !== "--"; word = args[index]) {
    const [found, used] = word.startsWith("--") ? longOption(args, index) : shortOptions(args, index);
    options.push(...found);
    index += used;
  }
  const rest = args.slice(index);
  return { options, rest, image: rest[0] === "--" ? rest[1] : rest[0] };
}

function longOption(args: readonly string[], index: number): [DockerOption[], number] {
  const word = args[index] ?? "";
  const equals = word.indexOf("=");
  const written = word.slice(2, equals < 0 ? undefined : equals);
  const name = written === "net" ? "network" : written;
  if (equals >= 0) return [[{ name, value: word.slice(equals + 1), words: [word], index }], 1];
  if (SWITCHES.has(name)) return [[{ name, value: undefined, words: [word], index }], 1];
  return [[{ name, value: args[index + 1], words: args.slice(index, index + 2), index }], 2];
}

/** `-it` is two switches; `-ieA=b` is a switch and an option with a value. */
function shortOptions(args: readonly string[], index: number): [DockerOption[], number] {
  const options: DockerOption[] = [];
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

/** Global options of all three programs that take a value. */
const GLOBAL_VALUES: ReadonlySet<string> = new Set(
  "config context host log-level tlscacert tlscert tlskey H c l address a namespace n snapshotter cni-path data-root connection url identity root runroot tmpdir storage-driver storage-opt runtime conmon hooks-dir cgroup-manager events-backend network-cmd-path module volumepath".split(
    " ",
  ),
);
/** Options of podman that run programs on the host. */
const HOST_PROGRAMS: ReadonlySet<string> = new Set(["runtime", "conmon", "hooks-dir", "network-cmd-path"]);
const RUN_COMMANDS: ReadonlySet<string> = new Set(["run", "create"]);

/** Reasons why a command line gives a container access to the host. Empty for commands that create no container. */
export function findExposures(args: readonly string[]): string[] {
  const reasons = new Set<string>();
  let index = 0;
  for (let word = args[index]; word?.startsWith("-") === true; word = args[index]) {
    const [name = "", value] = word.replace(/^--?/, "").split("=", 2);
    if (HOST_PROGRAMS.has(name)) reasons.add(`--${name} runs a program outside of the container`);
    index += value === undefined && GLOBAL_VALUES.has(name) ? 2 : 1;
  }
  if (args[index] === "container") index++;
  if (!RUN_COMMANDS.has(args[index] ?? "")) return [...reasons];
  const run = parseDockerRun(["run", ...args.slice(index + 1)]);
  for (const option of run?.options ?? []) {
    const reason = exposureOf(option);
    if (reason !== undefined) reasons.add(reason);
  }
  const isRootfs = run?.options.some(({ name, value }) => name === "rootfs" && isOn(value)) === true;
  if (isRootfs && isHostFolder(run?.image ?? "")) reasons.add(MOUNT);
  return [...reasons];
}

const NAMESPACES: ReadonlySet<string> = new Set(["network", "pid", "ipc", "uts", "userns", "cgroupns", "cgroup"]);
const FULL_CONTROL = "gives the container full control of the host";
const MOUNT = "mounting a system folder gives the container access to the host";

/** Why an option gives the container access to the host, or undefined. */
export function exposureOf({ name, value = "" }: DockerOption): string | undefined {
  if (NAMESPACES.has(name)) {
    const isHost = value.split(",").some((part) => /^(?:name=)?host$/.test(part)) || value.startsWith("ns:");
    return isHost ? "host networking or namespaces give the container access to the host" : undefined;
  }
  switch (name) {
    case "privileged":
      return isOn(value) ? `--privileged ${FULL_CONTROL}` : undefined;
    case "use-api-socket":
      return isOn(value) ? `the socket of a container engine ${FULL_CONTROL}` : undefined;
    case "volume":
      return mountRisk(value.split(":")[0] ?? "");
    case "mount":
      return mountSources(value)
        .map(mountRisk)
        .find((reason) => reason !== undefined);
    case "volumes-from":
      return "--volumes-from gives the container the mounts of another container";
    case "cap-add":
      return "--cap-add gives the container kernel capabilities";
    case "device":
    case "device-cgroup-rule":
      return `--${name} gives the container a device of the host`;
    case "security-opt":
      return /[=:]unconfined$|^label[=:]disable$|^unmask[=:]|^no-new-privileges[=:](?:0|f|F|false|FALSE|False)$/.test(
        value,
      )
        ? "--security-opt disables the confinement of the container"
        : undefined;
    default:
      return undefined;
  }
}

/** Parses a boolean like Go's strconv. An invalid value counts as true, to be safe. */
function isOn(value: string | undefined): boolean {
  return !/^(?:0|f|F|false|FALSE|False)$/.test(value ?? "");
}

/** Host paths of a `--mount`, including the bind device of a local volume. */
function mountSources(value: string): string[] {
  const parts = value.split(",").map((part) => part.trim().replace(/^"|"$/g, ""));
  return parts.flatMap((part) => /^(?:source|src|volume-opt=device)=(.*)$/is.exec(part)?.[1] ?? []);
}

function mountRisk(source: string): string | undefined {
  const path = posix.normalize(source);
  if (/(?:docker|podman|containerd|crio)\.sock$/.test(path)) return `the socket of a container engine ${FULL_CONTROL}`;
  return isHostFolder(source) ? MOUNT : undefined;
}

/** Folders that may not be mounted themselves; folders inside them may. */
const HOST_FOLDERS: ReadonlySet<string> = new Set("/ /home /Users /usr /var /opt /mnt /media".split(" "));
/** Folders that may not be mounted, and nothing inside them. */
const HOST_TREES =
  "/etc /root /boot /dev /proc /sys /run /var/run /bin /sbin /lib /lib64 /usr/bin /usr/sbin /usr/lib /var/lib/docker /var/lib/containerd /var/lib/containers /var/lib/kubelet /private/etc /private/var/run".split(
    " ",
  );
/** Exceptions that are mounted commonly and hold no secrets. */
const HARMLESS_PATHS: ReadonlySet<string> = new Set(
  "/etc/localtime /etc/timezone /etc/hosts /etc/resolv.conf /etc/ssl/certs /etc/ca-certificates /etc/pki/tls/certs /dev/null /dev/shm".split(
    " ",
  ),
);

function isHostFolder(source: string): boolean {
  // The base of a relative path is not known here: reject only paths that consist of `..`.
  if (source.startsWith(".")) return /^\.\.(?:\/\.\.)*\/?$/.test(posix.normalize(source));
  if (!source.startsWith("/")) return false;
  const path = posix.resolve(source);
  if (HARMLESS_PATHS.has(path)) return false;
  return HOST_FOLDERS.has(path) || HOST_TREES.some((tree) => path === tree || path.startsWith(`${tree}/`));
}
