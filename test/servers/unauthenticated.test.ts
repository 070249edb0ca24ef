// F24: a remote server that rejects the hub's credentials has its own status, names the setting to change, is not retried, and
// recovers automatically. The servers are real, and their key can be changed.

import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { writeFileAtomic } from "../../hub/src/lib/files/atomic.ts";
import { openManaged, type ManagedHub } from "../support/api.ts";
import { makeHome, plugboard, startHub } from "../support/hub.ts";
import { callText, callTool, untilState } from "../support/in-process.ts";
import { startRemote } from "../support/remote.ts";
import { listen } from "../support/sockets.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** A server that requires this key. `setKey` changes it. */
async function locked(key: string) {
  const dir = await mkdtemp(join(tmpdir(), "plugboard-key-"));
  closing.push(() => rm(dir, { recursive: true }));
  const path = join(dir, "key");
  // Replaced atomically, so that the server never reads a partial file.
  const setKey = (other: string) => writeFileAtomic(path, other, { mode: 0o600 });
  await setKey(key);
  const remote = await startRemote("legacy-http", [`--key-file=${path}`]);
  closing.push(() => remote.stop());
  return { url: remote.url, setKey };
}

async function open(entry: Readonly<Record<string, unknown>>): Promise<ManagedHub> {
  const managed = await openManaged({ it: entry });
  closing.push(async () => expect(await managed.end()).toEqual([]));
  return managed;
}

const withKey = (url: string, key: string, more: Readonly<Record<string, unknown>> = {}) => ({
  url,
  headers: { Authorization: `Bearer ${key}` },
  resilience: { health_check_ms: 0 },
  ...more,
});

const REFUSED = { state: "unauthenticated", error: { code: "UNAUTHENTICATED", kind: "Unauthenticated" } };

