// Real launchers and real servers with the hub's process management: docker with an engine, npx, uvx. Launchers that are missing
// are skipped, with the reason and the command that installs them.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Launcher } from "../../hub/src/config/schema/types.ts";
import type { HubError } from "../../hub/src/errors.ts";
import { diagnoseExit } from "../../hub/src/servers/process/diagnose.ts";
import { childEnvironment } from "../../hub/src/servers/process/environment.ts";
import { Watchdog } from "../../hub/src/servers/process/watchdog.ts";
import { launchCommand } from "../../hub/src/servers/process/command-line.ts";
import type { LaunchCommand } from "../../hub/src/servers/process/command-line.ts";
import { ServerProcess } from "../../hub/src/servers/process/process.ts";
import type { Grace } from "../../hub/src/servers/process/process.ts";
import { DockerEngine, startDocker } from "../support/docker.ts";
import { commandLine, nextLine, processesWithTag, program, seesTags } from "../support/processes.ts";
import { listen } from "../support/sockets.ts";

const CHECKOUT = new URL("../../", import.meta.url).pathname;
const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "0" } },
});

const instance = `launchers-${process.pid}`;
const watchdog = new Watchdog({ instance });
const started: ServerProcess[] = [];
let starts = 0;

afterEach(() => Promise.all(started.splice(0).map((server) => server.kill())));
afterAll(() => watchdog.close());

interface Given {
  args: string[];
  env?: Record<string, string>;
  hardened?: boolean;
  cwd?: string;
  /** Added to the environment of the hub. */
  hubEnv?: Record<string, string>;
  tag?: string;
}

function commandFor(launcher: Launcher, given: Given): LaunchCommand {
  const { args, env = {}, hardened = false, cwd, hubEnv, tag = instance } = given;
  const transport = { type: "stdio", launcher, command: launcher, args, hardened, ...(cwd ? { cwd } : {}) } as const;
  const launch = launchCommand(
    { name: launcher, transport, env, secrets: [] },
    { instance: tag, unique: `${++starts}` },
  );
  return { ...launch, env: childEnvironment({ ...process.env, ...hubEnv }, launch.env, { tag, launcher }) };
}

async function start(command: LaunchCommand, graceMs?: Grace): Promise<ServerProcess> {
  const server = await ServerProcess.spawn(command, { watchdog, ...(graceMs ? { graceMs } : {}) });
  started.push(server);
  return server;
}

/** Sends initialize and returns the reply. */
async function initialize(server: ServerProcess): Promise<unknown> {
  server.stdin.write(`${INITIALIZE}\n`);
  return JSON.parse(await nextLine(server.stdout));
}

/** The diagnosis of a server that exits before its handshake. */
async function diagnosis(command: LaunchCommand): Promise<HubError> {
  const server = await start(command);
  return diagnoseExit(command, await server.exited, server.stderr.tail(50));
}

function isOnPath(name: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));
}

function say(reason: string): void {
  process.stderr.write(`skipped: ${reason}\n`);
}

const left = () => (seesTags ? processesWithTag(instance) : []);

const docker = await startDocker();
if (!(docker instanceof DockerEngine)) say(`docker servers: ${docker.missing}`);
const engine = docker instanceof DockerEngine ? docker : undefined;

