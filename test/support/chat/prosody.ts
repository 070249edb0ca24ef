// Runs a real Prosody on loopback with its own config and data folder, independent of the system's service.

import { createHash, createHmac, pbkdf2Sync } from "node:crypto";
import { spawn, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { freePort } from "../sockets.ts";

export const isProsodyInstalled = spawnSync("prosodyctl", ["--help"]).error === undefined;
export const HOW_TO_INSTALL = "apt-get install -y --no-install-recommends prosody";

export const PASSWORD = "of-no-importance";

export class Prosody {
  readonly port: number;
  readonly #folder: string;
  #running: { readonly child: ReturnType<typeof spawn> } | undefined;

  static async start(): Promise<Prosody> {
    const folder = await mkdtemp(join(tmpdir(), "prosody-"));
    const prosody = new Prosody(folder, await freePort());
    await prosody.#install();
    await prosody.up();
    return prosody;
  }

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.port = port;
  }

  get service(): string {
    return `xmpp://127.0.0.1:${this.port}`;
  }

  /** Resolves when it accepts connections. */
  async up(): Promise<void> {
    const child = spawn("prosody", ["-F", "--config", join(this.#folder, "prosody.cfg.lua")], { stdio: "ignore" });
    this.#running = { child };
    const ended = once(child, "exit").then(() => {
      throw new Error("Prosody did not start");
    });
    ended.catch(() => undefined);
    await Promise.race([ended, untilOpen(this.port)]);
  }

  async down(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    if (running === undefined || running.child.exitCode !== null) return;
    const { child } = running;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }

  async close(): Promise<void> {
    await this.down("SIGKILL");
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Prosody reads account files at login. */
  async addUsers(...users: readonly string[]): Promise<void> {
    const accounts = join(this.#folder, "data", "localhost", "accounts");
    await mkdir(accounts, { recursive: true });
    for (const user of users) {
      await writeFile(join(accounts, `${user}.dat`), ACCOUNT);
    }
  }

  async #install(): Promise<void> {
    await writeFile(join(this.#folder, "prosody.cfg.lua"), config(this.#folder, this.port));
  }
}

/** SCRAM credentials with one iteration instead of thousands, which would take minutes for dozens of logins. */
const ACCOUNT = ((): string => {
  const salt = "salt";
  const salted = pbkdf2Sync(PASSWORD, salt, 1, 20, "sha1");
  const storedKey = createHash("sha1").update(createHmac("sha1", salted).update("Client Key").digest()).digest("hex");
  const serverKey = createHmac("sha1", salted).update("Server Key").digest("hex");
  return `return { iteration_count = 1; salt = "${salt}"; stored_key = "${storedKey}"; server_key = "${serverKey}" };\n`;
})();

const config = (folder: string, port: number): string => `
run_as_root = true
daemonize = false
pidfile = "${folder}/prosody.pid"
data_path = "${folder}/data"
certificates = "${folder}"
log = { error = "${folder}/prosody.log" }
interfaces = { "127.0.0.1" }
c2s_ports = { ${port} }
s2s_ports = {}
modules_enabled = { "roster", "saslauth", "disco", "carbons", "mam", "ping" }
modules_disabled = { "s2s", "tls", "offline", "posix" }
-- No certificate on loopback.
c2s_require_encryption = false
authentication = "internal_hashed"
storage = "internal"
archive_expires_after = "never"
default_archive_policy = true
max_archive_query_results = 250
limits = { c2s = { rate = "10mb/s", burst = "10s" } }
VirtualHost "localhost"
Component "rooms.localhost" "muc"
  modules_enabled = { "muc_mam" }
  muc_log_by_default = true
  muc_log_all_rooms = true
  muc_room_locking = false
  muc_room_default_persistent = true
-- Rooms that keep nothing.
Component "loose.localhost" "muc"
  muc_room_locking = false
`;

/** Prosody has no readiness signal, so its port is polled. */
async function untilOpen(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