/** Answers everything with a status, and counts the messages. Requests for metadata of a login are not messages. */
async function refusing(status: number): Promise<{ url: string; heard: () => number }> {
  let heard = 0;
  const server = createServer(({ method }, response) => {
    if (method === "POST") heard++;
    response.writeHead(status).end();
  });
  const port = await listen(server);
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${port}/mcp`, heard: () => heard };
}

describe("LC-1 F24 a server that refuses the credentials at its start", () => {
  it.each([
    [401, "UNAUTHENTICATED"],
    [403, "FORBIDDEN"],
  ])("%d: is unauthenticated, is not tried again by itself, and its circuit is closed", async (status, code) => {
    const { url, heard } = await refusing(status);
    const { hub } = await open({ url, resilience: { restart_first_ms: 1, health_check_ms: 0 } });
    await hub.start();
    const server = hub.supervisor.get("it");
    expect(server.status).toMatchObject({ state: "unauthenticated", error: { code } });
    expect(server.nextTry).toBeUndefined();
    expect(heard()).toBe(1);
    for (let n = 0; n < 5; n++) await expect(callTool(hub, "it", "echo")).rejects.toMatchObject({ code });
    // One attempt each.
    expect(heard()).toBe(6);
    expect(server.circuit.breaker).toEqual({ state: "closed", failures: 0 });
    expect([...server.restartCounts]).toEqual([]);
  });

  it.each([
    [
      "no header: commands that can be copied",
      {},
      "The server asks for credentials",
      /^plugboard secret set it-token\nplugboard edit it '\{"headers":\{"Authorization":"Bearer \$\{TOKEN\}"\},"env":\{"TOKEN":\{"secretRef":"it-token"\}\}\}'$/,
    ],
    ["a header", { headers: { "X-Key": "k" } }, "The server does not accept the credentials", /edit it .*X-Key/],
    [
      "a secret",
      { headers: { Authorization: "Bearer ${TOKEN}" }, env: { TOKEN: { secretRef: "its-token" } } },
      "The server does not accept the credentials",
      /^plugboard secret set its-token$/,
    ],
  ])("names the setting to change: %s", async (_, entry, message, hint) => {
    const { url } = await locked("k3y");
    const { hub } = await open({ url, ...entry });
    await hub.secrets.set("its-token", "wrong");
    await hub.start();
    expect(hub.supervisor.get("it").status).toMatchObject({
      ...REFUSED,
      error: { message, hint: expect.stringMatching(hint), detail: expect.stringContaining("401") },
    });
  });

  it("runs again when a later request is accepted", async () => {
    const server = await locked("other");
    const { hub } = await open(withKey(server.url, "k3y"));
    await hub.start();
    expect(hub.supervisor.get("it").status).toMatchObject(REFUSED);
    await server.setKey("k3y");
    expect(await callText(hub, "it", "echo", { text: "in" })).toBe("in");
    expect(hub.supervisor.get("it").status.state).toBe("running");
  });

  it("RS-3 runs again when a health check is accepted", async () => {
    const server = await locked("other");
    const { hub, statuses } = await open(withKey(server.url, "k3y", { resilience: { health_check_ms: 50 } }));
    await hub.start();
    await expect
      .poll(() => statuses("it").filter(({ state }) => state === "unauthenticated").length)
      .toBeGreaterThan(2);
    await server.setKey("k3y");
    expect(await untilState(hub, "it", "running")).toMatchObject({ tools: expect.arrayContaining(["echo"]) });
  });

  it("CF-6 runs again when its secret is set", async () => {
    const { url } = await locked("k3y");
    const entry = { headers: { Authorization: "Bearer ${TOKEN}" }, env: { TOKEN: { secretRef: "its-token" } } };
    const { hub, ask } = await open({ url, ...entry });
    await hub.secrets.set("its-token", "wrong");
    await hub.start();
    expect(hub.supervisor.get("it").status).toMatchObject(REFUSED);
    await ask("/secrets/its-token", { method: "PUT", body: { value: "k3y" } });
    await untilState(hub, "it", "running");
  });

  it("CF-9 runs again when its config is fixed", async () => {
    const { url } = await locked("k3y");
    const { hub, ask } = await open(withKey(url, "wrong"));
    await hub.start();
    expect(hub.supervisor.get("it").status).toMatchObject(REFUSED);
    await ask("/servers/it", { method: "PATCH", body: { headers: { Authorization: "Bearer k3y" } } });
    await untilState(hub, "it", "running");
  });

  it("can be stopped, and then gets no requests", async () => {
    const { url, heard } = await refusing(401);
    const { hub } = await open({ url, resilience: { health_check_ms: 20 } });
    await hub.start();
    await hub.supervisor.get("it").stop();
    expect(hub.supervisor.get("it").status).toEqual({ state: "stopped" });
    const before = heard();
    await expect(callTool(hub, "it", "echo")).rejects.toMatchObject({ kind: "ServerNotRunning" });
    expect(heard()).toBe(before);
  });
});

describe("LC-1 F24 a server that refuses the credentials later", () => {
  it("GR-8 a refused call makes it unauthenticated and hides its tools until it accepts our credentials", async () => {
    const server = await locked("k3y");
    const { hub } = await open(withKey(server.url, "k3y"));
    await hub.start();
    expect(hub.catalog.group().tools).not.toEqual([]);
    await server.setKey("other");
    await expect(callTool(hub, "it", "echo")).rejects.toMatchObject({
      kind: "Unauthenticated",
      hint: expect.stringContaining("plugboard edit it"),
    });
    expect(await untilState(hub, "it", "unauthenticated")).toMatchObject(REFUSED);
    expect(hub.catalog.group().tools).toEqual([]);
    expect(hub.supervisor.get("it").nextTry).toBeUndefined();
    expect(hub.supervisor.get("it").circuit.breaker).toEqual({ state: "closed", failures: 0 });
    await server.setKey("k3y");
    expect(await callText(hub, "it", "echo", { text: "in" })).toBe("in");
    expect(hub.catalog.group().tools).not.toEqual([]);
  });

  it("RS-3 is unauthenticated after a health check", async () => {
    const server = await locked("k3y");
    const { hub } = await open(
      withKey(server.url, "k3y", { resilience: { health_check_ms: 100, restart_first_ms: 1 } }),
    );
    await hub.start();
    await server.setKey("other");
    expect(await untilState(hub, "it", "unauthenticated")).toMatchObject(REFUSED);
  });

  it("instances become unauthenticated in the same way", async () => {
    const server = await locked("k3y");
    const { hub } = await open(withKey(server.url, "k3y", { isolation: "per-session" }));
    await hub.start();
    expect(await callText(hub, "it", "echo", { text: "in" })).toBe("in");
    await server.setKey("other");
    await expect(callTool(hub, "it", "echo")).rejects.toMatchObject({ kind: "Unauthenticated" });
    expect(await untilState(hub, "it", "unauthenticated")).toMatchObject(REFUSED);
    await server.setKey("k3y");
    expect(await callText(hub, "it", "echo", { text: "in" })).toBe("in");
    await untilState(hub, "it", "running");
  });
});

describe("MG-1 F24 the command line", () => {
  it("shows the state and the fix, and exits 3", async () => {
    const { url } = await locked("k3y");
    const home = await makeHome({ it: { url } });
    closing.push(() => home.remove());
    const hub = await startHub(home);
    closing.push(() => hub.stop());
    expect(hub.stderr()).toMatch(/! it .*The server asks for credentials/);
    const run = (...args: string[]) => plugboard(home, args);
    expect((await run("ls")).stdout).toMatch(/it +http +unauthenticated .*The server asks for credentials/);
    expect((await run("get", "it")).stdout).toMatch(/fix +plugboard secret set it-token\n +plugboard edit it/);
    expect(await run("status", "--check")).toMatchObject({ code: 1, stdout: expect.stringMatching(/! it/) });
    expect((await run("restart", "it")).code).toBe(3);
    expect((await run("call", "it.echo", "text=x")).code).toBe(3);
    expect((await run("test", "it")).code).toBe(3);
  });
});