describe.runIf(engine !== undefined)("docker, with a real engine", () => {
  const hubEnv = { DOCKER_HOST: engine?.env.DOCKER_HOST ?? "" };
  const containers = () => engine?.containers() ?? Promise.resolve([]);
  const QUICK = { stdin: 200, term: 200 };
  let image = "";

  beforeAll(async () => {
    image = (await engine?.importEverything()) ?? "";
  });
  afterAll(() => engine?.close());

  /** Any program in the image, instead of its server. */
  const inside = (script: string, { options = [], ...given }: Partial<Given> & { options?: string[] } = {}) =>
    commandFor("docker", {
      ...given,
      args: ["run", "--entrypoint", process.execPath, ...options, image, "-e", script],
      hubEnv,
    });
  const stubborn = (given: Partial<Given> = {}) =>
    inside('process.on("SIGTERM", () => {}); setInterval(() => {}, 60000); console.log("ready")', given);

  it("LC-2 LC-4 MC-T1 MC-T2 runs the everything server, answers, and removes it after stop", async () => {
    const command = commandFor("docker", { args: ["run", "-i", "--rm", image], hardened: true, hubEnv });
    const server = await start(command);
    expect(await initialize(server)).toMatchObject({ id: 1, result: { protocolVersion: "2025-06-18" } });
    expect(await containers()).toEqual([command.container?.name]);
    expect(await server.stop()).toMatchObject({ signal: null });
    expect(await containers()).toEqual([]);
    expect(left()).toEqual([]);
  });

  it("SE-4 a hardened server has no network, no writable root, no capabilities", async () => {
    const server = await start(
      inside(
        `const fs = require("fs"), status = fs.readFileSync("/proc/self/status", "utf8");
         let write; try { fs.writeFileSync("/x", ""); write = "done"; } catch (error) { write = error.code; }
         console.log(JSON.stringify({
           write, init: fs.readFileSync("/proc/1/comm", "utf8").trim(), interfaces: fs.readdirSync("/sys/class/net"),
           capabilities: /CapEff:\\s*(\\w+)/.exec(status)[1], noNewPrivileges: /NoNewPrivs:\\s*(\\d)/.exec(status)[1],
         })); process.stdin.resume()`,
        { hardened: true },
      ),
    );
    expect(JSON.parse(await nextLine(server.stdout))).toEqual({
      write: "EROFS",
      init: expect.stringMatching(/init|tini/),
      interfaces: ["lo"],
      capabilities: "0000000000000000",
      noNewPrivileges: "1",
    });
    await server.stop();
  });

  it("T15 MC-T6 gives the server its variables, and none of them to the command line", async () => {
    const given = {
      options: ["-e", "URL=pg://s3cret-1", "-eTWO=s3cret-2"],
      env: { KEY: "s3cret-3", EMPTY: "", HOME: "/app" },
    };
    const server = await start(inside("console.log(JSON.stringify(process.env)); process.stdin.resume()", given));
    const env: unknown = JSON.parse(await nextLine(server.stdout));
    const expected = { URL: "pg://s3cret-1", TWO: "s3cret-2", KEY: "s3cret-3", EMPTY: "", HOME: "/app" };
    expect(env).toMatchObject(expected);
    expect(env).not.toHaveProperty("PLUGBOARD_START");
    const seen = left().map(commandLine).join("\n");
    expect(seen).toContain("-e KEY");
    expect(seen).not.toContain("s3cret");
    await server.stop();
  });

  it("LC-4 F18 removes a container whose server ignores everything", async () => {
    const server = await start(stubborn(), QUICK);
    await nextLine(server.stdout);
    expect(await server.stop()).toEqual({ code: null, signal: "SIGKILL" });
    expect(await containers()).toEqual([]);
  });

  it("LC-4 removes the container when its client is killed from outside", async () => {
    const server = await start(stubborn());
    await nextLine(server.stdout);
    process.kill(server.pid, "SIGKILL");
    await server.exited;
    expect(await containers()).toEqual([]);
  });

  it("LC-2 leaves no container if the start is cancelled at any moment", async () => {
    // 0 ms: before the docker client has sent a request; later: between create, attach and start.
    for (const ms of [0, 20, 40, 60, 80, 100, 150, 200]) {
      const server = await start(stubborn());
      await new Promise((resolve) => setTimeout(resolve, ms));
      await server.kill();
      expect(await containers(), `cancelled after ${ms} ms`).toEqual([]);
    }
  });

  it("LC-5 removes the containers of a hub that was killed", async () => {
    const tag = `${instance}-killed`;
    const command = stubborn({ tag });
    const argument = JSON.stringify({ instance: tag, commands: [command] });
    const hub = spawn(process.execPath, [program("hub.mjs"), argument], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void hub.kill("SIGKILL"));
    await nextLine(hub.stdout);
    expect(await containers()).toEqual([command.container?.name]);
    hub.kill("SIGKILL");
    await expect.poll(() => containers()).toEqual([]);
    expect(processesWithTag(tag)).toEqual([]);
  });

  it("LC-3 an image that cannot be pulled is Package not found", async () => {
    const command = commandFor("docker", { args: ["run", "-i", "--rm", "plugboard-test/no-such-image:1"], hubEnv });
    expect((await diagnosis(command)).toJSON()).toMatchObject({
      code: "NOT_FOUND",
      message: "Package not found",
      detail: expect.stringContaining("plugboard-test/no-such-image:1"),
      hint: "Check the image's name: docker pull plugboard-test/no-such-image:1",
    });
  });

  it("LC-3 F14 a server that fails inside its container is not reported as a missing image", async () => {
    const error = await diagnosis(inside('console.error("no DATABASE_URL"); process.exit(3)'));
    expect(error.toJSON()).toMatchObject({
      kind: "ProcessSpawnFailed",
      message: "The server exited with code 3 before the handshake",
      detail: "no DATABASE_URL",
    });
  });

  it("LC-3 an unknown docker option is not reported as a missing image", async () => {
    const command = commandFor("docker", { args: ["run", "--no-such-option=1", image], hubEnv });
    expect(await diagnosis(command)).toMatchObject({
      kind: "ProcessSpawnFailed",
      detail: expect.stringContaining("--no-such-option"),
    });
  });
});

