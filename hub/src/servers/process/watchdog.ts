// The watchdog: one small shell outside the hub that ends all servers when the hub has exited for any reason (LC-5).
// While the hub runs, process.ts ends servers.

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { Socket } from "node:net";
import { TAG_VARIABLE, hubEnvironment } from "./environment.ts";
import type { Container } from "./container.ts";

export interface Watched {
  readonly pgid: number;
  readonly container?: Container | undefined;
}

// If watchdogs keep exiting right after their start, the machine has a problem: give up for now.
const SETTLED_MS = 1_000;
const EARLY_ENDS = 3;

/**
 * Reads commands from the hub until the pipe closes. POSIX sh has no arrays: lists are lines in a variable.
 * Containers are removed more than once: a client may have requested one just before it was killed.
 */
export const WATCHDOG_SCRIPT = `
trap '' HUP INT TERM
set -f
newline='
'
groups= containers=
without() {
  kept=
  for entry in $1; do case $entry in "$2"|"$2 "*) ;; *) kept=$kept$entry$newline ;; esac; done
}
signal() { for group in $groups; do kill -s "$1" -- "-$group"; done; }
remove() { for entry in $containers; do eval "env -i \${entry#* }" & done; }
IFS=$newline
while IFS=' ' read -r verb subject rest; do
  case $verb in
    +) groups=$groups$subject$newline ;;
    -) without "$groups" "$subject"; groups=$kept ;;
    +c) containers="$containers$subject $rest$newline" ;;
    -c) without "$containers" "$subject"; containers=$kept ;;
    .) exit 0 ;;
  esac
done
signal TERM
remove
[ -z "$groups" ] || sleep 0.3 || sleep 1
signal KILL
if [ -r /proc/self/environ ]; then
  set +f
  for round in 1 2 3; do
    found=$(grep -lsF -- "$1" /proc/[0-9]*/environ)
    [ -n "$found" ] || break
    for file in $found; do pid=\${file#/proc/}; kill -s KILL "\${pid%/environ}"; done
  done
fi
remove
[ -z "$containers" ] || sleep 1
remove
wait
`;

/** For Windows, which has no shell that could: the same commands, but containers are left to the next start of the hub. */
export const WINDOWS_SCRIPT = `
const { spawn } = require("node:child_process");
const pids = new Set();
const lines = require("node:readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const [verb, subject] = line.split(" ");
  if (verb === "+") pids.add(subject);
  if (verb === "-") pids.delete(subject);
  if (verb === ".") process.exit(0);
});
lines.on("close", () => {
  for (const pid of pids) spawn("taskkill", ["/pid", pid, "/T", "/F"], { stdio: "ignore", windowsHide: true }).on("error", () => {});
});
`;

export class Watchdog {
  readonly instance: string;
  readonly #watched = new Map<number, Watched>();
  #shell: ChildProcess | undefined;
  #earlyEnds = 0;
  #closed = false;

  constructor({ instance }: { instance: string }) {
    this.instance = instance;
  }

  /** Starts the watchdog, if it does not run yet. */
  start(): void {
    if (this.#shell !== undefined || this.#closed) return;
    const since = performance.now();
    const shell = spawnShell(this.instance);
    this.#shell = shell;
    const forget = () => {
      if (this.#shell === shell) this.#shell = undefined;
    };
    // It could not be started (EMFILE): the next register tries again.
    shell.on("error", forget);
    shell.on("exit", () => {
      forget();
      this.#earlyEnds = performance.now() - since > SETTLED_MS ? 0 : this.#earlyEnds + 1;
      if (this.#watched.size > 0 && this.#earlyEnds < EARLY_ENDS) this.start();
    });
    for (const watched of this.#watched.values()) this.#send(additions(watched));
  }

  register(watched: Watched): void {
    this.start();
    this.#watched.set(watched.pgid, watched);
    this.#send(additions(watched));
  }

  unregister({ pgid }: Pick<Watched, "pgid">): void {
    const watched = this.#watched.get(pgid);
    if (!this.#watched.delete(pgid)) return;
    this.#send([`- ${pgid}`, ...(watched?.container ? [`-c ${watched.container.name}`] : [])]);
  }

  /** Ends the watchdog. Servers that are still registered are ended as if the hub had died. */
  close(): void {
    this.#closed = true;
    if (this.#watched.size === 0) this.#send(["."]);
    this.#shell?.stdin?.end();
  }

  #send(lines: readonly string[]): void {
    this.#shell?.stdin?.write(lines.map((line) => `${line}\n`).join(""));
  }
}

/** No tag in the environment, not even that of an outer hub: the watchdog must outlive all processes that are ended by tag. */
export function watchdogCommand(instance: string, platform: NodeJS.Platform) {
  const { PATH = "/usr/bin:/bin", HOME = "/", Path = PATH, SystemRoot = String.raw`C:\Windows` } = hubEnvironment();
  if (platform === "win32") {
    const env = { Path, SystemRoot };
    return { command: process.execPath, args: ["-e", WINDOWS_SCRIPT], env, cwd: SystemRoot };
  }
  const args = ["-c", WATCHDOG_SCRIPT, "plugboard-guard", `${TAG_VARIABLE}=${instance}`];
  return { command: "/bin/sh", args, env: { PATH, HOME }, cwd: "/" };
}

function spawnShell(instance: string): ChildProcess {
  const { command, args, env, cwd } = watchdogCommand(instance, process.platform);
  const shell = spawn(command, args, {
    // A separate session: no terminal and no signal to the hub's group reaches it.
    detached: true,
    windowsHide: true,
    stdio: ["pipe", "ignore", "ignore"],
    env,
    cwd,
  });
  // EPIPE if it was killed: the exit event reports the same.
  shell.stdin?.on("error", () => {});
  // It must not keep the hub running. A pipe to a child is a Socket in Node, although its type does not say so.
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return shell;
}

function additions({ pgid, container }: Watched): string[] {
  if (container === undefined) return [`+ ${pgid}`];
  const { name, client } = container;
  const settings = Object.entries(client.env).map(([variable, value]) => `${variable}=${value}`);
  const removal = [...settings, client.command, "rm", "--force", "--volumes", name];
  return [`+ ${pgid}`, `+c ${name} ${removal.map(shellWord).join(" ")}`];
}

/** Quotes one word for the shell. Line breaks are removed: they would end the command, and no setting of a client needs one. */
function shellWord(word: string): string {
  return `'${word.replaceAll(/[\r\n\0]/g, "").replaceAll("'", String.raw`'\''`)}'`;
}
