// The hub in the background: started once, waited for, found by every command, stopped without a trace. And what happens
// when it is not what the commands expect.

import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { createServer, type AddressInfo, type Server } from "node:net";
import { once } from "node:events";
import { chmod, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { failing, fixture, launch, makeHome, plugboard, startHub, type Home, type Servers } from "../support/hub.ts";
import { processesWithMark, untilNoneWithMark } from "../support/processes.ts";
import { noTerminal, onTerminal, visible } from "../support/terminal.ts";

const ECHO = { it: fixture("echo") };
const homes: Home[] = [];

async function home(servers: Servers | undefined = ECHO, groups?: unknown): Promise<Home> {
  const made = await makeHome(servers, groups);
  homes.push(made);
  return made;
}

/** Nothing of a test is left: neither servers nor hubs, which know their home. */
async function close(made: Home): Promise<void> {
  if (hubsOf(made).length > 0) await plugboard(made, ["stop", "-q"]);
  await untilNoneWithMark(made.mark, 5000);
  await untilNoneWithMark(`PLUGBOARD_HOME=${made.dir}`, 5000);
  await made.remove();
}

afterEach(async () => {
  for (const made of homes.splice(0)) await close(made);
});

const hubsOf = (made: Home) =>
  processesWithMark(`PLUGBOARD_HOME=${made.dir}`).filter((pid) => !processesWithMark(made.mark).includes(pid));
const recordOf = async (made: Home) => JSON.parse(await readFile(join(made.dir, "state/hub.json"), "utf8"));
const start = (made: Home, ...args: string[]) => plugboard(made, ["start", "--port", "0", ...args]);

describe("start and stop", () => {
  it("start waits until the servers are there, stop until nothing is", async () => {
    const made = await home();
    const { code, stdout } = await start(made);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Started the hub: http:\/\/127\.0\.0\.1:\d+\/mcp \(pid \d+, log .*hub\.log\)\n$/);
    expect(processesWithMark(made.mark)).toHaveLength(1);

    const record = await recordOf(made);
    expect(record).toEqual({
      pid: expect.any(Number),
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      config: join(made.dir, "config"),
      started_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    for (const name of ["hub.json", "hub.log"]) {
      expect(((await stat(join(made.dir, "state", name))).mode & 0o777).toString(8)).toBe("600");
    }
    expect(await plugboard(made, ["call", "it.add", "a=2", "b=3"])).toMatchObject({ code: 0, stdout: "5\n" });
    // The hub's own server answered: no other was started.
    expect(processesWithMark(made.mark)).toHaveLength(1);

    const stopped = await plugboard(made, ["stop"]);
    expect(stopped).toMatchObject({ code: 0, stdout: `Stopped the hub (pid ${record.pid})\n` });
    expect(processesWithMark(made.mark)).toEqual([]);
    expect(hubsOf(made)).not.toContain(record.pid);
    await expect(recordOf(made)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("--json gives the record", async () => {
    const made = await home();
    const started = JSON.parse((await start(made, "--json")).stdout);
    expect(started).toMatchObject({ pid: expect.any(Number), already_running: false, mcp_url: `${started.url}/mcp` });
    expect(JSON.parse((await start(made, "--json")).stdout)).toMatchObject({ pid: started.pid, already_running: true });
    expect(JSON.parse((await plugboard(made, ["stop", "--json"])).stdout)).toMatchObject({
      stopped: true,
      pid: started.pid,
    });
    expect(JSON.parse((await plugboard(made, ["stop", "--json"])).stdout)).toEqual({ stopped: false });
  });

  it("there is one hub, however often and however many start it at once", async () => {
    const made = await home();
    const port = await freePort();
    const all = await Promise.all([1, 2, 3].map(() => plugboard(made, ["start", "--port", port, "--json"])));
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(new Set(all.map(({ stdout }) => JSON.parse(stdout).pid)).size).toBe(1);
    expect(await plugboard(made, ["start"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^The hub runs already: /),
    });
    expect(processesWithMark(made.mark)).toHaveLength(1);
  });

  it("stop without a hub is no error", async () => {
    expect(await plugboard(await home(), ["stop"])).toMatchObject({ code: 0, stdout: "No hub is running\n" });
  });

  it("restart gives another process at the same address", async () => {
    const made = await home();
    await start(made);
    const before = await recordOf(made);
    expect(await plugboard(made, ["restart"])).toMatchObject({ code: 0 });
    const after = await recordOf(made);
    expect(after.url).toBe(before.url);
    expect(after.pid).not.toBe(before.pid);
    expect(hubsOf(made)).not.toContain(before.pid);
    expect(processesWithMark(made.mark)).toHaveLength(1);
  });

  it("restart without a hub starts one", async () => {
    const made = await home();
    expect(await plugboard(made, ["restart", "--port", "0"])).toMatchObject({ code: 0 });
    expect((await plugboard(made, ["status", "--check"])).code).toBe(0);
  });

  it("a hub in the foreground is found and stopped too, and leaves no record", async () => {
    const made = await home();
    const hub = await startHub(made);
    expect((await recordOf(made)).pid).toBe(hub.process.pid);
    expect(await plugboard(made, ["stop"])).toMatchObject({ code: 0 });
    expect(await hub.stop()).toBe(0);
    await expect(recordOf(made)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("a second hub for the same config says so, and leaves the first one's record alone", async () => {
    const made = await home();
    const first = await startHub(made);
    const second = await startHub(made);
    expect(second.stderr()).toContain(`another hub runs for this config (${first.url})`);
    expect((await recordOf(made)).url).toBe(first.url);
    await second.stop();
    expect((await recordOf(made)).url).toBe(first.url);
    await first.stop();
  });

  it("CF-3 hubs for two config folders run side by side, each found by its own", async () => {
    const made = await home();
    const other = join(made.dir, "other");
    await mkdir(other);
    await writeFile(
      join(other, "mcp_server.json"),
      JSON.stringify({ mcpServers: { else: { ...fixture("echo"), enabled: false } } }),
    );
    expect((await start(made)).code).toBe(0);
    expect((await start(made, "--config", other)).code).toBe(0);
    expect((await plugboard(made, ["ls"])).stdout).toContain("it ");
    const listed = await plugboard(made, ["--config", other, "ls", "--json"]);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ name: "else", status: "disabled" }]);
    expect(await plugboard(made, ["stop", "--config", other])).toMatchObject({ code: 0 });
    expect((await plugboard(made, ["status", "--check"])).code).toBe(0);
  });
});

describe("a start that fails shows why, and leaves nothing", () => {
  it("4: the port is in use", async () => {
    const blocker = createServer().listen(0, "127.0.0.1");
    await once(blocker, "listening");
    const made = await home();
    const { code, stdout, stderr } = await plugboard(made, ["start", "--port", String(portOf(blocker))]);
    blocker.close();
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toMatch(/^error: Port \d+ on 127\.0\.0\.1 is already in use\n {2}(?:fix|note): .*--port/);
    await untilNoneWithMark(`PLUGBOARD_HOME=${made.dir}`, 2000);
  });

  it("2: CF-8 the config cannot be parsed", async () => {
    const made = await home(undefined);
    await writeFile(join(made.dir, "config/mcp_server.json"), '{"mcpServers": {');
    const { code, stderr } = await start(made, "--json");
    expect(code).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({
      code: "VALIDATION_ERROR",
      message: expect.stringMatching(/mcp_server\.json is not valid JSON: .* at line 1, column \d+/),
    });
    await untilNoneWithMark(`PLUGBOARD_HOME=${made.dir}`, 2000);
  });

  it.each([
    ["--host", "0.0.0.0"],
    ["--port", "seven"],
  ])("2: SE-3 %s %s", async (...words) => {
    const made = await home();
    expect(await plugboard(made, ["start", ...words])).toMatchObject({ code: 2, stdout: "" });
    await untilNoneWithMark(`PLUGBOARD_HOME=${made.dir}`, 2000);
  });

  it("LC-7 a server that fails is no failure of the start, but is told", async () => {
    const made = await home({ ...ECHO, broken: failing() });
    const { code, stderr } = await start(made);
    expect(code).toBe(0);
    expect(stderr).toMatch(/✖ broken +node +\d+\.\ds +The server exited with code 3/);
    expect(stderr).toContain("1 of 2 servers is not running: plugboard status");
    const status = await plugboard(made, ["status", "--check"]);
    expect(status.code).toBe(1);
    expect(status.stdout).toMatch(/✖ broken +The server exited with code 3.*fatal: no configuration found/);
  });

  it("4: a hub that is killed while its servers start is not called started", async () => {
    const made = await home({ slow: fixture("slow-start", "60000") });
    const starting = start(made);
    await expect.poll(() => recordOf(made).catch(() => undefined), { timeout: 30_000 }).toBeDefined();
    process.kill((await recordOf(made)).pid, "SIGKILL");
    const { code, stdout, stderr } = await starting;
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    // Which of its commands notices first is chance.
    expect(stderr).toMatch(/^error: The hub (?:ended|at http)/m);
  });

  it("--no-wait does not wait for the servers", async () => {
    const made = await home({ slow: fixture("slow-start", "20000") });
    expect((await start(made, "--no-wait")).code).toBe(0);
    const { stdout } = await plugboard(made, ["ls", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject([{ name: "slow", status: "starting" }]);
  });

  it.skipIf(noTerminal !== undefined)(
    `LC-10 stage and time of each server are seen while it starts${noTerminal ?? ""}`,
    async () => {
      // Slow enough to be seen on its way by a command that itself is slow to start.
      const made = await home({ slow: fixture("slow-start", "4000"), ...ECHO });
      const { code, screen: coloured } = await onTerminal(made, ["start", "--port", "0"]);
      const screen = stripVTControlCharacters(coloured);
      expect(code).toBe(0);
      expect(visible(screen)).toMatch(/… slow +node +\d+\.\ds +handshake/);
      expect(visible(screen)).toMatch(/✔ slow +node +\d+\.\ds +\d+ tools/);
      expect(screen).toMatch(/Started the hub: /);
    },
  );
});

describe("a record that is not true", () => {
  it("of a killed hub counts for nothing", async () => {
    const made = await home();
    await start(made);
    const { pid } = await recordOf(made);
    process.kill(pid, "SIGKILL");
    await untilNoneWithMark(made.mark, 10_000);
    expect(await plugboard(made, ["status"])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("No hub is running"),
    });
    expect(await plugboard(made, ["stop"])).toMatchObject({ code: 0, stdout: "No hub is running\n" });
    expect((await start(made)).code).toBe(0);
    expect((await recordOf(made)).pid).not.toBe(pid);
  });

  it("whose process id belongs to another program by now ends nobody", async () => {
    const made = await home();
    await start(made);
    const record = await recordOf(made);
    await plugboard(made, ["stop"]);
    await writeRecord(made, { ...record, pid: process.pid });
    expect(await plugboard(made, ["stop"])).toMatchObject({ code: 0, stdout: "No hub is running\n" });
    expect((await plugboard(made, ["status"])).code).toBe(4);
    // What needs no hub works.
    expect((await plugboard(made, ["call", "it.echo", "text=x"])).stdout).toBe("x\n");
  });

  it("that others can write is refused", async () => {
    const made = await home();
    await start(made);
    await chmod(join(made.dir, "state/hub.json"), 0o666);
    const { code, stderr } = await plugboard(made, ["status"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/open to other users.*\n.*fix: +chmod 600/);
    await chmod(join(made.dir, "state/hub.json"), 0o600);
  });

  it.each(["", "{", "[]", '{"pid": "1"}', '{"pid": -1, "url": "x", "config": "y", "started_at": "z"}'])(
    "%j is none",
    async (text) => {
      const made = await home();
      await mkdir(join(made.dir, "state"));
      await writeFile(join(made.dir, "state/hub.json"), text, { mode: 0o600 });
      expect((await plugboard(made, ["status"])).code).toBe(4);
    },
  );
});

describe("T37 somebody else listens where the hub should be", () => {
  /** What a stranger got to see. */
  async function stranger(answer: string, status = 200) {
    const seen: string[] = [];
    const server = createHttpServer((request: IncomingMessage, response) => {
      seen.push([request.method, request.url, ...request.rawHeaders].join(" "));
      request.on("data", (chunk) => seen.push(String(chunk)));
      response.writeHead(status, { "content-type": "application/json" }).end(answer);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    return { seen, url: `http://127.0.0.1:${portOf(server)}`, close: () => server.close() };
  }

  describe("sends it nothing secret, and fails:", () => {
    let made: Home;
    let token: string;
    beforeAll(async () => {
      made = await makeHome(ECHO);
      await start(made);
      token = (await readFile(join(made.dir, "data/token"), "utf8")).trim();
      await plugboard(made, ["stop"]);
    });
    afterAll(() => close(made));

    it.each([
      ["status", ["status"]],
      ["ls", ["ls"]],
      ["call", ["call", "it.echo", "text=x"]],
      ["secret", ["secret", "set", "name"]],
      ["add", ["add", "--no-test", "other", "--", "node"]],
      ["stop", ["stop"]],
      ["plugboard alone", []],
    ])("%s", async (_, args) => {
      for (const [answer, status] of [
        [JSON.stringify({ proof: "0".repeat(64) }), 200],
        ["{}", 200],
        ["x".repeat(100_000), 404],
      ] as const) {
        const fake = await stranger(answer, status);
        await writeRecord(made, {
          pid: process.pid,
          url: fake.url,
          config: join(made.dir, "config"),
          started_at: new Date().toISOString(),
        });
        const { code, stdout, stderr } = await plugboard(made, args, { stdin: "the secret value" });
        fake.close();
        expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
        expect(stderr).toContain("is not your hub: nothing was sent to it");
        const all = fake.seen.join("\n");
        expect(all).toContain("/.well-known/plugboard-hub?nonce=");
        expect(all).not.toContain(token);
        expect(all).not.toContain("authorization");
        expect(all).not.toContain("the secret value");
      }
    });
  });

  it("who passes the question on to the real hub, elsewhere, proves nothing", async () => {
    const made = await home();
    await start(made);
    const record = await recordOf(made);
    const seen: string[] = [];
    const relay = createHttpServer((request, response) => {
      seen.push(request.rawHeaders.join(" "));
      void fetch(record.url + request.url).then(async (answer) => response.end(await answer.text()));
    }).listen(0, "127.0.0.1");
    await once(relay, "listening");
    await writeRecord(made, { ...record, url: `http://127.0.0.1:${portOf(relay)}` });
    const { code, stderr } = await plugboard(made, ["ls"]);
    relay.close();
    expect(code).toBe(4);
    expect(stderr).toContain("is not your hub");
    expect(seen.join().toLowerCase()).not.toContain("authorization");
    await writeRecord(made, record);
  });

  it("who does not answer at all is not waited for long", async () => {
    const made = await home();
    await start(made);
    const record = await recordOf(made);
    await plugboard(made, ["stop"]);
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    await writeRecord(made, { ...record, pid: process.pid, url: `http://127.0.0.1:${portOf(silent)}` });
    const { code, stderr } = await plugboard(made, ["ls"]);
    expect(code).toBe(4);
    expect(stderr).toContain("does not answer");
    silent.close();
    await writeFile(join(made.dir, "state/hub.json"), "{}");
  });
});

describe("interrupted", () => {
  it("start leaves the hub that it has started to itself", async () => {
    const made = await home({ slow: fixture("slow-start", "3000") });
    const { process: child, finished } = launch(made, ["start", "--port", "0"]);
    await waitFor(async () => (await recordOf(made)) !== undefined);
    child.kill("SIGINT");
    await finished;
    expect((await plugboard(made, ["status"])).code).toBe(0);
  });
});

async function waitFor(what: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await what().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("It did not happen");
}

async function writeRecord(made: Home, record: object): Promise<void> {
  const path = join(made.dir, "state/hub.json");
  await writeFile(path, JSON.stringify(record), { mode: 0o600 });
  await chmod(path, 0o600);
}

function portOf(server: Pick<Server, "address">): number {
  return (server.address() as AddressInfo).port;
}

async function freePort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = String(portOf(server));
  server.close();
  await once(server, "close");
  return port;
}