describe.runIf(isOnPath("docker"))("docker, without an engine", () => {
  it("LC-3 F17 is Docker not running", async () => {
    const hubEnv = { DOCKER_HOST: "unix:///nonexistent/docker.sock" };
    const error = await diagnosis(commandFor("docker", { args: ["run", "-i", "--rm", "image"], hubEnv }));
    expect(error.toJSON()).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: "Docker not running",
      detail: expect.stringContaining("/nonexistent/docker.sock"),
    });
  });
});

describe("npx", () => {
  it("LC-2 LC-4 MC-T1 MC-T2 runs the everything server, answers, and ends its whole process tree after stop", async () => {
    const args = ["-y", "@modelcontextprotocol/server-everything@2026.8.31"];
    const server = await start(commandFor("npx", { args, cwd: CHECKOUT, hubEnv: { npm_config_offline: "true" } }));
    expect(await initialize(server)).toMatchObject({ id: 1, result: { protocolVersion: "2025-06-18" } });
    if (seesTags) expect(left().length).toBeGreaterThan(1);
    await server.stop();
    expect(left()).toEqual([]);
  });

  it("LC-3 F17 a package that a registry does not have is Package not found", async () => {
    const registry = createServer((_request, response) => response.writeHead(404).end("{}"));
    await listen(registry);
    const address = registry.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const hubEnv = { npm_config_registry: `http://127.0.0.1:${port}/` };
    const error = await diagnosis(commandFor("npx", { args: ["-y", "@plugboard-test/no-such-package-x1"], hubEnv }));
    registry.close();
    expect(error.toJSON()).toMatchObject({
      code: "NOT_FOUND",
      message: "Package not found",
      detail: expect.stringContaining("@plugboard-test/no-such-package-x1"),
    });
  });

  it("LC-3 a registry that does not answer is a network error", async () => {
    const hubEnv = { npm_config_registry: "http://127.0.0.1:9/", npm_config_fetch_retries: "0" };
    const error = await diagnosis(commandFor("npx", { args: ["-y", "@plugboard-test/no-such-package-x1"], hubEnv }));
    expect(error).toMatchObject({ code: "NETWORK_ERROR", kind: "ConnectionFailed" });
  });

  it("LC-3 the real registry gives the same error", async ({ skip }) => {
    const hubEnv = { npm_config_fetch_retries: "0" };
    const error = await diagnosis(commandFor("npx", { args: ["-y", "@plugboard-test/no-such-package-x1"], hubEnv }));
    if (error.kind === "ConnectionFailed") {
      say("npx with the real registry: the npm registry cannot be reached from here");
      skip("the npm registry cannot be reached");
    }
    expect(error).toMatchObject({ code: "NOT_FOUND", message: "Package not found" });
  });
});

const hasUvx = isOnPath("uvx");
if (!hasUvx) say("uvx servers: no uvx on PATH: pip install uv");

describe.runIf(hasUvx)("uvx", () => {
  const MISSING = "plugboard-test-no-such-package-x1";

  it("LC-3 an index that does not answer is a network error", async () => {
    const hubEnv = { UV_DEFAULT_INDEX: "http://127.0.0.1:9/simple", UV_HTTP_RETRIES: "0" };
    const error = await diagnosis(commandFor("uvx", { args: [MISSING], hubEnv }));
    expect(error).toMatchObject({ code: "NETWORK_ERROR", kind: "ConnectionFailed" });
  });

  it("LC-2 LC-3 LC-4 runs and stops a real server from PyPI, and reports a missing package", async ({ skip }) => {
    const error = await diagnosis(commandFor("uvx", { args: [MISSING] }));
    if (error.kind === "ConnectionFailed") {
      say("uvx with the real index: PyPI cannot be reached from here");
      skip("PyPI cannot be reached");
    }
    expect(error.toJSON()).toMatchObject({
      code: "NOT_FOUND",
      message: "Package not found",
      detail: expect.stringContaining(MISSING),
    });
    const server = await start(commandFor("uvx", { args: ["mcp-server-time"] }));
    expect(await initialize(server)).toMatchObject({ id: 1, result: { protocolVersion: "2025-06-18" } });
    await server.stop();
    expect(left()).toEqual([]);
  });
});
