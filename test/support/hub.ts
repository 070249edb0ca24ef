// Runs the built hub as a user does: in its own process, with an empty home and a config written to files.

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

/** An entry that exits at once and has no retries, because a restart would sometimes show as "starting". */
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

/** A fresh PLUGBOARD_HOME. Every server gets a mark in its environment, which identifies its processes. */
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

/** The variables that a launcher needs to find its registry, and nothing else of the test environment. */
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
  /** Sends SIGTERM and waits for the exit. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL and waits for the exit. */
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
  /** The program of another build. */
  readonly bin?: string;
}

/** `plugboard up` on a free port. Resolves when it prints its address. */
export async function startHub(
  home: Home,
  { ready = true, args = [], env = {}, through = [], node = [], umask, bin = BIN }: StartOptions = {},
): Promise<RunningHub> {
  // Open calls do not delay the stop by default; tests of the drain limit pass their own argument.
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
  // A test that fails before it stops the hub must not leave it running.
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
  await seen(() => /^API\s+http\S+\/api\/v1$/m.test(stdout));
  if (ready) await seen(() => stderr.includes("Press Ctrl-C to stop."));
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
    return child.exitCode;
  };
  return {
    url: /^API\s+(http\S+)\/api\/v1$/m.exec(stdout)?.[1] ?? "",
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

/** Starts a command without waiting for its exit, for tests that send signals or write to stdin. */
export function launch(home: Home, args: readonly string[], env: Readonly<Record<string, string>> = {}): Launched {
  const child = spawn(process.execPath, [BIN, ...args], {
    env: { ...home.env, ...env },
    // A command that hangs must not outlive its failed test.
    timeout: 50_000,
    killSignal: "SIGKILL",
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => (stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk) => (stderr += chunk));
  // The command may exit before it has read all of stdin.
  child.stdin.on("error", () => {});
  const finished = once(child, "close").then(() => ({ code: child.exitCode, stdout, stderr }));
  return { process: child, finished };
}

/** The first text that matches, in what the command has written to stderr so far and will write. */
export async function seenInStderr({ process: { stderr } }: Launched, pattern: RegExp): Promise<string> {
  let text = "";
  for await (const chunk of stderr.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    const found = pattern.exec(text)?.[1];
    if (found !== undefined) return found;
  }
  throw new Error(`The command ended without it: ${text}`);
}

export interface CommandOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs one command until it exits. */
export function plugboard(home: Home, args: readonly string[], { stdin, env }: CommandOptions = {}): Promise<Finished> {
  const { process: child, finished } = launch(home, args, env);
  child.stdin.end(stdin ?? "");
  return finished;
}
