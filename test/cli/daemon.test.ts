// The hub in the background: start, stop, restart, failed starts, and the record by which commands find it.

import { createServer } from "node:net";
import { chmod, mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { BROKEN, ECHO, serverFile } from "../support/cli.ts";
import { hubsOf, openDaemonHome, recordOf, startDaemon, writeRecord } from "../support/daemon.ts";
import { fixture, launch, plugboard, startHub, type Servers } from "../support/hub.ts";
import { processesWithMark, untilNoneWithMark } from "../support/processes.ts";
import { freePort, listen } from "../support/sockets.ts";
import { noTerminal, onTerminal, visible } from "../support/terminal.ts";

const open = (servers: Servers = ECHO) => openDaemonHome({ onTestFinished }, servers);

describe("start and stop", () => {
  it("start waits until the servers are running, and stop until every process has ended", async () => {
    const home = await open();
    const { code, stdout } = await startDaemon(home);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Started the hub: http:\/\/127\.0\.0\.1:\d+\/mcp \(pid \d+, log .*hub\.log\)\nUI  http:\/\/127\.0\.0\.1:\d+\/ui\/#k=[\w-]{43}\n$/,
    );
    expect(processesWithMark(home.mark)).toHaveLength(1);

    const record = await recordOf(home);
    expect(record).toEqual({
      pid: expect.any(Number),
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      config: join(home.dir, "config"),
      started_at: expect.stringMatching(/^\d{4}-.*Z$/),
      listen: { host: "127.0.0.1", port: Number(new URL(record.url).port) },
    });
    for (const name of ["hub.json", "hub.log"]) {
      expect(((await stat(join(home.dir, "state", name))).mode & 0o777).toString(8)).toBe("600");
    }
    expect(await plugboard(home, ["call", "it.add", "a=2", "b=3"])).toMatchObject({ code: 0, stdout: "5\n" });
    // The hub's own server answered: no other was started.
    expect(processesWithMark(home.mark)).toHaveLength(1);

    const stopped = await plugboard(home, ["stop"]);
    expect(stopped).toMatchObject({ code: 0, stdout: `Stopped the hub (pid ${record.pid})\n` });
    expect(processesWithMark(home.mark)).toEqual([]);
    expect(hubsOf(home)).not.toContain(record.pid);
    await expect(recordOf(home)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("--json prints the record of the hub", async () => {
    const home = await open();
    const started = JSON.parse((await startDaemon(home, "--json")).stdout);
    expect(started).toMatchObject({ pid: expect.any(Number), already_running: false, mcp_url: `${started.url}/mcp` });
    expect(JSON.parse((await startDaemon(home, "--json")).stdout)).toMatchObject({
      pid: started.pid,
      already_running: true,
    });
    expect(JSON.parse((await plugboard(home, ["stop", "--json"])).stdout)).toMatchObject({
      stopped: true,
      pid: started.pid,
    });
    expect(JSON.parse((await plugboard(home, ["stop", "--json"])).stdout)).toEqual({ stopped: false });
  });

  it("repeated and concurrent starts run a single hub", async () => {
    const home = await open();
    const port = String(await freePort());
    const all = await Promise.all([1, 2, 3].map(() => plugboard(home, ["start", "--port", port, "--json"])));
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(new Set(all.map(({ stdout }) => JSON.parse(stdout).pid)).size).toBe(1);
    expect(await plugboard(home, ["start"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^The hub is already running: /),
    });
    expect(processesWithMark(home.mark)).toHaveLength(1);
  });

  it("stop without a hub succeeds", async () => {
    expect(await plugboard(await open(), ["stop"])).toMatchObject({ code: 0, stdout: "No hub is running\n" });
  });

  it("restart runs a new process at the same address", async () => {
    const home = await open();
    await startDaemon(home);
    const before = await recordOf(home);
    expect(await plugboard(home, ["restart"])).toMatchObject({ code: 0 });
    const after = await recordOf(home);
    expect(after.url).toBe(before.url);
    expect(after.pid).not.toBe(before.pid);
    expect(hubsOf(home)).not.toContain(before.pid);
    expect(processesWithMark(home.mark)).toHaveLength(1);
  });

  it("restart without a hub starts one", async () => {
    const home = await open();
    expect(await plugboard(home, ["restart", "--port", "0"])).toMatchObject({ code: 0 });
    expect((await plugboard(home, ["status", "--check"])).code).toBe(0);
  });

  it("a hub in the foreground is found and stopped, and its record is removed", async () => {
    const home = await open();
    const hub = await startHub(home);
    expect((await recordOf(home)).pid).toBe(hub.process.pid);
    expect(await plugboard(home, ["stop"])).toMatchObject({ code: 0 });
    expect(await hub.stop()).toBe(0);
    await expect(recordOf(home)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("a second hub for the same config fails and keeps the record of the first", async () => {
    const home = await open();
    const first = await startHub(home);
    const second = await startHub(home);
    expect(second.stderr()).toContain(`another hub is running for this config (${first.url})`);
    expect((await recordOf(home)).url).toBe(first.url);
    await second.stop();
    expect((await recordOf(home)).url).toBe(first.url);
    await first.stop();
  });

  it("CF-3 hubs for two config folders run side by side, and each folder finds its own", async () => {
    const home = await open();
    const other = join(home.dir, "other");
    await mkdir(other);
    await writeFile(
      join(other, "mcp_server.json"),
      JSON.stringify({ mcpServers: { else: { ...fixture("echo"), enabled: false } } }),
    );
    expect((await startDaemon(home)).code).toBe(0);
    expect((await startDaemon(home, "--config", other)).code).toBe(0);
    expect((await plugboard(home, ["ls"])).stdout).toContain("it ");
    const listed = await plugboard(home, ["--config", other, "ls", "--json"]);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ name: "else", status: "disabled" }]);
    expect(await plugboard(home, ["stop", "--config", other])).toMatchObject({ code: 0 });
    expect((await plugboard(home, ["status", "--check"])).code).toBe(0);
  });
});

describe("a failed start prints the reason and leaves nothing behind", () => {
  it("exits 7 if the port is in use", async () => {
    const blocker = createServer();
    const port = String(await listen(blocker));
    const home = await open();
    const { code, stdout, stderr } = await plugboard(home, ["start", "--port", port]);
    blocker.close();
    expect({ code, stdout }).toEqual({ code: 7, stdout: "" });
    expect(stderr).toMatch(/^error: Port \d+ on 127\.0\.0\.1 is already in use\n {2}(?:fix|note): .*--port/);
    await untilNoneWithMark(`PLUGBOARD_HOME=${home.dir}`);
  });

  it("CF-8 exits 2 if the config cannot be parsed", async () => {
    const home = await open();
    await writeFile(serverFile(home), '{"mcpServers": {');
    const { code, stderr } = await startDaemon(home, "--json");
    expect(code).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringMatching(/mcp_server\.json is not valid JSON: .* at line 1, column \d+/),
    });
    await untilNoneWithMark(`PLUGBOARD_HOME=${home.dir}`);
  });

  it.each([
    ["--host", "0.0.0.0"],
    ["--port", "seven"],
  ])("SE-3 exits 2 for %s %s", async (...words) => {
    const home = await open();
    expect(await plugboard(home, ["start", ...words])).toMatchObject({ code: 2, stdout: "" });
    await untilNoneWithMark(`PLUGBOARD_HOME=${home.dir}`);
  });

  it("LC-7 a failed server is reported and does not fail the start", async () => {
    const home = await open({ ...ECHO, ...BROKEN });
    const { code, stderr } = await startDaemon(home);
    expect(code).toBe(0);
    expect(stderr).toMatch(/✖ broken +node +\d+\.\ds +The server exited with code 3/);
    expect(stderr).toContain("1 of 2 servers is not running: plugboard status");
    const status = await plugboard(home, ["status", "--check"]);
    expect(status.code).toBe(1);
    expect(status.stdout).toMatch(/✖ broken +The server exited with code 3.*fatal: no configuration found/);
  });

  it("exits 4 if the hub is killed while its servers start", async () => {
    const home = await open({ slow: fixture("slow-start", "60000") });
    const starting = startDaemon(home);
    await expect.poll(() => recordOf(home).catch(() => undefined)).toBeDefined();
    process.kill((await recordOf(home)).pid, "SIGKILL");
    const { code, stdout, stderr } = await starting;
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    // Either request of the command may be the first that fails.
    expect(stderr).toMatch(/^error: The hub (?:exited|at http)/m);
  });

  it("--no-wait does not wait for the servers", async () => {
    const home = await open({ slow: fixture("slow-start", "20000") });
    expect((await startDaemon(home, "--no-wait")).code).toBe(0);
    const { stdout } = await plugboard(home, ["ls", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject([{ name: "slow", status: "starting" }]);
  });

  it.skipIf(noTerminal !== undefined)(
    `LC-10 start shows the stage and the elapsed time of each server${noTerminal ?? ""}`,
    async () => {
      // Longer than the command needs to start, so that it sees the handshake.
      const home = await open({ slow: fixture("slow-start", "4000"), ...ECHO });
      const { code, screen: coloured } = await onTerminal(home, ["start", "--port", "0"]);
      const screen = stripVTControlCharacters(coloured);
      expect(code).toBe(0);
      expect(visible(screen)).toMatch(/… slow +node +\d+\.\ds +handshake/);
      expect(visible(screen)).toMatch(/✔ slow +node +\d+\.\ds +\d+ tools/);
      expect(screen).toMatch(/Started the hub: /);
    },
  );
});

describe("a stale or invalid hub record", () => {
  it("is ignored if its hub was killed", async () => {
    const home = await open();
    await startDaemon(home);
    const { pid } = await recordOf(home);
    process.kill(pid, "SIGKILL");
    await untilNoneWithMark(home.mark);
    expect(await plugboard(home, ["status"])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("No hub is running"),
    });
    expect(await plugboard(home, ["stop"])).toMatchObject({ code: 0, stdout: "No hub is running\n" });
    expect((await startDaemon(home)).code).toBe(0);
    expect((await recordOf(home)).pid).not.toBe(pid);
  });

  it("does not end another program that has reused the process id", async () => {
    const home = await open();
    await startDaemon(home);
    const record = await recordOf(home);
    await plugboard(home, ["stop"]);
    await writeRecord(home, { ...record, pid: process.pid });
    expect(await plugboard(home, ["stop"])).toMatchObject({ code: 0, stdout: "No hub is running\n" });
    expect((await plugboard(home, ["status"])).code).toBe(4);
    // Commands that need no hub work.
    expect((await plugboard(home, ["call", "it.echo", "text=x"])).stdout).toBe("x\n");
  });

  it("is rejected if other users can write it", async () => {
    const home = await open();
    await startDaemon(home);
    await chmod(join(home.dir, "state/hub.json"), 0o666);
    const { code, stderr } = await plugboard(home, ["status"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/open to other users.*\n.*fix: +chmod 600/);
    await chmod(join(home.dir, "state/hub.json"), 0o600);
  });

  it.each(["", "{", "[]", '{"pid": "1"}', '{"pid": -1, "url": "x", "config": "y", "started_at": "z"}'])(
    "is ignored if it contains %j",
    async (text) => {
      const home = await open();
      await mkdir(join(home.dir, "state"));
      await writeFile(join(home.dir, "state/hub.json"), text, { mode: 0o600 });
      expect((await plugboard(home, ["status"])).code).toBe(4);
    },
  );
});

describe("an interrupted start", () => {
  it("leaves the hub that it started running", async () => {
    const home = await open({ slow: fixture("slow-start", "3000") });
    const { process: child, finished } = launch(home, ["start", "--port", "0"]);
    await expect.poll(() => recordOf(home).catch(() => undefined)).toBeDefined();
    child.kill("SIGINT");
    await finished;
    expect((await plugboard(home, ["status"])).code).toBe(0);
  });
});
