import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { fixture } from "../../../test/support/hub.ts";
import { textOf } from "../../../test/support/in-process.ts";
import { isRunning, processesWithTag } from "../../../test/support/processes.ts";
import { createRedactor } from "../../../test/support/redactor.ts";
import { normalizeServer } from "../config/parse/normalize.ts";
import { MemorySecrets } from "../secrets/memory-store.ts";
import { rawParams } from "../protocol/rpc/jsonrpc.ts";
import { EraMemory } from "./connection/era-memory.ts";
import { Watchdog } from "./process/watchdog.ts";
import type { ServerObserver } from "./server.ts";
import { Supervisor } from "./supervisor.ts";

const instance = randomUUID();
const watchdog = new Watchdog({ instance });
const supervisors: Supervisor[] = [];

afterEach(async () => {
  await Promise.all(supervisors.splice(0).map((supervisor) => supervisor.shutdownAll()));
  expect(processesWithTag(instance)).toEqual([]);
});
afterAll(() => watchdog.close());

async function supervise(
  entries: Record<string, object>,
  { drainMs, onStatus = () => undefined }: { drainMs?: number; onStatus?: ServerObserver["onStatus"] } = {},
): Promise<Supervisor> {
  const variables = { PATH: process.env["PATH"] };
  const redactor = createRedactor();
  const context = {
    variables,
    secrets: new MemorySecrets(),
    watchdog,
    eras: await EraMemory.open(),
    instance,
    redactor,
  };
  const observer = { onStatus, onOffer: () => undefined };
  const supervisor = new Supervisor(context, observer, drainMs === undefined ? {} : { drainMs });
  for (const [name, entry] of Object.entries(entries)) supervisor.add(normalizeServer(name, entry));
  supervisors.push(supervisor);
  return supervisor;
}

describe("finding and removing servers", () => {
  it("a server is found by its name and by its id", async () => {
    const supervisor = await supervise({ a: { ...fixture("echo"), id: "first" }, b: fixture("echo") });
    expect(supervisor.get("a")).toBe(supervisor.get("first"));
    expect(supervisor.get("b").name).toBe("b");
  });

  it("a name counts before an id", async () => {
    const supervisor = await supervise({ a: { ...fixture("echo"), id: "b" }, b: fixture("echo") });
    expect(supervisor.get("b").name).toBe("b");
  });

  it.each(["nobody", "", "__proto__", "toString"])("MC-NT2 %j is NOT_FOUND, with the existing names", async (name) => {
    const supervisor = await supervise({ a: fixture("echo") });
    expect(() => supervisor.get(name)).toThrow(expect.objectContaining({ code: "NOT_FOUND", hint: "Servers: a" }));
  });

  it("MC-T2 a removed server is stopped", async () => {
    const supervisor = await supervise({ a: fixture("echo"), b: fixture("echo") });
    await supervisor.startAll();
    await supervisor.remove("a");
    expect(() => supervisor.get("a")).toThrow(expect.objectContaining({ kind: "ServerNotFound" }));
    expect(processesWithTag(instance)).toEqual([supervisor.get("b").pid]);
  });
});

describe("all servers", () => {
  it("LC-7 MC-T8 start and stop in parallel, independently of each other", async () => {
    const supervisor = await supervise({
      a: fixture("echo"),
      broken: fixture("exit-at-start"),
      off: { ...fixture("echo"), enabled: false },
      b: fixture("modern"),
    });
    await supervisor.startAll();
    const states = () => supervisor.servers.map(({ status }) => status.state);
    expect(states()).toEqual(["running", "error", "disabled", "running"]);
    expect(processesWithTag(instance)).toHaveLength(2);
    await supervisor.shutdownAll();
    expect(states()).toEqual(["stopped", "stopped", "disabled", "stopped"]);
    expect(processesWithTag(instance)).toEqual([]);
  });

  it("GR-3 the listings include servers that went down, marked as unavailable", async () => {
    const supervisor = await supervise({ a: fixture("paged"), b: fixture("paged"), c: fixture("exit-at-start") });
    await supervisor.startAll();
    await supervisor.get("b").stop();
    const listings = supervisor.listings();
    expect([...listings].map(([name, { available }]) => [name, available])).toEqual([
      ["a", true],
      ["b", false],
    ]);
  });
});

