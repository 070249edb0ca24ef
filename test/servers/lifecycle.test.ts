// The life cycle of managed servers, inside one hub: start, stop, every failure of a start, and a status that always matches the
// process. Processes are real.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, type TestContext } from "vitest";
import { hubPaths } from "../../hub/src/config/files/paths.ts";
import { normalizeServer } from "../../hub/src/config/parse/normalize.ts";
import type { HubError } from "../../hub/src/errors.ts";
import { FileSecrets } from "../../hub/src/secrets/file-store.ts";
import type { ManagedServer } from "../../hub/src/servers/server.ts";
import { failing, fixture, type Servers } from "../support/hub.ts";
import { callText, callTool, openInProcess, untilState, type InProcess } from "../support/in-process.ts";
import { commandLine, isRunning, processesWithMark } from "../support/processes.ts";

const opened: InProcess[] = [];

async function open(...args: Parameters<typeof openInProcess>): Promise<InProcess> {
  const inProcess = await openInProcess(...args);
  opened.push(inProcess);
  return inProcess;
}

/** A hub with one server of that name. */
async function openWith(entry: Servers[string], variables = {}): Promise<InProcess & { server: ManagedServer }> {
  const inProcess = await open({ it: entry }, { variables });
  return { ...inProcess, server: inProcess.hub.supervisor.get("it") };
}

afterEach(async () => {
  for (const { end } of opened.splice(0)) expect(await end()).toEqual([]);
});

const failure = (start: Promise<void>): Promise<HubError> =>
  start.then(
    () => Promise.reject(new Error("It started")),
    (error: HubError) => error,
  );

describe("start and stop", () => {
  it("MC-T1 start spawns the configured command with its arguments", async () => {
    const { server } = await openWith(fixture("echo"));
    expect(server.pid).toBeUndefined();
    await server.start();
    expect(commandLine(server.pid ?? 0)).toContain("fixtures/servers/echo.mjs");
  });

  it("MC-T2 LC-4 stop ends the process", async () => {
    const { server, home } = await openWith(fixture("echo"));
    await server.start();
    const pid = server.pid ?? 0;
    await server.stop();
    expect(isRunning(pid)).toBe(false);
    expect(processesWithMark(home.mark)).toEqual([]);
    expect(server.status).toEqual({ state: "stopped" });
  });

  it("MC-T3 tools, prompts, resources and templates are known after the start", async () => {
    const { server } = await openWith(fixture("echo"));
    await server.start();
    expect(server.status).toMatchObject({ state: "running", tools: expect.arrayContaining(["echo", "add"]) });
    expect(server.listing).toMatchObject({
      prompts: [{ name: "greet" }],
      resources: [{ uri: "test://static" }],
      templates: [{ uriTemplate: "test://items/{id}" }],
    });
  });

  it("MC-T4 a tool call returns the tool's result", async () => {
    const { hub } = await openWith(fixture("echo"));
    await hub.start();
    expect(await callText(hub, "it", "add", { a: 2, b: 3 })).toBe("5");
  });

  it("MC-T5 LC-7 failing servers do not prevent others from starting", async () => {
    const { hub } = await open({
      missing: { command: "/no/such/command" },
      ends: failing(),
      silent: { ...fixture("hung"), timeouts: { startMs: 500 } },
      works: fixture("echo"),
    });
    await hub.start();
    expect(hub.supervisor.servers.map(({ status }) => status.state)).toEqual(["error", "error", "error", "running"]);
    expect(await callText(hub, "works", "echo", { text: "hi" })).toBe("hi");
  });

  it("MC-T6 SE-2 a server gets the variables of its config and not the hub's own", async () => {
    const entry = { ...fixture("echo"), env: { GREETING: "hello ${WHO}", COLOUR: { value: "blue" } } };
    const { hub } = await openWith(entry, { WHO: "world", HUB_MASTER_SECRET: "never" });
    await hub.start();
    const env = JSON.parse(await callText(hub, "it", "environment"));
    expect(env).toMatchObject({ GREETING: "hello world", COLOUR: "blue" });
    expect(env).not.toHaveProperty("HUB_MASTER_SECRET");
    expect(env).not.toHaveProperty("WHO");
  });

  it("MC-T7 CF-6 secrets come from the store at start, and stay out of the config", async () => {
    const { hub, home } = await openWith({ ...fixture("echo"), env: { API_KEY: { secretRef: "service" } } });
    const paths = hubPaths({ env: home.env, platform: process.platform, home: home.dir });
    await new FileSecrets(paths.data).set("service", "s3cret-value");
    await hub.start();
    expect(await callText(hub, "it", "env", { name: "API_KEY" })).toBe("s3cret-value");
    expect(await readFile(join(paths.config, "mcp_server.json"), "utf8")).not.toContain("s3cret-value");
  });

  it("LC-9 a test lists what a server offers, saves nothing and leaves nothing running", async () => {
    const { hub, home } = await open({ other: fixture("echo") });
    const before = await readFile(join(home.dir, "config/mcp_server.json"), "utf8");
    const [name = "", value = ""] = home.mark.split("=");
    const tried = await hub.supervisor.test(normalizeServer("new", { ...fixture("echo"), env: { [name]: value } }));
    expect(tried).toMatchObject({
      success: true,
      tools: expect.arrayContaining([expect.objectContaining({ name: "echo" })]),
      resources: [{ uri: "test://static" }],
      latency_ms: expect.any(Number),
    });
    expect(tried).not.toHaveProperty("error");
    expect(processesWithMark(home.mark)).toEqual([]);
    expect(await readFile(join(home.dir, "config/mcp_server.json"), "utf8")).toBe(before);
    expect(hub.supervisor.servers.map((server) => server.name)).toEqual(["other"]);
  });

  it("LC-9 a failed test has the reason and leaves nothing running", async () => {
    const { hub, home } = await open({});
    const [name = "", value = ""] = home.mark.split("=");
    const entry = { ...fixture("hung"), env: { [name]: value }, timeouts: { startMs: 300 } };
    expect(await hub.supervisor.test(normalizeServer("new", entry))).toMatchObject({
      success: false,
      message: "Handshake timed out",
      tools: [],
      resources: [],
      error: { code: "NETWORK_ERROR", kind: "Timeout" },
    });
    expect(processesWithMark(home.mark)).toEqual([]);
  });
});

