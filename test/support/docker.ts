// A real Docker engine for tests: its own folder, socket and pid file, no network, no registry; all gone at the end.

import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";

const INSTALL = "apt-get install -y --no-install-recommends docker.io";
const READY_MS = 30_000;
const CHECKOUT = new URL("../../", import.meta.url).pathname;
const EVERYTHING = "@modelcontextprotocol/server-everything";

export interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export class DockerEngine {
  readonly #folder: string;
  readonly #daemon: ChildProcess;
  /** Variables for the hub's environment that point its docker client to this engine. */
  readonly env: { readonly DOCKER_HOST: string };

  constructor(folder: string, daemon: ChildProcess) {
    this.#folder = folder;
    this.#daemon = daemon;
    this.env = { DOCKER_HOST: socketIn(folder) };
  }

  docker(...args: string[]): Promise<Output> {
    return run("docker", args, this.env);
  }

  /** Names of all containers, running or not. */
  async containers(): Promise<string[]> {
    const { stdout } = await this.docker("ps", "--all", "--format", "{{.Names}}");
    return stdout.split("\n").filter((name) => name !== "");
  }

  /** An image of the everything server, built from local files. Its entry point is the server. */
  async importEverything(): Promise<string> {
    const main = join("/", "node_modules", EVERYTHING, "dist/index.js");
    const node = realpathSync(process.execPath);
    const entry = `ENTRYPOINT ${JSON.stringify([node, main])}`;
    const files = [...(await withLibraries([node])), "-C", CHECKOUT, ...packageFolders(EVERYTHING)];
    return this.#import("plugboard-test/everything:1", files, ["--change", entry]);
  }

  /** An image in which Node runs, built from local files: what `node:20-slim` is for the hub. */
  async importNode(): Promise<string> {
    const programs = ["/usr/bin/env", "/bin/sh", "/bin/sleep", process.execPath];
    return this.#import("plugboard-test/node:1", await withLibraries(programs), []);
  }

  /** `files`: arguments of tar, below the root folder. */
  async #import(image: string, files: readonly string[], options: readonly string[]): Promise<string> {
    const tar = spawn("tar", ["-chf", "-", "-C", "/", ...files], { stdio: ["ignore", "pipe", "inherit"] });
    const load = spawn("docker", ["import", ...options, "-", image], {
      stdio: ["pipe", "ignore", "inherit"],
      env: { ...process.env, ...this.env },
    });
    const ends = Promise.all([once(tar, "exit"), once(load, "exit")]);
    await pipeline(tar.stdout, load.stdin);
    const [[packed], [loaded]] = await ends;
    if (packed !== 0 || loaded !== 0) throw new Error(`The image could not be made: tar ${packed}, docker ${loaded}`);
    return image;
  }

  async close(): Promise<void> {
    await endDaemon(this.#daemon);
    await removeFolder(this.#folder);
  }
}

/** A running engine, or the reason why it is missing and the command that installs it. */
export async function startDocker(): Promise<DockerEngine | { readonly missing: string }> {
  const absent = ["docker", "dockerd"].filter((name) => !isOnPath(name));
  if (absent.length > 0) return { missing: `no ${absent.join(" and ")} on PATH: ${INSTALL}` };
  if (process.getuid?.() !== 0) return { missing: "dockerd needs root: run the tests as root" };
  const folder = await mkdtemp(join(tmpdir(), "plugboard-docker-"));
  const log = join(folder, "log");
  const daemon = await startDaemon(folder, log);
  const answers = async () => (await run("docker", ["version"], { DOCKER_HOST: socketIn(folder) })).code === 0;
  const deadline = performance.now() + READY_MS;
  // The engine does not report when it is ready.
  while (!(await answers())) {
    if (daemon.exitCode === null && performance.now() < deadline) {
      await delay(50);
      continue;
    }
    const lastLines = (await readFile(log, "utf8")).trimEnd().split("\n").slice(-3).join("\n");
    await endDaemon(daemon);
    await removeFolder(folder);
    return { missing: `dockerd does not run on this machine:\n${lastLines}` };
  }
  return new DockerEngine(folder, daemon);
}

/** Paths below the root folder. */
async function withLibraries(programs: readonly string[]): Promise<string[]> {
  const libraries = await Promise.all(programs.map(librariesOf));
  return [...new Set([...programs, ...libraries.flat()])].map((path) => path.slice(1));
}

const socketIn = (folder: string) => `unix://${folder}/d.sock`;

async function startDaemon(folder: string, log: string): Promise<ChildProcess> {
  const output = await open(log, "w");
  const places = [
    "--data-root",
    join(folder, "data"),
    "--exec-root",
    join(folder, "exec"),
    "-p",
    join(folder, "d.pid"),
  ];
  const noNetwork = ["--iptables=false", "--ip6tables=false", "--bridge=none"];
  const daemon = spawn("dockerd", [...places, "-H", socketIn(folder), ...noNetwork], {
    // The engine has its own process group, so that Ctrl-C does not end it before close().
    detached: true,
    stdio: ["ignore", output.fd, output.fd],
  });
  await once(daemon, "spawn");
  await output.close();
  return daemon;
}

async function endDaemon(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const exit = once(daemon, "exit");
  daemon.kill("SIGTERM");
  await exit;
}

async function removeFolder(folder: string): Promise<void> {
  const mounts = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[1] ?? "");
  // Inner mounts come first.
  for (const mount of mounts.filter((path) => path.startsWith(`${folder}/`)).toReversed())
    await run("umount", ["-l", mount]);
  await rm(folder, { recursive: true, force: true });
}

function isOnPath(name: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));
}

async function librariesOf(binary: string): Promise<string[]> {
  const { stdout } = await run("ldd", [binary]);
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = ""]) => path);
}

/** The folders, in node_modules, of a package and of everything that it depends on. */
function packageFolders(root: string): string[] {
  const found = new Set<string>();
  const visit = (name: string, from: string) => {
    const folder = findPackage(name, from);
    if (folder === undefined || found.has(folder)) return;
    found.add(folder);
    const manifest: unknown = JSON.parse(readFileSync(join(CHECKOUT, folder, "package.json"), "utf8"));
    for (const dependency of dependencyNames(manifest)) visit(dependency, folder);
  };
  visit(root, "");
  // A nested package is copied with its parent.
  const folders = [...found];
  return folders.filter((folder) => !folders.some((outer) => folder.startsWith(`${outer}/`)));
}

/** Node's resolution: the package's own node_modules, then the parents'. Optional packages may be missing. */
function findPackage(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(CHECKOUT, candidate, "package.json"))) return candidate;
    if (folder === "") return undefined;
  }
}

function dependencyNames(manifest: unknown): string[] {
  if (typeof manifest !== "object" || manifest === null || !("dependencies" in manifest)) return [];
  return Object.keys(manifest.dependencies ?? {});
}

function run(command: string, args: string[], env: Record<string, string> = {}): Promise<Output> {
  return new Promise((resolve) => {
    const child = execFile(command, args, { env: { ...process.env, ...env } }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}
