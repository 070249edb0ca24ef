import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  commandLine,
  isRunning,
  nextLine,
  processesWithTag,
  program,
  seesTags,
} from "../../../../test/support/processes.ts";
import { WATCHDOG_SCRIPT, Watchdog } from "./watchdog.ts";

let names = 0;
const newInstance = () => `guard-test-${process.pid}-${++names}`;

/** A process in its own group, started like process.ts does, and ready. */
async function member(name: string, env: Record<string, string> = {}): Promise<ChildProcess & { pid: number }> {
  const child = spawn(process.execPath, [program(name)], { detached: true, stdio: ["pipe", "pipe", "ignore"], env });
  await nextLine(child.stdout);
  return Object.assign(child, { pid: child.pid ?? 0 });
}

function end(child: ChildProcess): Promise<unknown> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  return exit;
}

function script(instance = newInstance(), [shell, ...options]: readonly [string, ...string[]] = ["/bin/sh"]) {
  return spawn(shell, [...options, "-c", WATCHDOG_SCRIPT, "plugboard-guard", `PLUGBOARD_INSTANCE=${instance}`], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
}

function ignoredSignals(pid: number): number {
  return Number.parseInt(/^SigIgn:\s+(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0", 16);
}

const guardsOf = (instance: string) =>
  readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .map(Number)
    .filter((pid) => commandLine(pid).includes(` plugboard-guard PLUGBOARD_INSTANCE=${instance} `));

// The shells behind /bin/sh: Debian, macOS, Alpine.
const SHELLS: { name: string; options: string[] }[] = [
  { name: "dash", options: [] },
  { name: "bash", options: ["--posix"] },
  { name: "busybox", options: ["sh"] },
];
const installed = SHELLS.filter(({ name }) => spawnSync(name, ["-c", ":"]).error === undefined);

describe("the watchdog's script", () => {
  it.each(installed)(
    "LC-5 in $name ends the listed groups when its pipe closes, and no other",
    async ({ name, options }) => {
      const [gentle, stubborn, other] = await Promise.all([
        member("noeof.mjs"),
        member("stubborn.mjs"),
        member("noeof.mjs"),
      ]);
      const guard = script(newInstance(), [name, ...options]);
      const exits = Promise.all([once(gentle, "exit"), once(stubborn, "exit"), once(guard, "exit")]);
      guard.stdin.end(`+ ${gentle.pid}\n+ ${other.pid}\n+ ${stubborn.pid}\n- ${other.pid}\n`);
      expect(await exits).toEqual([
        [null, "SIGTERM"],
        [null, "SIGKILL"],
        [0, null],
      ]);
      expect(isRunning(other.pid)).toBe(true);
      await end(other);
    },
  );

  it("exits without ending anything when it is closed", async () => {
    const server = await member("noeof.mjs");
    const guard = script();
    const exit = once(guard, "exit");
    guard.stdin.end(`+ ${server.pid}\n.\n`);
    expect(await exit).toEqual([0, null]);
    expect(isRunning(server.pid)).toBe(true);
    await end(server);
  });

  it.runIf(seesTags)("LC-5 finds processes outside the registered groups by their tag", async () => {
    const instance = newInstance();
    const [helper, other] = await Promise.all([
      member("stubborn.mjs", { PLUGBOARD_INSTANCE: instance }),
      member("noeof.mjs", { PLUGBOARD_INSTANCE: newInstance() }),
    ]);
    const exit = once(helper, "exit");
    script(instance).stdin.end();
    expect(await exit).toEqual([null, "SIGKILL"]);
    expect(isRunning(other.pid)).toBe(true);
    await end(other);
  });

  it.runIf(seesTags)("ignores SIGTERM, SIGINT and SIGHUP", async () => {
    const server = await member("noeof.mjs");
    const guard = script();
    guard.stdin.write(`+ ${server.pid}\n`);
    // Waits until the process ignores the signals: bits 15, 2 and 1.
    await expect.poll(() => ignoredSignals(guard.pid ?? 0) & 0x4003).toBe(0x4003);
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) guard.kill(signal);
    const exit = once(server, "exit");
    guard.stdin.end();
    expect(await exit).toEqual([null, "SIGTERM"]);
  });
});

describe.runIf(seesTags)("the watchdog", () => {
  it("is one process, without the tag in its environment, and exits when it is closed", async () => {
    const instance = newInstance();
    const guard = new Watchdog({ instance });
    expect(guardsOf(instance)).toEqual([]);
    guard.start();
    const server = await member("leaf.mjs");
    guard.register({ pgid: server.pid });
    await expect.poll(() => guardsOf(instance)).toHaveLength(1);
    expect(processesWithTag(instance)).toEqual([]);
    guard.unregister({ pgid: server.pid });
    guard.close();
    await expect.poll(() => guardsOf(instance)).toEqual([]);
    expect(isRunning(server.pid)).toBe(true);
    await end(server);
  });

  it("LC-5 is restarted when it dies, with all servers registered again", async () => {
    const instance = newInstance();
    const guard = new Watchdog({ instance });
    const [first, second] = await Promise.all([member("stubborn.mjs"), member("stubborn.mjs")]);
    guard.register({ pgid: first.pid });
    await expect.poll(() => guardsOf(instance)).toHaveLength(1);
    const [pid = 0] = guardsOf(instance);
    const exits = Promise.all([once(first, "exit"), once(second, "exit")]);
    process.kill(pid, "SIGKILL");
    // Sent to a watchdog that is dead, which the hub does not know yet.
    guard.register({ pgid: second.pid });
    await expect.poll(() => guardsOf(instance).filter((other) => other !== pid)).toHaveLength(1);
    guard.close();
    expect(await exits).toEqual([
      [null, "SIGKILL"],
      [null, "SIGKILL"],
    ]);
  });

  it("LC-5 removes registered containers with the settings of their client, whatever characters these contain", async () => {
    const folder = await mkdtemp(join(tmpdir(), "it's a client "));
    onTestFinished(() => rm(folder, { recursive: true }));
    const client = join(folder, "docker client");
    await writeFile(client, `#!/bin/sh\necho "$DOCKER_HOST $*" >>"$HOME/calls"\n`, { mode: 0o755 });
    const env = { HOME: folder, PATH: process.env["PATH"] ?? "", DOCKER_HOST: "unix:///it's; $(touch x) `id`/d.sock" };
    const server = await member("noeof.mjs");
    const gone = await member("leaf.mjs");
    const guard = new Watchdog({ instance: newInstance() });
    guard.register({ pgid: server.pid, container: { name: "kept", client: { command: client, env } } });
    guard.register({ pgid: gone.pid, container: { name: "gone", client: { command: client, env } } });
    guard.unregister({ pgid: gone.pid });
    guard.close();
    await once(server, "exit");
    const call = `${env.DOCKER_HOST} rm --force --volumes kept\n`;
    await expect.poll(() => readFile(join(folder, "calls"), "utf8")).toBe(call.repeat(3));
    expect(readdirSync(folder).toSorted()).toEqual(["calls", "docker client"]);
    await end(gone);
  });
});
