// The command lines of docker, podman and nerdctl, read as those programs read them, and what in them gives the container
// power over the machine. A list against mistakes and pasted entries, and no boundary: who may edit a config may run a shell.

import { posix } from "node:path";

export interface DockerOption {
  /** Long name without dashes. */
  readonly name: string;
  readonly value: string | undefined;
  /** As it is written out again. */
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

// Every other option takes a value, in this word or in the next (docker 28, podman 5 and nerdctl 2, `run --help`).
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

/** Reads args that begin with `run`; undefined for any other docker command. */
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

/** `-it` is two switches, `-ieA=b` a switch and an option with its value. */
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

/** Options before the command that take a value, of all three programs. */
const GLOBAL_VALUES: ReadonlySet<string> = new Set(
  "config context host log-level tlscacert tlscert tlskey H c l address a namespace n snapshotter cni-path data-root connection url identity root runroot tmpdir storage-driver storage-opt runtime conmon hooks-dir cgroup-manager events-backend network-cmd-path module volumepath".split(
    " ",
  ),
);
/** podman's own: programs that run outside of any container. */
const HOST_PROGRAMS: ReadonlySet<string> = new Set(["runtime", "conmon", "hooks-dir", "network-cmd-path"]);
const RUNS: ReadonlySet<string> = new Set(["run", "create"]);

/** What gives a container power over the machine, each reason once; nothing for a command that starts none. */
export function findExposures(args: readonly string[]): string[] {
  const reasons = new Set<string>();
  let index = 0;
  for (let word = args[index]; word?.startsWith("-") === true; word = args[index]) {
    const [name = "", value] = word.replace(/^--?/, "").split("=", 2);
    if (HOST_PROGRAMS.has(name)) reasons.add(`--${name} names a program that runs outside of the container`);
    index += value === undefined && GLOBAL_VALUES.has(name) ? 2 : 1;
  }
  if (args[index] === "container") index++;
  if (!RUNS.has(args[index] ?? "")) return [...reasons];
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
const WHOLE = "gives the container the whole machine";
const MOUNT = "a mount of a system folder opens the machine to the container";

/** Why an option gives the container power over the machine. */
export function exposureOf({ name, value = "" }: DockerOption): string | undefined {
  if (NAMESPACES.has(name)) {
    const isHost = value.split(",").some((part) => /^(?:name=)?host$/.test(part)) || value.startsWith("ns:");
    return isHost ? "host networking or namespaces open the machine to the container" : undefined;
  }
  switch (name) {
    case "privileged":
      return isOn(value) ? `--privileged ${WHOLE}` : undefined;
    case "use-api-socket":
      return isOn(value) ? `the socket of a container engine ${WHOLE}` : undefined;
    case "volume":
      return mountRisk(value.split(":")[0] ?? "");
    case "mount":
      return mountSources(value)
        .map(mountRisk)
        .find((reason) => reason !== undefined);
    case "volumes-from":
      return "--volumes-from gives the container the mounts of another one";
    case "cap-add":
      return "--cap-add gives the container kernel capabilities";
    case "device":
    case "device-cgroup-rule":
      return `--${name} gives the container a device of the machine`;
    case "security-opt":
      return /[=:]unconfined$|^label[=:]disable$|^unmask[=:]|^no-new-privileges[=:](?:0|f|F|false|FALSE|False)$/.test(
        value,
      )
        ? "--security-opt switches off what confines the container"
        : undefined;
    default:
      return undefined;
  }
}

/** As Go reads a boolean. What it would not take is no reason to let it pass. */
function isOn(value: string | undefined): boolean {
  return !/^(?:0|f|F|false|FALSE|False)$/.test(value ?? "");
}

/** Where a `--mount` takes its files from; also a volume that is a folder in disguise. */
function mountSources(value: string): string[] {
  const parts = value.split(",").map((part) => part.trim().replace(/^"|"$/g, ""));
  return parts.flatMap((part) => /^(?:source|src|volume-opt=device)=(.*)$/is.exec(part)?.[1] ?? []);
}

function mountRisk(source: string): string | undefined {
  const path = posix.normalize(source);
  if (/(?:docker|podman|containerd|crio)\.sock$/.test(path)) return `the socket of a container engine ${WHOLE}`;
  return isHostFolder(source) ? MOUNT : undefined;
}

/** These alone, and not what is in them, belong to everybody. */
const HOST_FOLDERS: ReadonlySet<string> = new Set("/ /home /Users /usr /var /opt /mnt /media".split(" "));
/** These with all that is in them. */
const HOST_TREES =
  "/etc /root /boot /dev /proc /sys /run /var/run /bin /sbin /lib /lib64 /usr/bin /usr/sbin /usr/lib /var/lib/docker /var/lib/containerd /var/lib/containers /var/lib/kubelet /private/etc /private/var/run".split(
    " ",
  );
/** What containers are given every day, and that says nothing secret. */
const HARMLESS: ReadonlySet<string> = new Set(
  "/etc/localtime /etc/timezone /etc/hosts /etc/resolv.conf /etc/ssl/certs /etc/ca-certificates /etc/pki/tls/certs /dev/null /dev/shm".split(
    " ",
  ),
);

function isHostFolder(source: string): boolean {
  // Relative to a folder that is not known here: only what climbs and does nothing else.
  if (source.startsWith(".")) return /^\.\.(?:\/\.\.)*\/?$/.test(posix.normalize(source));
  if (!source.startsWith("/")) return false;
  const path = posix.resolve(source);
  if (HARMLESS.has(path)) return false;
  return HOST_FOLDERS.has(path) || HOST_TREES.some((tree) => path === tree || path.startsWith(`${tree}/`));
}
