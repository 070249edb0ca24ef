// Which modules a start loads, and which only their first use. Counted, because times depend on the machine; test/bench measures
// the cost.

import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { ECHO, openHome, startHubIn } from "../support/cli.ts";
import { tokenOf } from "../support/client.ts";
import { plugboard, type Home, type RunningHub, type StartOptions } from "../support/hub.ts";
import { connect, http } from "../support/rpc.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Prints every module that is loaded, on stderr. */
const HOOKS = "export async function load(u,c,n){process._rawDebug(u);return n(u,c)}";
const PRINT_MODULES = `data:text/javascript,import{register}from'node:module';register('data:text/javascript,${HOOKS}')`;

async function start(options: StartOptions = {}): Promise<{ hub: RunningHub; home: Home; loaded: () => string[] }> {
  const home = await openHome({ onTestFinished }, ECHO);
  const hub = await startHubIn({ onTestFinished }, home, { ...options, node: ["--import", PRINT_MODULES] });
  return { hub, home, loaded: () => hub.stderr().match(/^file:.*/gm) ?? [] };
}

async function ask({ hub, home }: { hub: RunningHub; home: Home }, path: string) {
  const token = await tokenOf(home);
  return http(`${hub.url}/api/v1${path}`, { method: "GET", headers: { authorization: `Bearer ${token}` } });
}

async function callTool(hub: RunningHub): Promise<unknown> {
  const client = await connect(`${hub.url}/mcp`);
  return client.request("tools/call", { name: "add", arguments: { a: 1, b: 2 } });
}

describe("start-up", () => {
  it("loads few files and no translations, and loads the API on its first request for every waiting caller", async () => {
    const started = await start();
    expect(await callTool(started.hub)).toMatchObject({ result: {} });
    const before = started.loaded();
    expect(before.length).toBeGreaterThan(2);
    expect(before.length).toBeLessThan(25);
    // `build` is oauth4webapi, `webapi` is jose, and `provider` loads oidc-provider.
    const late =
      /locales|\/(?:cli|rest|routes?|http-connection|websocket|otlp-tracing|client|oauth-client|token-endpoint|build|webapi|provider)\.js$/;
    expect(before.filter((file) => late.test(file))).toEqual([]);
    const answers = await Promise.all(
      ["/status", "/servers", "/openapi.json", "/nothing"].map((path) => ask(started, path)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404]);
    const after = started.loaded();
    expect(after.filter((file) => file.endsWith("/rest.js"))).toHaveLength(1);
    expect(after.filter((file) => file.includes("locales"))).toEqual([]);
  });

  it.each([
    ["--version", "cli"],
    ["status", "cli"],
    ["stdio", "bridge"],
  ])("%s does not load the hub", async (command, needed) => {
    const { home } = await start();
    const { stderr, code } = await plugboard(home, [command], {
      env: { NODE_OPTIONS: `--import "${PRINT_MODULES}"` },
    });
    expect(code).toBe(0);
    const loaded = stderr.match(/(?<=\/dist\/bundle\/)[\w-]+(?=\.js$)/gm) ?? [];
    expect(loaded).toContain(needed);
    expect(loaded).not.toContain("hub");
  });

  it("the bridge to a running hub loads no other command", async () => {
    const { home } = await start();
    const { stderr } = await plugboard(home, ["stdio"], { env: { NODE_OPTIONS: `--import "${PRINT_MODULES}"` } });
    expect(stderr).toContain("/dist/bundle/bridge.js");
    expect(stderr).not.toContain("/dist/bundle/cli.js");
  });
});

describe("the published package", () => {
  async function pack(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "plugboard-package-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const { stdout } = await promisify(execFile)("npm", ["pack", "--dry-run", "--ignore-scripts", "--json"], {
      cwd: join(ROOT, "hub"),
    });
    const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(stdout);
    for (const { path } of files) await cp(join(ROOT, "hub", path), join(folder, "hub", path));
    // Its dependencies, which are not part of the package.
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
    return join(folder, "hub");
  }

  it("contains the bundle and licences, and no single modules", async () => {
    const folder = await pack();
    const { hub } = await start({ bin: join(folder, "bin/plugboard.js") });
    expect(await callTool(hub)).toMatchObject({ result: {} });
    const licences = await readFile(join(folder, "dist/bundle/THIRD-PARTY-LICENSES.txt"), "utf8");
    for (const name of ["zod", "commander", "hono", "undici", "ws"])
      expect(licences).toMatch(new RegExp(`^${name} \\d`, "m"));
    await expect(readFile(join(folder, "dist/hub/hub.js"))).rejects.toThrow("ENOENT");
    const library: object = await import(join(folder, "dist/embed/index.js"));
    expect(Object.keys(library)).toEqual(expect.arrayContaining(["createHub", "McpClient", "HubClient", "HubError"]));
  });

  it("an API that cannot be loaded answers with an error and logs it; calls still work", async () => {
    const folder = await pack();
    await writeFile(join(folder, "dist/bundle/rest.js"), "throw new Error('broken here');");
    const started = await start({ bin: join(folder, "bin/plugboard.js") });
    const answers = await Promise.all([ask(started, "/status"), ask(started, "/servers")]);
    for (const { status, headers, body } of answers) {
      expect(status).toBe(500);
      expect(headers["content-type"]).toContain("application/problem+json");
      expect(body).not.toContain("broken here");
      expect(JSON.parse(body)).toMatchObject({ status: 500, instance: expect.any(String) });
    }
    expect(await callTool(started.hub)).toMatchObject({ result: {} });
    await started.hub.stop();
    expect(await readFile(join(started.home.dir, "state/log.jsonl"), "utf8")).toContain("broken here");
  });
});
