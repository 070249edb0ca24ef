// The watchdog: one small shell outside the hub that ends all servers when the hub is gone, however it went (LC-5).
// While the hub lives, ending servers is process.ts's.

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { Socket } from "node:net";
import { TAG_VARIABLE, hubEnvironment } from "./environment.ts";
import type { Container } from "./container.ts";

export interface Guarded {
  readonly pgid: number;
  readonly container?: Container | undefined;
}

// Where guards end again and again as soon as they are started, something is wrong with the machine: give up for now.
const SETTLED_MS = 1_000;
const EARLY_ENDS = 3;

/**
 * Reads orders from the hub and waits for the pipe to close. POSIX sh, no arrays: lists are lines in a variable.
 * Containers are removed more than once: a client may have asked for one just before it was killed.
 */
export const GUARD_SCRIPT = `
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

export class Guard {
  readonly instance: string;
  readonly #guarded = new Map<number, Guarded>();
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
      if (this.#guarded.size > 0 && this.#earlyEnds < EARLY_ENDS) this.start();
    });
    for (const guarded of this.#guarded.values()) this.#tell(additions(guarded));
  }

  register(guarded: Guarded): void {
    this.start();
    this.#guarded.set(guarded.pgid, guarded);
    this.#tell(additions(guarded));
  }

  unregister({ pgid }: Pick<Guarded, "pgid">): void {
    const guarded = this.#guarded.get(pgid);
    if (!this.#guarded.delete(pgid)) return;
    this.#tell([`- ${pgid}`, ...(guarded?.container ? [`-c ${guarded.container.name}`] : [])]);
  }

  /** Lets the watchdog go. What is still registered, it ends as if the hub had died. */
  close(): void {
    this.#closed = true;
    if (this.#guarded.size === 0) this.#tell(["."]);
    this.#shell?.stdin?.end();
  }

  #tell(lines: readonly string[]): void {
    this.#shell?.stdin?.write(lines.map((line) => `${line}\n`).join(""));
  }
}

function spawnShell(instance: string): ChildProcess {
  const { PATH = "/usr/bin:/bin", HOME = "/" } = hubEnvironment();
  const shell = spawn("/bin/sh", ["-c", GUARD_SCRIPT, "plugboard-guard", `${TAG_VARIABLE}=${instance}`], {
    // A session of its own: no terminal and no signal to the hub's group reaches it.
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    // No tag, not even that of an outer hub: the guard must outlive everything that is ended by tag.
    env: { PATH, HOME },
    cwd: "/",
  });
  // EPIPE, when it was killed: the exit says so too.
  shell.stdin?.on("error", () => {});
  // The hub's own end must not wait for it. A pipe to a child is a socket in Node; only its type does not say so.
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return shell;
}

function additions({ pgid, container }: Guarded): string[] {
  if (container === undefined) return [`+ ${pgid}`];
  const { name, client } = container;
  const settings = Object.entries(client.env).map(([variable, value]) => `${variable}=${value}`);
  const removal = [...settings, client.command, "rm", "--force", "--volumes", name];
  return [`+ ${pgid}`, `+c ${name} ${removal.map(shellWord).join(" ")}`];
}

/** One word for the shell, whatever it holds. A line break would end the order; no setting of a client needs one. */
function shellWord(word: string): string {
  return `'${word.replaceAll(/[\r\n\0]/g, "").replaceAll("'", String.raw`'\''`)}'`;
}
