// A real PostgreSQL for tests: Debian's programs on a folder of their own, as an unprivileged user, on a free loopback port. The
// packages start a server of their own, which is neither used nor needed.

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { freePort } from "./sockets.ts";

const run = promisify(execFile);
const INSTALL = "apt-get install -y --no-install-recommends postgresql";
const PACKAGES = "/usr/lib/postgresql";
export const TEST_USER = "plugboard_test";
const READY_MS = 60_000;

/** Undefined where PostgreSQL is not installed: the reason has been printed. */
export const POSTGRES_PROGRAMS = findPrograms();

export class Postgres {
  readonly port: number;
  readonly #folder: string;
  #server: ChildProcess;
  #databases = 0;

  private constructor(folder: string, port: number, server: ChildProcess) {
    this.#folder = folder;
    this.port = port;
    this.#server = server;
  }

  static async start(): Promise<Postgres> {
    const folder = await mkdtemp(join(tmpdir(), "plugboard-pg-"));
    const user = unprivileged();
    if (user !== undefined) chownSync(folder, user.uid, user.gid);
    const data = join(folder, "data");
    const settings = ["--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C", `--username=${TEST_USER}`];
    await run(program("initdb"), ["-D", data, ...settings], { ...user, cwd: folder });
    const port = await freePort();
    const postgres = new Postgres(folder, port, serve(folder, port));
    await postgres.#untilReady();
    return postgres;
  }

  /** A new, empty database. */
  async createDatabase(): Promise<string> {
    const name = `test_${++this.#databases}`;
    await this.query("postgres", `create database ${name}`);
    return name;
  }

  urlOf(database: string): string {
    return `postgres://${TEST_USER}@127.0.0.1:${this.port}/${database}`;
  }

  async query(database: string, sql: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.urlOf(database) });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** As after a power cut: connections break at once. */
  async kill(): Promise<void> {
    const ended = once(this.#server, "exit");
    // Immediate shutdown.
    this.#server.kill("SIGQUIT");
    await ended;
  }

  async restart(): Promise<void> {
    this.#server = serve(this.#folder, this.port);
    await this.#untilReady();
  }

  async stop(): Promise<void> {
    if (this.#server.exitCode === null && this.#server.signalCode === null) await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #untilReady(): Promise<void> {
    const deadline = Date.now() + READY_MS;
    for (;;) {
      try {
        await this.query("postgres", "select 1");
        return;
      } catch (error) {
        if (Date.now() > deadline || this.#server.exitCode !== null) throw error;
        await sleep(50);
      }
    }
  }
}

function serve(folder: string, port: number): ChildProcess {
  const settings = {
    listen_addresses: "127.0.0.1",
    port,
    unix_socket_directories: "",
    fsync: "off",
    max_connections: 200,
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return spawn(program("postgres"), ["-D", join(folder, "data"), ...options], {
    ...unprivileged(),
    cwd: folder,
    stdio: "ignore",
  });
}

function program(name: string): string {
  return join(POSTGRES_PROGRAMS ?? "", name);
}

/** PostgreSQL and PgBouncer refuse to run as root. */
export function unprivileged(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const entry = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((line) => line.startsWith("postgres:"));
  const [, , uid = "65534", gid = "65534"] = entry?.split(":") ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

function findPrograms(): string | undefined {
  const newest = existsSync(PACKAGES) ? Math.max(...readdirSync(PACKAGES).map(Number)) : Number.NaN;
  const folder = join(PACKAGES, String(newest), "bin");
  if (existsSync(join(folder, "initdb"))) return folder;
  process.stderr.write(`Tests on PostgreSQL are skipped: they need it (${INSTALL})\n`);
  return undefined;
}
