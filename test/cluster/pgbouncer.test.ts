// Replicas behind a real PgBouncer in transaction mode: everything but the one direct connection goes through it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { fixture } from "../support/hub.ts";
import { Postgres, POSTGRES_PROGRAMS, TEST_USER, unprivileged } from "../support/postgres.ts";
import { Cluster } from "../support/replicas.ts";
import { freePort } from "../support/sockets.ts";

const PGBOUNCER = "/usr/sbin/pgbouncer";
const hasPgBouncer = existsSync(PGBOUNCER);
if (!hasPgBouncer) {
  const install = "apt-get install -y --no-install-recommends pgbouncer";
  process.stderr.write(`Replicas behind PgBouncer are skipped: they need it (${install})\n`);
}

describe.skipIf(POSTGRES_PROGRAMS === undefined || !hasPgBouncer)("SC-2 replicas behind PgBouncer", () => {
  let postgres: Postgres;
  beforeAll(async () => void (postgres = await Postgres.start()));
  afterAll(() => postgres.stop());

  async function openPooler(): Promise<number> {
    const folder = await mkdtemp(join(tmpdir(), "plugboard-pgbouncer-"));
    const port = await freePort();
    const settings = [
      "[databases]",
      `* = host=127.0.0.1 port=${postgres.port} user=${TEST_USER}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = any",
      "pool_mode = transaction",
      "default_pool_size = 10",
    ];
    const user = unprivileged();
    await writeFile(join(folder, "pgbouncer.ini"), settings.join("\n"));
    if (user !== undefined) chownSync(folder, user.uid, user.gid);
    const pooler = spawn(PGBOUNCER, [join(folder, "pgbouncer.ini")], { ...user, cwd: folder, stdio: "ignore" });
    onTestFinished(async () => {
      const ended = once(pooler, "exit");
      pooler.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    });
    return port;
  }

  it("share config, secrets and calls; without a way around it, changes are still seen", async () => {
    const port = await openPooler();
    const cluster = await Cluster.open(postgres);
    onTestFinished(() => cluster.close());
    const pooled = { PLUGBOARD_DATABASE_URL: `postgres://${TEST_USER}@127.0.0.1:${port}/${cluster.database}` };
    // One with a direct connection, and one whose notifications and locks are lost in the pooler.
    const direct = await cluster.makeHome("one", { database: { direct_url: postgres.urlOf(cluster.database) } });
    const one = await cluster.startIn(direct, { env: pooled });
    const two = await cluster.start("two", { env: pooled });
    await one.client.servers.create({ name: "echo", ...fixture("echo") });
    await one.client.secrets.set("a", "1");
    const names = async () => (await two.client.servers.list()).map(({ config }) => config.name);
    await expect.poll(names).toEqual(["echo"]);
    expect(await two.client.secrets.list()).toMatchObject([{ name: "a" }]);
    await two.client.servers.create({ name: "other", ...fixture("echo"), enabled: false });
    await expect.poll(async () => (await one.client.servers.list()).length).toBe(2);
    await expect.poll(async () => (await two.client.servers.get("echo")).status).toBe("running");
    await two.client.callTool({ server: "echo", tool: "echo", arguments: { text: "hello" } });
    expect((await one.client.calls.list()).items).toMatchObject([{ tool_name: "echo", success: true }]);
  });
});
