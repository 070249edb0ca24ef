// A command on a real terminal: Python's pty module holds the other end of it.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { BIN, type Home } from "./hub.ts";

/** The reason why there is no terminal to test with; undefined where there is one. */
export const noTerminal: string | undefined =
  spawnSync("python3", ["-c", "import pty, termios, fcntl"]).status === 0
    ? undefined
    : "needs python3: apt-get install python3-minimal";

/**
 * Starts argv[2:] on a terminal of argv[1] columns. Its exit code is ours, as a shell has it: 130 where Ctrl-C ended it.
 * What we are sent goes to its keyboard.
 */
const HOLDER = `
import fcntl, os, pty, select, struct, sys, termios
columns, argv = int(sys.argv[1]), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execv(argv[0], argv)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
sources = [fd, 0]
while True:
    ready, _, _ = select.select(sources, [], [])
    if 0 in ready:
        keys = os.read(0, 4096)
        if keys: os.write(fd, keys)
        else: sources.remove(0)
    if fd in ready:
        try: text = os.read(fd, 65536)
        except OSError: break
        if not text: break
        os.write(1, text)
_, status = os.waitpid(pid, 0)
code = os.waitstatus_to_exitcode(status)
sys.exit(128 - code if code < 0 else code)
`;

export interface OnTerminal {
  readonly code: number | null;
  /** Everything that was written to the terminal, stdout and stderr alike. */
  readonly screen: string;
}

interface Typed {
  readonly after: RegExp;
  readonly keys: string;
}

export interface TerminalOptions {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Typed when the screen first shows this; several one after the other, each by what is shown since the one before. */
  readonly type?: Typed | readonly Typed[];
  /** And then this. */
  readonly typeNext?: Typed;
}

/** One command to its end. */
export async function onTerminal(
  home: Home,
  args: readonly string[],
  { columns = 100, env = {}, type, typeNext }: TerminalOptions = {},
): Promise<OnTerminal> {
  const child = spawn("python3", ["-c", HOLDER, String(columns), process.execPath, BIN, ...args], {
    env: { TERM: "xterm-256color", ...home.env, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let screen = "";
  const left = [type, typeNext].flat().filter((each) => each !== undefined);
  let seen = 0;
  child.stdin.on("error", () => {});
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    screen += chunk;
    const shown = Array.isArray(type) ? visible(screen).slice(seen) : screen;
    if (left[0]?.after.test(shown) !== true) return;
    seen = visible(screen).length;
    child.stdin.write(left.shift()?.keys ?? "");
  });
  await once(child, "close");
  return { code: child.exitCode, screen };
}

/** Without what moves the cursor or changes colours. */
export function visible(screen: string): string {
  // eslint-disable-next-line no-control-regex -- that is what a terminal is sent
  return screen.replaceAll(/\u001b\[[\d;]*[A-Za-z]/g, "").replaceAll("\r\n", "\n");
}