describe("isolation of secrets and sessions", () => {
  it("MC-NT1 CF-4 a disabled server does not start, and stays disabled", async () => {
    const { server, hub, home, statuses } = await openWith({ ...fixture("echo"), enabled: false });
    await expect(server.start()).rejects.toMatchObject({ code: "CONFLICT", kind: "ServerDisabled" });
    await hub.start();
    expect(server.status).toEqual({ state: "disabled" });
    expect(statuses("it")).toEqual([]);
    expect(processesWithMark(home.mark)).toEqual([]);
  });

  it("MC-NT2 a call to an unknown server is NOT_FOUND and runs nothing", async () => {
    const { hub } = await openWith(fixture("echo"));
    await hub.start();
    await expect(callTool(hub, "nobody", "echo", { text: "x" })).rejects.toMatchObject({
      code: "NOT_FOUND",
      kind: "ServerNotFound",
    });
    expect(JSON.parse(await callText(hub, "it", "heard"))).toSatisfy(
      (heard: unknown[]) => heard.filter((method) => method === "tools/call").length === 1,
    );
  });

  it.each([
    ["no name", { command: "node" }],
    ["a blank name", { name: "  ", command: "node" }],
  ])("MC-NT3 CF-8 a server with %s is not saved", async (_, entry) => {
    const { hub, home } = await open({ old: fixture("echo") });
    const path = join(home.dir, "config/mcp_server.json");
    const before = await readFile(path, "utf8");
    await expect(hub.configuration.createServer(entry)).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: "Name is required",
      field: "name",
    });
    expect(await readFile(path, "utf8")).toBe(before);
    expect(hub.supervisor.servers.map(({ name }) => name)).toEqual(["old"]);
  });

  it("CF-7 a second server of the same name is a CONFLICT and not saved", async () => {
    const { hub, home } = await open({ old: fixture("echo") });
    const path = join(home.dir, "config/mcp_server.json");
    const before = await readFile(path, "utf8");
    await expect(hub.configuration.createServer({ name: "old", command: "node" })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    expect(await readFile(path, "utf8")).toBe(before);
  });
});

describe("status", () => {
  it("LC-1 LC-2 a start goes through its stages in order", async () => {
    const { server, hub, statuses } = await openWith(fixture("echo"));
    await hub.start();
    await server.stop();
    const seen = statuses("it").map((status) => (status.state === "starting" ? status.stage : status.state));
    expect(seen).toEqual(["resolving", "launching", "handshake", "listing", "running", "stopped"]);
  });

  it("LC-1 LC-2 there is a process from the handshake on, and none before", async () => {
    const { hub, home } = await openWith(fixture("echo"));
    const processes: [stage: string, count: number][] = [];
    hub.events.on("server.status", ({ status }) => {
      const stage = status.state === "starting" ? status.stage : status.state;
      processes.push([stage, processesWithMark(home.mark).length]);
    });
    await hub.start();
    await hub.stop();
    expect(processes).toEqual([
      ["resolving", 0],
      ["launching", 0],
      ["handshake", 1],
      ["listing", 1],
      ["running", 1],
      ["stopped", 0],
    ]);
  });

  it.each([
    ["SIGKILL", "was ended by SIGKILL"],
    ["SIGSEGV", "was ended by SIGSEGV"],
    ["SIGTERM", "was ended by SIGTERM"],
  ] as const)("MC-T9 LC-6 F02 a process ended by %s is an error, and starts again", async (signal, how) => {
    const { server, hub } = await openWith(fixture("echo"));
    await server.start();
    const { pid = 0 } = server;
    process.kill(pid, signal);
    expect(await untilState(hub, "it", "error")).toMatchObject({
      error: { code: "SERVICE_UNAVAILABLE", message: `The server ${how}` },
    });
    expect(server.pid).toBeUndefined();
    expect(hub.catalog.group().tools).toEqual([]);
    await server.start();
    expect(server.status.state).toBe("running");
    expect(server.pid).not.toBe(pid);
    expect(await callText(hub, "it", "echo", { text: "back" })).toBe("back");
  });
});

