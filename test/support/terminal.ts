// Runs a command on a real terminal, with Python's pty module as its other end.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { BIN, type Home } from "./hub.ts";

/** Why there is no terminal to test with, as the end of a title; undefined if there is one. */
export const noTerminal: string | undefined =
  spawnSync("python3", ["-c", "import pty, termios, fcntl"]).status === 0
    ? undefined
    : ": needs python3, apt-get install python3-minimal";

/**
 * Starts argv[2:] on a terminal of argv[1] columns and exits with its exit code, as a shell reports it: 130 after Ctrl-C.
 * Forwards stdin to the terminal.
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
  /** Everything written to the terminal, stdout and stderr. */
  readonly screen: string;
}

interface Typed {
  readonly after: RegExp;
  /** A function gets the visible text so far. */
  readonly keys: string | ((screen: string) => Promise<string>);
}

export interface TerminalOptions {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Typed when the screen shows the pattern; several in order, each matched against the output since the previous one. */
  readonly type?: Typed | readonly Typed[];
  /** Typed after `type`. */
  readonly typeNext?: Typed;
}

/** Runs one command until it exits. */
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
    const { keys = "" } = left.shift() ?? {};
    if (typeof keys === "string") child.stdin.write(keys);
    else void keys(visible(screen)).then((text) => child.stdin.write(text));
  });
  await once(child, "close");
  return { code: child.exitCode, screen };
}

/** The text without cursor movements and colours. */
export function visible(screen: string): string {
  // eslint-disable-next-line no-control-regex -- that is what a terminal is sent
  return screen.replaceAll(/\u001b\[[\d;]*[A-Za-z]/g, "").replaceAll("\r\n", "\n");
}
