// Runs the built hub as a user does: a process of its own, an empty home, a config written to files.

import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const BIN = join(ROOT, "hub/bin/plugboard.js");
export const FIXTURES = join(ROOT, "test/fixtures/servers");

/** An entry of mcp_server.json that runs one of our fixture servers. */
export function fixture(name: string, ...args: string[]) {
  return { command: process.execPath, args: [join(FIXTURES, `${name}.mjs`), ...args] };
}

/** One that exits at once, and is tried once: a restart would show as "starting" now and then. */
export function failing(...args: string[]) {
  return { ...fixture("exit-at-start", ...args), resilience: { restart: false } };
}

/** An entry that runs a published server from node_modules. */
export function published(name: string, ...args: string[]) {
  return {
    command: process.execPath,
    args: [join(ROOT, "node_modules/@modelcontextprotocol", name, "dist/index.js"), ...args],
  };
}

export interface Home {
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Marks every process that a server of this home starts. */
  readonly mark: string;
  remove(): Promise<void>;
}

export type Servers = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A fresh PLUGBOARD_HOME. Every server gets a mark in its environment, by which its processes are found again. */
export async function makeHome(servers: Servers | undefined, groups?: unknown): Promise<Home> {
  const dir = await mkdtemp(join(tmpdir(), "plugboard-test-"));
  const mark = `TEST_MARK=${randomUUID()}`;
  await mkdir(join(dir, "config"), { recursive: true });
  if (servers !== undefined) {
    const marked = Object.fromEntries(
      Object.entries(servers).map(([name, entry]) => [name, "command" in entry ? withMark(entry, mark) : entry]),
    );
    await writeFile(join(dir, "config/mcp_server.json"), JSON.stringify({ mcpServers: marked }), { mode: 0o600 });
  }
  if (groups !== undefined) await writeFile(join(dir, "config/group.json"), JSON.stringify(groups));
  const env = { ...registryAccess(), HOME: process.env["HOME"] ?? dir, PLUGBOARD_HOME: dir };
  return { dir, env, mark, remove: () => rm(dir, { recursive: true, force: true }) };
}

/** What a launcher needs to find its registry on this machine, and nothing else of the tests' own environment. */
function registryAccess(): Record<string, string> {
  const needed =
    /^(PATH|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|UV_\w+|npm_config_(registry|cafile)|https?_proxy|no_proxy)$/i;
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && needed.test(name) ? [[name, value]] : [],
    ),
  );
}

function withMark(entry: Readonly<Record<string, unknown>>, mark: string) {
  const [name = "", value = ""] = mark.split("=");
  return { ...entry, env: { ...(entry["env"] as object | undefined), [name]: value } };
}

export interface RunningHub {
  readonly url: string;
  readonly process: ChildProcess;
  readonly home: Home;
  stdout(): string;
  stderr(): string;
  /** SIGTERM, and wait for the end. */
  stop(): Promise<number | null>;
  /** SIGKILL, and wait for the end. */
  kill(): Promise<void>;
}

export interface StartOptions {
  /** Waits until its servers are up or failed. */
  readonly ready?: boolean;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A program that becomes the hub, with its arguments: `prlimit --nofile=64`. */
  readonly through?: readonly string[];
  /** Arguments of node itself. */
  readonly node?: readonly string[];
  readonly umask?: string;
  /** Another build of it. */
  readonly bin?: string;
}

/** `plugboard up` on a free port. Resolves when it prints its address. */
export async function startHub(
  home: Home,
  { ready = true, args = [], env = {}, through = [], node = [], umask, bin = BIN }: StartOptions = {},
): Promise<RunningHub> {
  // A test that leaves a call hanging need not wait for it; one about waiting says so in its arguments.
  const up = [process.execPath, ...node, bin, "up", "--port", "0", "--drain", "0s", ...args];
  const masked = umask === undefined ? [] : ["sh", "-c", `umask ${umask}; exec "$@"`, "sh"];
  const [command = "", ...rest] = [...masked, ...through, ...up];
  const child = spawn(command, rest, {
    env: { ...home.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const exited = once(child, "exit");
  // A test that failed before it could stop it must not leave it behind.
  const killLast = () => void child.kill("SIGKILL");
  process.once("exit", killLast);
  void exited.then(() => process.off("exit", killLast));
  const seen = (what: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const check = () => {
        if (what()) resolve();
      };
      child.stdout.on("data", check);
      child.stderr.on("data", check);
      void exited.then(() => reject(new Error(`the hub ended early:\n${stdout}\n${stderr}`)));
      check();
    });
  await seen(() => /^MCP\s+http\S+\/mcp$/m.test(stdout));
  if (ready) await seen(() => stderr.includes("Ctrl-C stops."));
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
    return child.exitCode;
  };
  return {
    url: /^MCP\s+(http\S+)\/mcp$/m.exec(stdout)?.[1] ?? "",
    process: child,
    home,
    stdout: () => stdout,
    stderr: () => stderr,
    stop: () => end("SIGTERM"),
    kill: async () => void (await end("SIGKILL")),
  };
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Launched {
  readonly process: ChildProcessWithoutNullStreams;
  /** Resolves when it has ended and its output is complete. */
  readonly finished: Promise<Finished>;
}

/** A command that is left running: for signals, and for talking to it. */
export function launch(home: Home, args: readonly string[], env: Readonly<Record<string, string>> = {}): Launched {
  const child = spawn(process.execPath, [BIN, ...args], {
    env: { ...home.env, ...env },
    // A command that should have ended must not outlive the test that fails over it.
    timeout: 50_000,
    killSignal: "SIGKILL",
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => (stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk) => (stderr += chunk));
  // It may end before it has read everything.
  child.stdin.on("error", () => {});
  const finished = once(child, "close").then(() => ({ code: child.exitCode, stdout, stderr }));
  return { process: child, finished };
}

/** One command to its end. */
export function plugboard(
  home: Home,
  args: readonly string[],
  { stdin, env }: { stdin?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<Finished> {
  const { process: child, finished } = launch(home, args, env);
  child.stdin.end(stdin ?? "");
  return finished;
}
