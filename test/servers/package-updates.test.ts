// What an update of an npm package would change, before it is installed, and the way back: real npm, and a registry of the test.

import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, describe } from "vitest";
import { clientOf } from "../support/client.ts";
import { makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { commandLine, processesWithMark } from "../support/processes.ts";
import { Registry, SERVER } from "../support/registry.ts";

const NAME = "@plugboard-test/told";
const ABOUT = '{ name: "about", inputSchema: { type: "object" } }';
const CHANGED =
  '{ name: "about", description: "Reads \\u202eall", inputSchema: { type: "object" } }, { name: "send", description: "Sends it", inputSchema: { type: "object" } }';

let registry: Registry;
let place: string;
let home: Home;
let hub: RunningHub;
let env: Record<string, string>;

const run = (...args: string[]) => plugboard(home, args, { env });
const installs = async () => (await readdir(join(home.dir, "data/packages/installs"))).length;

beforeAll(async () => {
  registry = await Registry.open();
  place = await mkdtemp(join(tmpdir(), "plugboard-place-"));
  env = {
    npm_config_registry: registry.url,
    npm_config_cache: join(place, "cache"),
    npm_config_fetch_retries: "0",
    npm_config_userconfig: join(place, "no-settings"),
  };
  registry.publish({ name: NAME, version: "1.0.0" });
  const npx = (spec: string) => ({ command: "npx", args: ["-y", spec], cwd: place, resilience: { restart: false } });
  home = await makeHome({ told: npx(NAME), pinned: npx(`${NAME}@1.0.0`) });
  hub = await startHub(home, { env });
  registry.publish({ name: NAME, version: "2.0.0", files: { "server.js": SERVER.replace(ABOUT, CHANGED) } });
});

afterAll(async () => {
  await hub?.stop();
  expect(processesWithMark(home.mark).map(commandLine)).toEqual([]);
  await home?.remove();
  await registry?.close();
  await rm(place, { recursive: true, force: true });
});

describe("MG-1 plugboard update", () => {
  it("--dry-run shows what changes in the tools, and leaves nothing behind", async () => {
    const api = await clientOf(hub);
    const [before, processes] = [await installs(), processesWithMark(home.mark).length];
    const { code, stdout } = await run("update", "--dry-run", "told");
    expect([code, stdout.split("\n")]).toEqual([
      0,
      [
        "An update would bring told from 1.0.0 to 2.0.0: its tools change",
        "~ about",
        "    description",
        String.raw`      + "Reads \u202eall"`,
        '+ send  "Sends it"',
        "",
      ],
    ]);
    expect(await installs()).toBe(before);
    expect(processesWithMark(home.mark).length).toBe(processes);
    expect(await api.servers.get("told")).toMatchObject({ status: "running", package: { version: "1.0.0" } });
    expect(await api.servers.previewUpdate("pinned")).toEqual({
      changed: false,
      from: "1.0.0",
      to: "1.0.0",
      tools: { added: [], changed: [], removed: [] },
      diff: [],
    });
    expect((await run("update", "--dry-run")).stdout).toContain("pinned is at 1.0.0");
  });

  it("--rollback goes back to the version before, and forth again", async () => {
    expect(await run("update", "--rollback", "told")).toMatchObject({
      code: 7,
      stderr: expect.stringContaining("There is no version of @plugboard-test/told to go back to"),
    });
    expect((await run("update", "told")).stdout).toBe("Updated told from 1.0.0 to 2.0.0, restarted told\n");
    expect((await run("update", "--rollback", "told")).stdout).toBe(
      "Updated told from 2.0.0 to 1.0.0, restarted told\n",
    );
    const api = await clientOf(hub);
    expect(await api.servers.get("told")).toMatchObject({ status: "running", package: { version: "1.0.0" } });
    expect((await run("update", "--rollback", "told")).stdout).toContain("from 1.0.0 to 2.0.0");
    expect((await run("update", "--rollback", "told")).stdout).toContain("from 2.0.0 to 1.0.0");
    // A restart keeps the version.
    await run("restart", "told");
    expect(await api.servers.get("told")).toMatchObject({ package: { version: "1.0.0" } });
    expect(await run("update", "--rollback", "pinned")).toMatchObject({
      code: 7,
      stderr: expect.stringContaining("pins"),
    });
  });

  it("refuses options that make no sense together", async () => {
    expect(await run("update", "--rollback")).toMatchObject({ code: 2 });
    expect(await run("update", "--rollback", "--dry-run", "told")).toMatchObject({ code: 2 });
  });

  it("says why a new version could not be tried, and leaves nothing behind", async () => {
    registry.publish({ name: NAME, version: "3.0.0", files: { "server.js": "process.exit(3)" } });
    const before = await installs();
    const { code, stderr } = await run("update", "--dry-run", "told");
    expect([code, stderr]).toEqual([4, expect.stringMatching(/exited with code 3|closed/)]);
    expect(await installs()).toBe(before);
    expect(await (await clientOf(hub)).servers.get("told")).toMatchObject({ status: "running" });
  });
});