describe("concurrent starts and stops", () => {
  /** How often the fixture has started. */
  const starts = async (file: string) => (await readFile(file, "utf8")).split("\n").length - 1;

  it("LC-2 ten starts at once are one start", async () => {
    const { server, home } = await openWith(fixture("echo"));
    await Promise.all(Array.from({ length: 10 }, () => server.start()));
    expect(processesWithMark(home.mark)).toHaveLength(1);
    await server.start();
    expect(processesWithMark(home.mark)).toEqual([server.pid]);
  });

  it("LC-2 ten starts at once that fail are one failure for all", async () => {
    const { server, home } = await openWith(fixture("echo"));
    const file = join(home.dir, "starts");
    await writeFile(file, "");
    const { server: quitter } = await openWith({ ...fixture("exits-on-probe", file), timeouts: { startMs: 20_000 } });
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => quitter.start()));
    expect(outcomes.every(({ status }) => status === "fulfilled")).toBe(true);
    expect(await starts(file)).toBe(2);
    expect(server.status.state).toBe("stopped");
  });

  it("LC-4 a stop during the start kills what has been started", async () => {
    const { server, hub, home } = await openWith(fixture("hung"));
    const start = failure(server.start());
    await untilState(hub, "it", "starting");
    await server.stop();
    expect(await start).toMatchObject({ kind: "Cancelled" });
    expect(processesWithMark(home.mark)).toEqual([]);
    expect(server.status).toEqual({ state: "stopped" });
  });

  it("LC-1 start, stop, start without waiting ends with one running server", async () => {
    const { server, home } = await openWith(fixture("echo"));
    const first = failure(server.start());
    const stopping = server.stop();
    const second = server.start();
    expect(await first).toMatchObject({ kind: "Cancelled" });
    await Promise.all([stopping, second]);
    expect(server.status.state).toBe("running");
    expect(processesWithMark(home.mark)).toEqual([server.pid]);
  });
});

// Concurrent: each test waits several seconds for SIGKILL.
describe.concurrent("a server that only SIGKILL ends", () => {
  /** Ends with its own test, because the tests are concurrent. */
  async function openFor({ onTestFinished }: TestContext, servers: Servers) {
    const inProcess = await openInProcess(servers);
    onTestFinished(async () => expect(await inProcess.end()).toEqual([]));
    return inProcess;
  }

  async function openStubborn(context: TestContext) {
    const inProcess = await openFor(context, { it: fixture("stubborn") });
    return { ...inProcess, server: inProcess.hub.supervisor.get("it") };
  }

  it("MC-T2 LC-4 stop ends a server that ignores the end of its stdin and SIGTERM", async (context) => {
    const { server, home } = await openStubborn(context);
    await server.start();
    await server.stop();
    expect(processesWithMark(home.mark)).toEqual([]);
    expect(server.status).toEqual({ state: "stopped" });
  });

  it("MC-T8 LC-5 shutdown stops all servers concurrently", async (context) => {
    const servers = { slow: fixture("stubborn"), a: fixture("echo"), b: fixture("echo") };
    const { hub, home } = await openFor(context, servers);
    await hub.start();
    const stopped: string[] = [];
    hub.events.on("server.status", ({ server, status }) => status.state === "stopped" && stopped.push(server));
    await hub.stop();
    expect(processesWithMark(home.mark)).toEqual([]);
    // The first server takes the longest; in a sequential shutdown it would have been the first to stop.
    expect(stopped.toSorted()).toEqual(["a", "b", "slow"]);
    expect(stopped.at(-1)).toBe("slow");
  });

  it("LC-1 LC-4 a server that is being stopped takes no calls, and a second stop waits for its process too", async (context) => {
    const { server, hub, home } = await openStubborn(context);
    await server.start();
    const first = server.stop();
    await expect(callTool(hub, "it", "echo", { text: "x" })).rejects.toMatchObject({
      kind: "ServerNotRunning",
      message: "Server unavailable",
      detail: 'Server "it" is being stopped',
    });
    await server.stop();
    expect(processesWithMark(home.mark)).toEqual([]);
    expect(server.status).toEqual({ state: "stopped" });
    await first;
  });

  it("LC-1 a start during a stop waits for it, and the server runs", async (context) => {
    const { server, home } = await openStubborn(context);
    await server.start();
    const { pid } = server;
    const stopping = server.stop();
    await server.start();
    await stopping;
    expect(server.status.state).toBe("running");
    expect(processesWithMark(home.mark)).toEqual([server.pid]);
    expect(server.pid).not.toBe(pid);
  });
});

