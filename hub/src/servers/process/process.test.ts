import { readdirSync, readlinkSync } from "node:fs";
import { chmod, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, onTestFinished } from "vitest";
import { isRunning, nextLine, processesWithTag, program, seesTags } from "../../../../test/support/processes.ts";
import type { HubError } from "../../errors.ts";
import { childEnvironment } from "./environment.ts";
import { Watchdog } from "./watchdog.ts";
import type { LaunchCommand } from "./command-line.ts";
import { launchCommand } from "./command-line.ts";
import { ServerProcess } from "./process.ts";
import type { Grace } from "./process.ts";

const instance = `test-${process.pid}`;
const watchdog = new Watchdog({ instance });
const QUICK = { stdin: 150, term: 150 };
let starts = 0;
const started: ServerProcess[] = [];

afterAll(() => watchdog.close());
// A failed test must not fail the next one.
afterEach(() => Promise.all(started.splice(0).map((server) => server.kill())));

function commandFor(command: string, args: string[], env: Record<string, string> = {}, cwd?: string): LaunchCommand {
  const transport = {
    type: "stdio",
    launcher: "binary",
    command,
    args,
    hardened: false,
    ...(cwd ? { cwd } : {}),
  } as const;
  const launch = launchCommand({ name: "t", transport, env, secrets: [] }, { instance, unique: String(++starts) });
  return { ...launch, env: childEnvironment(process.env, launch.env, { tag: instance, launcher: "binary" }) };
}

const node = (name: string, ...args: string[]) => commandFor(process.execPath, [program(name), ...args]);

async function spawn(command: LaunchCommand, graceMs?: Grace): Promise<ServerProcess> {
  const server = await ServerProcess.spawn(command, { watchdog, ...(graceMs ? { graceMs } : {}) });
  started.push(server);
  return server;
}

async function start(command: LaunchCommand, graceMs: Grace = QUICK): Promise<ServerProcess> {
  const server = await spawn(command, graceMs);
  await nextLine(server.stdout);
  return server;
}

async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "plugboard-test-")));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

function failure(command: LaunchCommand): Promise<HubError> {
  return ServerProcess.spawn(command, { watchdog }).then(
    () => Promise.reject(new Error("It started")),
    (error: HubError) => error,
  );
}

const left = () => (seesTags ? processesWithTag(instance) : []);

