// deploy/haproxy.cfg with the real HAProxy before real hubs: sessions go to the hub that made them, and to another one when that dies.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Postgres, POSTGRES_PROGRAMS } from "../support/postgres.ts";
import { Cluster, type Replica } from "../support/replicas.ts";
import { connect, http } from "../support/rpc.ts";
import { freePort } from "../support/sockets.ts";

const HAPROXY = "/usr/sbin/haproxy";
const CONFIG = join(import.meta.dirname, "../../deploy/haproxy.cfg");
const isThere = spawnSync(HAPROXY, ["-v"]).error === undefined;
if (!isThere) process.stdout.write("skipped, HAProxy: apt-get install -y --no-install-recommends haproxy\n");

/** Replaces texts that must be there: the file may have changed. */
function replaced(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((before, [from, to]) => {
    expect(before).toContain(from);
    return before.replaceAll(from, to);
  }, text);
}

describe.skipIf(POSTGRES_PROGRAMS === undefined || !isThere)("SC-3 hubs behind HAProxy", () => {
  const ends: (() => unknown)[] = [];
  const hubs: Replica[] = [];
  let url = "";

  beforeAll(async () => {
    const postgres = await Postgres.start();
    ends.push(() => postgres.stop());
    const cluster = await Cluster.open(postgres);
    ends.push(() => cluster.close());
    hubs.push(...(await Promise.all(["hub1", "hub2"].map((name) => cluster.start(name)))));
    const folder = await mkdtemp(join(tmpdir(), "plugboard-haproxy-"));
    ends.push(() => rm(folder, { recursive: true }));
    const port = await freePort();
    const [one = "", two = ""] = hubs.map(({ hub }) => new URL(hub.url).host);
    const config = replaced(await readFile(CONFIG, "utf8"), {
      "bind :443 ssl crt /etc/haproxy/hub.pem alpn http/1.1": `bind 127.0.0.1:${port}`,
      "hub1.internal:7430": one,
      "hub2.internal:7430": two,
      // A hub that is down.
      "hub3.internal:7430": `127.0.0.1:${await freePort()}`,
      "  option forwardfor": "  option forwardfor\n  http-response set-header x-hub %s",
    });
    const path = join(folder, "haproxy.cfg");
    await writeFile(path, config);
    const proxy = spawn(HAPROXY, ["-db", "-f", path], { stdio: "ignore" });
    const exited = once(proxy, "exit");
    ends.push(() => {
      proxy.kill("SIGTERM");
      return exited;
    });
    url = `http://127.0.0.1:${port}`;
    const isUp = () =>
      http(`${url}/readyz`, { method: "GET" }).then(
        ({ status }) => status === 200,
        () => false,
      );
    await vi.waitUntil(isUp, { timeout: 30_000, interval: 20 });
  });

  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  it("each session is served by the hub in its id, and by another one after that has died", async () => {
    const sessions = await Promise.all(Array.from({ length: 6 }, () => connect(`${url}/mcp`)));
    const ownerOf = ({ headers }: (typeof sessions)[number]) => headers["mcp-session-id"].split("-")[0];
    expect(new Set(sessions.map(ownerOf))).toEqual(new Set(["hub1", "hub2"]));
    for (let round = 0; round < 3; round++) {
      for (const session of sessions) {
        const { status, headers } = await session.send("ping");
        expect([status, headers["x-hub"]]).toEqual([200, ownerOf(session)]);
      }
    }
    await hubs[0]?.hub.kill();
    for (const session of sessions) {
      const { status, headers } = await session.send("ping");
      expect([status, headers["x-hub"]]).toEqual([200, "hub2"]);
    }
  });
});