describe("a server that is replaced or removed", () => {
  const NEVER_MS = 3_600_000;
  const wanted = () => true;
  const changed = (entry: object) => normalizeServer("a", { ...entry, env: { CHANGED: "yes" } });
  const call = async (supervisor: Supervisor, tool: string, args = {}) => {
    const params = rawParams({ name: tool, arguments: args });
    return textOf(await supervisor.answering("a").forward({ method: "tools/call", params }));
  };

  it("F38 CF-9 answers until the new one runs, and finishes its open calls", async () => {
    const dir = await mkdtemp(join(tmpdir(), "plugboard-drain-"));
    const states: string[] = [];
    const supervisor = await supervise(
      { a: fixture("echo") },
      { drainMs: NEVER_MS, onStatus: ({ status }) => states.push(status.state) },
    );
    await supervisor.startAll();
    const old = supervisor.get("a").pid ?? 0;
    const path = join(dir, "go");
    const waiting = call(supervisor, "wait_for_file", { path, name: "CHANGED" });
    states.length = 0;
    const replaced = supervisor.replace(changed(fixture("echo")), { wanted });
    const fresh = supervisor.get("a");
    const pids: string[] = [];
    while (!fresh.available) pids.push(await call(supervisor, "pid"));
    // A call that was sent just before may still be answered by the old process.
    while (pids.at(-1) !== String(fresh.pid)) pids.push(await call(supervisor, "pid"));
    const first = pids.indexOf(String(fresh.pid));
    expect(new Set(pids.slice(0, first))).toEqual(new Set([String(old)]));
    expect(isRunning(old)).toBe(true);
    await writeFile(path, "");
    expect(await waiting).toBe("(unset)");
    await replaced;
    expect(processesWithTag(instance)).toEqual([fresh.pid]);
    expect(await call(supervisor, "env", { name: "CHANGED" })).toBe("yes");
    // The end of the old process does not change the state of the server.
    expect([...new Set(states)]).toEqual(["starting", "running"]);
    await rm(dir, { recursive: true });
  });

  it("F38 is removed at once and finishes its open calls", async () => {
    const dir = await mkdtemp(join(tmpdir(), "plugboard-drain-"));
    const states: string[] = [];
    const supervisor = await supervise(
      { a: fixture("modern") },
      { drainMs: NEVER_MS, onStatus: ({ status }) => states.push(status.state) },
    );
    await supervisor.startAll();
    const waiting = call(supervisor, "wait_for_file", { path: join(dir, "go"), name: "CHANGED" });
    const removed = supervisor.remove("a");
    expect(() => supervisor.answering("a")).toThrow(expect.objectContaining({ kind: "ServerNotFound" }));
    await writeFile(join(dir, "go"), "");
    expect(await waiting).toBe("(unset)");
    await removed;
    expect(states.at(-1)).toBe("stopped");
    expect(processesWithTag(instance)).toEqual([]);
    await rm(dir, { recursive: true });
  });

  it("F38 is stopped after the drain limit, also with open calls", async () => {
    const supervisor = await supervise({ a: fixture("echo") }, { drainMs: 50 });
    await supervisor.startAll();
    const hanging = call(supervisor, "hang").catch((error: unknown) => error);
    await supervisor.replace(changed(fixture("echo")), { wanted });
    expect(await hanging).toMatchObject({ kind: "ServerNotRunning" });
    expect(processesWithTag(instance)).toEqual([supervisor.get("a").pid]);
  });

  it("LC-5 does not delay the shutdown", async () => {
    const supervisor = await supervise({ a: fixture("echo"), b: fixture("echo") }, { drainMs: NEVER_MS });
    await supervisor.startAll();
    const hanging = call(supervisor, "hang").catch((error: unknown) => error);
    const replaced = supervisor.replace(changed(fixture("echo")), { wanted });
    const removed = supervisor.remove("b");
    await supervisor.shutdownAll();
    await Promise.all([replaced, removed]);
    expect(await hanging).toMatchObject({ kind: "ServerNotRunning" });
    expect(processesWithTag(instance)).toEqual([]);
  });

  it("F38 a replacement that is replaced before it runs leaves the predecessor answering", async () => {
    const supervisor = await supervise({ a: fixture("echo") });
    await supervisor.startAll();
    const old = String(supervisor.get("a").pid);
    const slow = { ...fixture("hung"), timeouts: { startMs: NEVER_MS } };
    const first = supervisor.replace(changed(slow), { wanted });
    expect(await call(supervisor, "pid")).toBe(old);
    const second = supervisor.replace(changed(fixture("echo")), { wanted });
    expect(await call(supervisor, "pid")).toBe(old);
    await Promise.all([first, second]);
    expect(await call(supervisor, "pid")).toBe(String(supervisor.get("a").pid));
    expect(processesWithTag(instance)).toEqual([supervisor.get("a").pid]);
  });

  it("F38 if the old one holds a resource, the new one is started again after its end", async () => {
    const dir = await mkdtemp(join(tmpdir(), "plugboard-drain-"));
    const entry = fixture("exclusive", join(dir, "only-one"));
    const supervisor = await supervise({ a: entry });
    await supervisor.startAll();
    await supervisor.replace(changed(entry), { wanted });
    expect(supervisor.get("a").status.state).toBe("running");
    expect(await call(supervisor, "env", { name: "CHANGED" })).toBe("yes");
    await supervisor.shutdownAll();
    await rm(dir, { recursive: true });
  });

  it("LC-3 is stopped also if the new one does not start, and the status has the reason", async () => {
    const supervisor = await supervise({ a: fixture("echo") });
    await supervisor.startAll();
    await supervisor.replace(normalizeServer("a", { command: "/no/such/program" }), { wanted });
    expect(supervisor.get("a").status).toMatchObject({ state: "error", error: { kind: "PackageNotFound" } });
    expect(supervisor.listings().size).toBe(0);
    expect(processesWithTag(instance)).toEqual([]);
  });

  it("LC-8 answers no calls after it was disabled", async () => {
    const supervisor = await supervise({ a: fixture("echo") });
    await supervisor.startAll();
    const replaced = supervisor.replace(normalizeServer("a", { ...fixture("echo"), enabled: false }), {
      wanted: () => false,
    });
    await expect(call(supervisor, "echo")).rejects.toMatchObject({ detail: 'Server "a" is disabled' });
    await replaced;
    expect(processesWithTag(instance)).toEqual([]);
  });

  it("GR-7 passes its log level on", async () => {
    const supervisor = await supervise({ a: fixture("echo") });
    await supervisor.startAll();
    await supervisor.get("a").setLogLevel("warning");
    await supervisor.replace(changed(fixture("echo")), { wanted });
    expect(await call(supervisor, "heard")).toContain("logging/setLevel");
  });
});