describe("a server process", () => {
  it("MC-T1 MC-T6 SE-2 gets its arguments, folder and environment, and nothing else of the hub's", async () => {
    const cwd = await temporaryFolder();
    const command = commandFor(process.execPath, [program("report.mjs"), "a b", "$(id)"], { API_KEY: "k" }, cwd);
    const server = await spawn(command);
    const report: unknown = JSON.parse(await nextLine(server.stdout));
    await server.stop();
    expect(report).toMatchObject({ args: ["a b", "$(id)"], cwd, env: { API_KEY: "k", PLUGBOARD_INSTANCE: instance } });
    expect(report).not.toHaveProperty("env.VITEST");
  });

  it.runIf(seesTags)("T10 inherits no open file of the hub, in particular not the watchdog's pipe", async () => {
    const server = await spawn(commandFor("cat", []));
    server.stdin.write("there\n");
    await nextLine(server.stdout);
    const folder = `/proc/${server.pid}/fd`;
    const others = readdirSync(folder).filter((handle) => Number(handle) > 2);
    // The test process may have inherited open files; pipes of Node are sockets.
    expect(others.filter((handle) => readlinkSync(`${folder}/${handle}`).startsWith("socket:"))).toEqual([]);
    await server.stop();
  });

  it("MC-T2 LC-4 ends by the end of stdin", async () => {
    const server = await start(node("leaf.mjs"), { stdin: 30_000, term: 0 });
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    expect(isRunning(server.pid)).toBe(false);
  });

  it("LC-4 SIGTERM ends a server that ignores the end of stdin", async () => {
    const server = await start(node("noeof.mjs"), { stdin: 50, term: 30_000 });
    expect(await server.stop()).toEqual({ code: null, signal: "SIGTERM" });
  });

  it("LC-4 F18 ends a stubborn server after 5 s", async () => {
    const server = await spawn(node("stubborn.mjs"));
    await nextLine(server.stdout);
    const began = performance.now();
    expect(await server.stop()).toEqual({ code: null, signal: "SIGKILL" });
    const took = performance.now() - began;
    expect(took).toBeGreaterThan(4_900);
    expect(took).toBeLessThan(15_000);
  });

  it.runIf(seesTags).each([
    ["a child in the background", () => commandFor("sh", [program("forking.sh")])],
    ["a stubborn child in the background", () => commandFor("sh", [program("forking.sh"), "stubborn.mjs"])],
    ["launcher, shell and server", () => node("tree.mjs", "leaf.mjs")],
    ["launcher, shell and a server deaf to EOF", () => node("tree.mjs", "noeof.mjs")],
    ["launcher, shell and a stubborn server", () => node("tree.mjs", "stubborn.mjs")],
    ["a helper in a session of its own", () => node("setsid.mjs")],
  ])("LC-4 F19 leaves nothing behind of %s", async (_what, command) => {
    const server = await start(command());
    expect(left().length).toBeGreaterThan(1);
    await server.stop();
    expect(left()).toEqual([]);
  });

  it("LC-4 the server behind a launcher has its grace, though the launcher exits at once", async () => {
    const server = await start(node("tree.mjs", "slow.mjs"), { stdin: 50, term: 30_000 });
    const lastWords = nextLine(server.stdout);
    expect(await server.stop()).toEqual({ code: null, signal: "SIGTERM" });
    expect(await lastWords).toBe("finished");
  });

  it("LC-4 kills the rest of a group after the grace, or at once on request", async () => {
    const server = await start(node("tree.mjs", "stubborn.mjs"), { stdin: 50, term: 30_000 });
    void server.stop();
    await expect.poll(() => isRunning(server.pid)).toBe(false);
    expect(await server.kill()).toEqual({ code: null, signal: "SIGTERM" });
    expect(left()).toEqual([]);
  });

  it.runIf(seesTags)("LC-4 stops one server and not its neighbour, though both carry the hub's tag", async () => {
    const neighbour = await start(node("setsid.mjs"));
    const server = await start(node("setsid.mjs"));
    await server.stop();
    expect(left().length).toBe(2);
    await neighbour.stop();
    expect(left()).toEqual([]);
  });

  it.runIf(seesTags)("LC-1 a crash ends its helpers too", async () => {
    const server = await start(node("tree.mjs", "stubborn.mjs"));
    process.kill(server.pid, "SIGKILL");
    expect(await server.exited).toEqual({ code: null, signal: "SIGKILL" });
    expect(left()).toEqual([]);
  });

  it("LC-2 is killed at once when its start is cancelled, even during a stop", async () => {
    const server = await start(node("stubborn.mjs"), { stdin: 30_000, term: 30_000 });
    const stopping = server.stop();
    expect(server.stop()).toBe(stopping);
    expect(await server.kill()).toEqual({ code: null, signal: "SIGKILL" });
    expect(await stopping).toEqual({ code: null, signal: "SIGKILL" });
    expect(await server.stop()).toEqual(await server.exited);
  });

  it("LC-7 survives writing to a server that is gone", async () => {
    const server = await start(node("leaf.mjs"));
    process.kill(server.pid, "SIGKILL");
    for (let line = 0; line < 100; line++) server.stdin.write("x".repeat(10_000));
    await server.exited;
    server.stdin.write("late");
    expect(await server.stop()).toEqual({ code: null, signal: "SIGKILL" });
  });

  it("LC-3 T25 drains a flood of stderr and keeps the last lines", async () => {
    const script = `const line = "x".repeat(65535) + "\\n";
      for (let n = 0; n < 1024; n++) require("fs").writeSync(2, line);
      require("fs").writeSync(2, "the reason\\nlast words"); process.exit(7)`;
    const server = await spawn(commandFor(process.execPath, ["-e", script]));
    expect(await server.exited).toEqual({ code: 7, signal: null });
    expect(server.stderr.tail(2)).toBe("the reason\nlast words");
    expect(server.stderr.sizeBytes).toBe(256 * 1024);
  });
});

describe("a process that cannot be spawned", () => {
  it("LC-3 F17 a missing command is Package not found", async () => {
    expect((await failure(commandFor("no-such-command-x1", []))).toJSON()).toMatchObject({
      code: "NOT_FOUND",
      kind: "PackageNotFound",
      message: "Package not found",
      detail: "The command no-such-command-x1 was not found",
    });
  });

  it("LC-3 a missing folder is distinguished from a missing command", async () => {
    const error = await failure(commandFor(process.execPath, [], {}, "/no/such/folder"));
    expect(error.toJSON()).toMatchObject({ kind: "InvalidConfig", field: "cwd" });
    const file = await failure(commandFor(process.execPath, [], {}, program("leaf.mjs")));
    expect(file.toJSON()).toMatchObject({ kind: "InvalidConfig", field: "cwd" });
  });

  it("LC-3 F17 a file that is not executable is an error of the config", async () => {
    const path = join(await temporaryFolder(), "server");
    await writeFile(path, "#!/bin/sh\n");
    await chmod(path, 0o644);
    expect((await failure(commandFor(path, []))).toJSON()).toMatchObject({ kind: "InvalidConfig", field: "command" });
  });

  it("T08 a NUL in an argument is refused, and too long an argument is no crash", async () => {
    expect((await failure(commandFor("echo", ["a\0b"]))).kind).toBe("InvalidConfig");
    expect((await failure(commandFor("echo", ["x".repeat(3_000_000)]))).kind).toBe("ProcessSpawnFailed");
  });
});
