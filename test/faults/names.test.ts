// F28: faults of name resolution. Once with the system resolver, pointed to the test's name server if the test may do so, and
// once with a lookup function passed to the hub.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { callText, openInProcess, untilState, type InProcess } from "../support/in-process.ts";
import { FaultProxy } from "./fault-proxy.ts";
import type { FaultHub } from "./fault-hub.ts";
import { NameServer } from "./name-server.ts";
import { family, requireSeen } from "./rows.ts";
import { Upstream } from "./scenario.ts";

/** The limit for an error, and slack for a busy machine. */
const SOON_MS = 5000;
const SLACK_MS = 4000;
const NOT_FOUND = { code: "NETWORK_ERROR", message: "The server cannot be reached" } as const;

const dir = mkdtempSync(join(tmpdir(), "plugboard-names-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** The address of the name server on port 53, which only root may use. */
const ADDRESS = "127.0.0.153";
const resolvConf = join(dir, "resolv.conf");
writeFileSync(resolvConf, `nameserver ${ADDRESS}\n`);
const WITH_OUR_NAMES = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /etc/resolv.conf && exec "$@"', resolvConf];
const [program = "", ...args] = WITH_OUR_NAMES;
const canSend = process.getuid?.() === 0 && spawnSync(program, [...args, "true"]).status === 0;

/** The same port at two addresses, both of which lead to one server. */
async function openDoors(up: Upstream): Promise<{ first: FaultProxy; second: FaultProxy }> {
  const { port } = new URL(await up.listen());
  const first = await FaultProxy.open(Number(port), { host: "127.0.0.2" });
  const second = await FaultProxy.open(Number(port), { host: "127.0.0.3", port: first.port });
  return { first, second };
}

describe.runIf(canSend)("with the system resolver", () => {
  let names: NameServer;

  beforeAll(async () => {
    names = await NameServer.open({ host: ADDRESS, port: 53 });
  });

  afterAll(() => names?.close());

  family(
    "the names of servers",
    ({ hub }) => {
      /** Adds an entry with this name and waits for its error. */
      const failing = async (host: string) => {
        const name = hub().nextName();
        const startedAt = performance.now();
        await hub().addEntry(name, { url: `http://${host}/mcp`, resilience: { restart: false } });
        const { error } = await hub().passed(name, "error");
        return { error, ms: performance.now() - startedAt };
      };

      it("F28 an unknown name is a NETWORK_ERROR", async () => {
        const { error, ms } = await failing("nobody.test");
        expect(error).toMatchObject({ ...NOT_FOUND, detail: expect.stringContaining("ENOTFOUND") });
        expect(ms).toBeLessThan(SOON_MS + SLACK_MS);
        expect(names.count("nobody.test")).toBeGreaterThan(0);
      });

      it("F28 a name server that fails", async () => {
        names.set("failing.test", "failure");
        expect((await failing("failing.test")).error).toMatchObject({ ...NOT_FOUND, detail: "EAI_AGAIN" });
      });

      it("F28 a silent name server: an error after five seconds, and no other server waits", async () => {
        // The usual time on this machine.
        const usualMs = await timed(() => local(hub()));
        const silent = Array.from({ length: 6 }, (_, n) => `silent${n}.test`);
        for (const host of silent) names.set(host, "silence");
        const failed = Promise.all(silent.map(failing));
        await hub().until(() => silent.some((host) => names.count(host) > 0));
        // The lookup of localhost shares the thread pool with the silent lookups.
        expect(await timed(() => local(hub()))).toBeLessThan(5 * usualMs + SOON_MS);
        for (const { error, ms } of await failed) {
          expect(error).toMatchObject(NOT_FOUND);
          expect(ms).toBeLessThan(SOON_MS + SLACK_MS);
        }
      });

      it("F28 if the first of two addresses is dead, the second is used", async () => {
        const up = new Upstream(hub().home.dir, { transport: "http" });
        const { first, second } = await openDoors(up);
        await first.refuse();
        names.set("two.test", ["127.0.0.2", "127.0.0.3"]);
        const name = await addAt(hub(), up, `http://two.test:${second.port}/mcp`);
        requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
        await second.close();
      });

      it("F28 a server that moves is looked up again", async () => {
        const up = new Upstream(hub().home.dir, { transport: "http" });
        const { first, second } = await openDoors(up);
        names.set("moving.test", ["127.0.0.2"]);
        const name = await addAt(hub(), up, `http://moving.test:${first.port}/mcp`);
        requireSeen(await hub().call(name, "act", { id: "x1" }), "answer");
        names.set("moving.test", ["127.0.0.3"]);
        await first.refuse();
        await hub().until(async () => (await hub().call(name, "act", { id: "x2" })).error === undefined, 60_000);
        await hub().untilState(name, "running");
        await second.close();
      });
    },
    { through: WITH_OUR_NAMES },
  );
});

async function addAt(hub: FaultHub, up: Upstream, url: string): Promise<string> {
  const name = hub.nextName();
  hub.added.set(name, up);
  await hub.addEntry(name, { url });
  await hub.untilState(name, "running");
  return name;
}

/** Adds a server at localhost and calls it. */
async function local(hub: FaultHub): Promise<void> {
  const up = new Upstream(hub.home.dir, { transport: "http" });
  const { port, pathname } = new URL(await up.listen());
  const name = await addAt(hub, up, `http://localhost:${port}${pathname}`);
  requireSeen(await hub.call(name, "act", { id: "x1" }), "answer");
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

describe("with an injected lookup", () => {
  let names: NameServer;
  let inProcess: InProcess;
  let up: Upstream;

  beforeEach(async () => {
    names = await NameServer.open();
    inProcess = await openInProcess({}, { lookup: names.lookup });
    await inProcess.hub.start();
    up = new Upstream(inProcess.home.dir, { transport: "http" });
  });

  afterEach(async () => {
    expect(await inProcess.end()).toEqual([]);
    await up.stop();
    await names.close();
  });

  /** Adds a server, tries to start it, and returns its state. */
  const start = async (url: string) => {
    const { hub } = inProcess;
    const resilience = { restart_first_ms: 50, restart_max_ms: 200 };
    await hub.configuration.createServer({ name: "far", url, resilience });
    return untilState(hub, "far", "running", "error");
  };

  it("F28 an unknown name", async () => {
    expect(await start("http://nobody.test/mcp")).toMatchObject({ state: "error", error: NOT_FOUND });
    expect(names.count("nobody.test")).toBeGreaterThan(0);
  });

  it("F28 a silent name server is an error after five seconds, and recovery is noticed", async () => {
    const { port } = new URL(await up.listen());
    names.set("silent.test", "silence");
    const startedAt = performance.now();
    expect(await start(`http://silent.test:${port}/mcp`)).toMatchObject({ state: "error", error: NOT_FOUND });
    const ms = performance.now() - startedAt;
    process.stderr.write(`a name server that never answers: ${Math.round(ms)} ms\n`);
    expect(ms).toBeLessThan(SOON_MS + SLACK_MS);
    names.set("silent.test", ["127.0.0.1"]);
    await untilState(inProcess.hub, "far", "running");
    expect(await callText(inProcess.hub, "far", "act", { id: "x1" })).toBe("act x1");
  });

  it("F28 if the address is dead, the name is looked up again for the next attempt", async () => {
    const { first, second } = await openDoors(up);
    await first.refuse();
    names.set("moving.test", ["127.0.0.2"]);
    expect(await start(`http://moving.test:${second.port}/mcp`)).toMatchObject({ state: "error", error: NOT_FOUND });
    names.set("moving.test", ["127.0.0.3"]);
    await untilState(inProcess.hub, "far", "running");
    expect(await callText(inProcess.hub, "far", "act", { id: "x1" })).toBe("act x1");
    await second.close();
  });
});