const exitingWith = (script: string) => ({ command: "node", args: ["-e", script] });

describe("a test of a config", () => {
  it("LC-9 starts a disabled config too, touches no configured server, and leaves nothing running", async () => {
    const supervisor = await supervise({ a: fixture("echo") });
    const config = normalizeServer("a", { ...fixture("paged"), enabled: false });
    expect(await supervisor.test(config)).toMatchObject({ success: true, message: "Connected: 3 tools" });
    expect(supervisor.get("a").status).toEqual({ state: "stopped" });
    expect(processesWithTag(instance)).toEqual([]);
  });

  it.each([
    [{ command: "/no/such/program" }, "NOT_FOUND", "Package not found"],
    [{ ...fixture("echo"), env: { X: "${NOT_SET}" } }, "VALIDATION_ERROR", "Missing required credentials"],
    [{ ...fixture("hung"), timeouts: { startMs: 200 } }, "NETWORK_ERROR", "Handshake timed out"],
    [fixture("exit-at-start"), "SERVICE_UNAVAILABLE", "The server exited with code 3 before the handshake"],
    // Independent of whether the end of its output or of the process is seen first.
    [exitingWith("process.exit(7)"), "SERVICE_UNAVAILABLE", "The server exited with code 7 before the handshake"],
    [
      exitingWith("fs.closeSync(1); setTimeout(() => process.exit(7), 100)"),
      "SERVICE_UNAVAILABLE",
      "The server exited with code 7 before the handshake",
    ],
    [{ url: "http://127.0.0.1:1/mcp" }, "NETWORK_ERROR", "The server cannot be reached"],
  ])("LC-9 LC-3 of %j fails with %s", async (entry, code, message) => {
    const supervisor = await supervise({});
    expect(await supervisor.test(normalizeServer("new", entry))).toMatchObject({
      success: false,
      message,
      tools: [],
      resources: [],
      latency_ms: expect.any(Number),
      error: { code, message },
    });
  });
});
