// The whole hub with servers that docker, npx and uvx start. Launchers that are missing are skipped, with the command that
// installs them.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DockerEngine, startDocker } from "../support/docker.ts";
import { makeHome, startHub, type Home, type RunningHub, type Servers } from "../support/hub.ts";
import { processesWithMark, seesTags } from "../support/processes.ts";
import { connect } from "../support/rpc.ts";

const CHECKOUT = new URL("../../", import.meta.url).pathname;
const EVERYTHING = "@modelcontextprotocol/server-everything";
/** A server on PyPI with few dependencies. */
const PYTHON_SERVER = "mcp-server-time";

const isOnPath = (name: string) =>
  (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));

/** Whether uvx can fetch the server. Also fills uv's cache, so that the start by the hub is fast. */
async function uvxReason(): Promise<string | undefined> {
  if (!isOnPath("uvx")) return "no uvx on PATH: pip install uv";
  return promisify(execFile)("uvx", [PYTHON_SERVER, "--help"]).then(
    () => undefined,
    () => "PyPI cannot be reached from here",
  );
}

describe.runIf(seesTags)("servers of every launcher behind one hub", () => {
  let engine: DockerEngine | undefined;
  let servers: Servers;

  beforeAll(async () => {
    const started = await startDocker();
    const withoutUvx = await uvxReason();
    engine = started instanceof DockerEngine ? started : undefined;
    if (!(started instanceof DockerEngine)) process.stderr.write(`skipped, docker: ${started.missing}\n`);
    if (withoutUvx !== undefined) process.stderr.write(`skipped, uvx: ${withoutUvx}\n`);
    const image = await engine?.importEverything();
    servers = {
      npx: { command: "npx", args: ["-y", EVERYTHING], cwd: CHECKOUT, npm: "npx" },
      node: { command: "npx", args: ["-y", EVERYTHING], cwd: CHECKOUT },
      ...(image === undefined ? {} : { docker: { command: "docker", args: ["run", image], hardened: true } }),
      ...(withoutUvx === undefined ? { uvx: { command: "uvx", args: [PYTHON_SERVER] } } : {}),
    };
  }, 180_000);

  afterAll(() => engine?.close());

  async function withHub(use: (hub: RunningHub, home: Home) => Promise<void>): Promise<void> {
    const home = await makeHome(servers);
    const hub = await startHub({ ...home, env: { ...home.env, ...engine?.env } });
    try {
      await use(hub, home);
    } finally {
      await hub.kill();
      await home.remove();
    }
  }

  const leftOver = async (home: Home) => [...processesWithMark(home.mark), ...((await engine?.containers()) ?? [])];

  it("MC-T4 GR-7 SE-4 all of them answer, the container hardened, and none is left after stop", async () => {
    await withHub(async (hub, home) => {
      const client = await connect(`${hub.url}/mcp`);
      for (const server of ["npx", "node", "docker"].filter((name) => Object.hasOwn(servers, name))) {
        const params = { name: `${server}:echo`, arguments: { message: server } };
        expect(await client.request("tools/call", params)).toMatchObject({
          result: { content: [{ text: `Echo: ${server}` }] },
        });
      }
      if (Object.hasOwn(servers, "uvx")) {
        const params = { name: "uvx:get_current_time", arguments: { timezone: "Europe/Helsinki" } };
        expect(JSON.stringify(await client.request("tools/call", params))).toContain("Europe/Helsinki");
      }
      const [name] = (await engine?.containers()) ?? [];
      if (name !== undefined) {
        const format =
          "{{.HostConfig.NetworkMode}} {{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.HostConfig.Init}}";
        const inspected = await engine?.docker("inspect", "--format", format, name);
        expect(inspected?.stdout.trim()).toBe("none true [ALL] true");
      }
      expect((await leftOver(home)).length).toBeGreaterThan(2);
      expect(await hub.stop()).toBe(0);
      expect(await leftOver(home)).toEqual([]);
    });
  });

  it("LC-5 none is left after a SIGKILL of the hub", async () => {
    await withHub(async (hub, home) => {
      expect((await leftOver(home)).length).toBeGreaterThan(2);
      await hub.kill();
      // The watchdog needs a moment; the tests of processes measure it.
      await expect.poll(() => leftOver(home), { interval: 50 }).toEqual([]);
    });
  });
});