describe("starts that fail", () => {
  it("LC-3 F17 a missing command is «Package not found», and names the command", async () => {
    const { server } = await openWith({ command: "no-such-command-anywhere" });
    const error = await failure(server.start());
    expect(error).toMatchObject({ code: "NOT_FOUND", kind: "PackageNotFound", message: "Package not found" });
    expect(error.detail).toContain("no-such-command-anywhere");
    expect(server.status).toMatchObject({ state: "error", error: error.toJSON() });
  });

  it.each([
    ["a variable that is not set", { TOKEN: "${NOT_SET_ANYWHERE}" }, "NOT_SET_ANYWHERE"],
    ["a secret that is not stored", { TOKEN: { secretRef: "absent", required: true } }, "absent"],
    ["a required value that is empty", { TOKEN: { value: "${EMPTY}", required: true } }, "TOKEN"],
  ])("LC-3 CF-5 CF-6 %s is «Missing required credentials», and nothing is started", async (_, env, named) => {
    const { server, home, statuses } = await openWith({ ...fixture("echo"), env }, { EMPTY: "" });
    const error = await failure(server.start());
    expect(error).toMatchObject({ code: "VALIDATION_ERROR", message: "Missing required credentials" });
    expect(`${error.field} ${error.detail}`).toContain(named);
    expect(statuses("it").map(({ state }) => state)).toEqual(["starting", "error"]);
    expect(processesWithMark(home.mark)).toEqual([]);
  });

  it("LC-3 F15 a server that never answers is «Handshake timed out», with its stderr", async () => {
    const { server, home } = await openWith({ ...fixture("hung"), timeouts: { startMs: 1000 } });
    const error = await failure(server.start());
    expect(error).toMatchObject({ code: "NETWORK_ERROR", kind: "Timeout", message: "Handshake timed out" });
    expect(error.detail).toBe("waiting for a database that is not there");
    expect(processesWithMark(home.mark)).toEqual([]);
  });

  it("LC-3 F14 a server that exits before the handshake is SERVICE_UNAVAILABLE, with its exit code and stderr", async () => {
    const { server } = await openWith(failing());
    const error = await failure(server.start());
    expect(error).toMatchObject({ code: "SERVICE_UNAVAILABLE", kind: "ProcessSpawnFailed" });
    expect(error.message).toBe("The server exited with code 3 before the handshake");
    expect(error.detail).toBe("fatal: no configuration found");
    expect(server.status).toMatchObject({ state: "error", error: error.toJSON() });
  });

  it("LC-3 F17 the error names a file that is not executable and a missing folder", async () => {
    const { hub, home } = await open({
      plain: { command: join(import.meta.dirname, "lifecycle.test.ts") },
      lost: { ...fixture("echo"), cwd: "/no/such/folder" },
    });
    await hub.start();
    expect(hub.supervisor.get("plain").status).toMatchObject({ error: { code: "VALIDATION_ERROR", field: "command" } });
    expect(hub.supervisor.get("lost").status).toMatchObject({ error: { code: "VALIDATION_ERROR", field: "cwd" } });
    expect(processesWithMark(home.mark)).toEqual([]);
  });

  it("LC-3 a failed server can be started again after the cause is fixed", async () => {
    const { hub, home } = await open({ it: { command: "PLACEHOLDER" } });
    const script = join(home.dir, "later");
    const { hub: second } = await open({ it: { command: script, args: fixture("echo").args } });
    const server = second.supervisor.get("it");
    await expect(server.start()).rejects.toMatchObject({ kind: "PackageNotFound" });
    await writeFile(script, `#!/bin/sh\nexec ${process.execPath} "$@"\n`, { mode: 0o755 });
    await server.start();
    expect(server.status.state).toBe("running");
    expect(hub.supervisor.get("it").status.state).toBe("stopped");
  });

  it("SE-1 T12 a secret that a failing server prints is redacted", async () => {
    const env = { API_KEY: "sk-very-secret-0123456789" };
    const { server } = await openWith({ ...failing("API_KEY"), env });
    const error = await failure(server.start());
    expect(error.detail).toContain("fatal: no configuration found");
    expect(JSON.stringify([error.toJSON(), server.status])).not.toContain(env.API_KEY);
  });
});
