// npm packages that the hub installs: real npm, real servers, and a registry whose versions and failures the test controls.

import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { Hub } from "../../hub/src/hub/hub.ts";
import { hubPaths } from "../../hub/src/config/files/paths.ts";
import { openManaged, type ManagedHub } from "../support/api.ts";
import { makeHome, plugboard, startHub, type Home, type Servers } from "../support/hub.ts";
import { callText, untilState } from "../support/in-process.ts";
import { commandLine, processesWithMark, seesTags, untilNoneWithMark } from "../support/processes.ts";
import { Registry, SERVER } from "../support/registry.ts";

const NAME = "@plugboard-test/told";

let registry: Registry;
/** The working directory of servers: a folder without packages and npm settings. */
let place: string;
let variables: Record<string, string>;

beforeEach(async () => {
  registry = await Registry.open();
  place = await mkdtemp(join(tmpdir(), "plugboard-place-"));
  variables = {
    npm_config_registry: registry.url,
    npm_config_cache: join(place, "cache"),
    npm_config_fetch_retries: "0",
    // No npm settings of the user who runs the tests.
    npm_config_userconfig: join(place, "no-settings"),
  };
  registry.publish({ name: NAME, version: "1.0.0" });
});

afterEach(async () => {
  await registry.close();
  await rm(place, { recursive: true, force: true });
});

const npx = (...args: string[]) => ({
  command: "npx",
  args: ["-y", ...args],
  cwd: place,
  resilience: { restart: false },
});

async function open(servers: Servers): Promise<ManagedHub> {
  const managed = await openManaged(servers, { variables });
  onTestFinished(async () => expect(await managed.end()).toEqual([]));
  return managed;
}

async function opened(servers: Servers): Promise<ManagedHub> {
  const managed = await open(servers);
  await managed.hub.start();
  return managed;
}

/** Another hub on the same folders, as after a restart. */
async function reopen(home: Home): Promise<Hub> {
  const env = { ...home.env, ...variables };
  const hub = await Hub.open({
    paths: hubPaths({ env, platform: process.platform, home: home.dir }),
    variables: env,
  });
  onTestFinished(() => hub.stop());
  return hub;
}

interface About {
  version: string;
  args: string[];
  execPath: string;
  file: string;
  cwd: string;
  path: string;
  scripted: boolean;
  pid: number;
}

async function about(hub: Hub, server: string): Promise<About> {
  return JSON.parse(await callText(hub, server, "about")) as About;
}

/** Makes the registry unreachable and removes npm's cache of it. */
async function cutOff(): Promise<void> {
  registry.down = true;
  await rm(join(place, "cache/_cacache"), { recursive: true });
}

/** Whether npm's cache has the tarball of a package, and not only its metadata. */
async function cached(name: string): Promise<boolean> {
  const index = join(place, "cache/_cacache/index-v5");
  const files = await readdir(index, { recursive: true, withFileTypes: true }).catch(() => []);
  const texts = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), "utf8")),
  );
  return texts.some((text) => text.includes(`${name}/-/`));
}

const installsOf = (home: Home) => join(home.dir, "data/packages/installs");
const installed = (home: Home) => readdir(installsOf(home)).catch((): string[] => []);

describe("a package", () => {
  it("LC-2 CF-2 is installed once and run by node, with no npm left beside it, and its version is shown", async () => {
    const { hub, home, statuses, client } = await open({ told: npx(NAME, "--port", "1") });
    await hub.start();
    const stages = statuses("told").flatMap((status) => (status.state === "starting" ? [status.stage] : []));
    // LC-10: slow stages are visible.
    expect(stages).toEqual(["resolving", "installing", "launching", "handshake", "listing"]);
    const told = await about(hub, "told");
    expect(told).toMatchObject({ version: "1.0.0", args: ["--port", "1"], execPath: process.execPath, cwd: place });
    expect(told.file).toContain(installsOf(home));
    expect(told.path.split(":")[0]).toBe(join(dirname(told.file), "../../.bin"));
    if (seesTags) expect(processesWithMark(home.mark)).toEqual([told.pid]);
    const { package: shown, kind, pid } = await client.servers.get("told");
    expect(pid).toBe(told.pid);
    expect(kind).toBe("npx");
    expect(shown).toEqual({
      spec: NAME,
      name: NAME,
      version: "1.0.0",
      source: "managed",
      folder: expect.stringContaining(installsOf(home)),
      integrity: expect.stringMatching(/^sha512-/),
      installed_at: expect.stringMatching(/^\d{4}-/),
    });
    await hub.supervisor.get("told").stop();
    // An installed package needs no request to the registry.
    registry.publish({ name: NAME, version: "1.1.0" });
    const { length } = registry.requests;
    await hub.supervisor.get("told").start();
    expect((await about(hub, "told")).version).toBe("1.0.0");
    expect(registry.requests).toHaveLength(length);
  });

  it("is known to the next hub before its start, even without a registry", async () => {
    const { hub, home } = await opened({ told: npx(NAME) });
    await hub.stop();
    registry.down = true;
    const next = await reopen(home);
    expect(next.supervisor.get("told").package).toMatchObject({ version: "1.0.0" });
    await next.start();
    expect((await about(next, "told")).version).toBe("1.0.0");
    expect(await installed(home)).toHaveLength(1);
  });

  it("is shared by all servers that have it, and downloaded once", async () => {
    const { hub, home } = await opened({ one: npx(NAME, "1"), two: npx(NAME, "2"), exact: npx(`${NAME}@1.0.0`) });
    const [one, two, exact] = await Promise.all(["one", "two", "exact"].map((name) => about(hub, name)));
    expect(one?.file).toBe(two?.file);
    expect(exact?.file).not.toBe(one?.file);
    expect(await installed(home)).toHaveLength(2);
  });

  it("is installed once even if two hubs start at the same time", async () => {
    const home = await makeHome({ told: npx(NAME) });
    onTestFinished(() => home.remove());
    const runs = await Promise.all([1, 2].map(() => plugboard(home, ["ls", "--json"], { env: variables })));
    for (const { code, stdout } of runs) {
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject([{ status: "running", package: { version: "1.0.0" } }]);
    }
    expect(await installed(home)).toHaveLength(1);
    expect(registry.downloads).toHaveLength(1);
  });

  it("runs its install scripts if npm would run them for npx", async () => {
    const scripts = { postinstall: `node -e "require('fs').writeFileSync('scripted','')"` };
    registry.publish({ name: NAME, version: "1.2.0", scripts });
    variables["npm_config_allow_scripts"] = NAME;
    const { hub } = await opened({ told: npx(NAME) });
    expect(await about(hub, "told")).toMatchObject({ version: "1.2.0", scripted: true });
  });

  it("runs the named program, and executes one that is not JavaScript directly", async () => {
    const files = { "run.sh": '#!/bin/sh\nexec node "$(dirname "$(readlink -f "$0")")/server.js" shell "$@"\n' };
    const bin = { told: "server.js", other: "run.sh" };
    registry.publish({ name: NAME, version: "2.0.0", bin, files });
    const { hub } = await opened({
      named: npx(NAME),
      asked: { ...npx(), args: ["-p", NAME, "other", "x"] },
    });
    expect((await about(hub, "named")).args).toEqual([]);
    expect((await about(hub, "asked")).args).toEqual(["shell", "x"]);
  });
});

describe("npx runs the package", () => {
  it.each([
    ["a server says so", { npm: "npx" }, {}],
    ["the hub is told so", {}, { PLUGBOARD_NPM: "npx" }],
    ["npx is given what only it understands", { args: ["-y", "--loglevel=error", NAME] }, {}],
    ["the entry has a PATH of its own", { env: { PATH: process.env["PATH"] ?? "" } }, {}],
  ])("CF-2 if %s", async (_why, more, env) => {
    Object.assign(variables, env);
    const { hub, home, client } = await opened({ told: { ...npx(NAME), ...more } });
    expect((await about(hub, "told")).version).toBe("1.0.0");
    if (seesTags) expect(processesWithMark(home.mark).map(commandLine).join("\n")).toContain("npm exec");
    expect(await installed(home)).toEqual([]);
    expect((await client.servers.get("told")).package).toBeNull();
    await expect(client.servers.updatePackage("told")).rejects.toMatchObject({ kind: "InvalidArgument" });
  });

  it("CF-2 runs a package of the project in `cwd`", async () => {
    const own = join(place, "node_modules", NAME);
    await mkdir(own, { recursive: true });
    await mkdir(join(place, "node_modules/.bin"));
    await writeFile(join(own, "package.json"), JSON.stringify({ name: NAME, version: "0.5.0", bin: "server.js" }));
    await writeFile(join(own, "server.js"), SERVER, { mode: 0o755 });
    await symlink(join("..", NAME, "server.js"), join(place, "node_modules/.bin/told"));
    const { hub, home, client } = await opened({ told: npx(NAME) });
    expect(await about(hub, "told")).toMatchObject({ version: "0.5.0", file: join(own, "server.js") });
    expect(await installed(home)).toEqual([]);
    expect((await client.servers.get("told")).package).toBeNull();
    await expect(client.servers.updatePackage("told")).rejects.toMatchObject({ kind: "InvalidArgument" });
  });

  it("an entry can be managed although PLUGBOARD_NPM is npx", async () => {
    variables["PLUGBOARD_NPM"] = "npx";
    const { hub } = await opened({ told: { ...npx(NAME), npm: "managed" } });
    expect(hub.supervisor.get("told").package).toMatchObject({ version: "1.0.0" });
  });

  it("is tried if the package cannot be installed", async () => {
    const { hub, home } = await open({ told: npx(NAME) });
    await mkdir(join(home.dir, "data/packages"), { recursive: true });
    await writeFile(installsOf(home), "in the way");
    await hub.start();
    expect((await about(hub, "told")).version).toBe("1.0.0");
    const server = hub.supervisor.get("told");
    expect(server.package).toBeUndefined();
    const said = server.logs(100).map(({ text }) => text);
    expect(said.join("\n")).toMatch(
      /^plugboard: @plugboard-test\/told could not be installed \(Cannot write .*\), using npx/m,
    );
  });
});

describe("many packages at once", () => {
  it("LC-10 are installed a few at a time with their queue positions, and waiting does not count as start time", async () => {
    const names = Array.from({ length: 6 }, (_, n) => `@plugboard-test/many-${n}`);
    for (const name of names) registry.publish({ name, version: "1.0.0" });
    registry.holding = true;
    const limits = { start_ms: 20_000, install_ms: 100_000 };
    const servers = Object.fromEntries(names.map((name, n) => [`s${n}`, { ...npx(name), timeouts: limits }]));
    const { hub, client } = await open(servers);
    const settled = hub.start();
    const stages = async () => {
      const all = await client.servers.list();
      return all.map(({ stage, install }) => `${stage} ${install?.position} of ${install?.total}`);
    };
    const atOnce = Math.min(4, Math.max(2, availableParallelism()));
    const expected = names.map((_, n) => `${n < atOnce ? "installing" : "queued"} ${n + 1} of 6`);
    await expect.poll(stages).toEqual(expect.arrayContaining(expected));
    await expect.poll(() => registry.downloads.length).toBe(atOnce);
    registry.release();
    await settled;
    expect(hub.supervisor.servers.map(({ status }) => status.state)).toEqual(names.map(() => "running"));
    expect((await client.servers.get("s0")).install).toBeNull();
  });
});

describe("failures of installs", () => {
  it("LC-3 F13 F17 the error names a package that the registry does not have", async () => {
    const { hub, home } = await opened({ none: npx("@plugboard-test/none"), old: npx(`${NAME}@9.9.9`) });
    for (const [server, message, what, hint] of [
      ["none", "Package not found", "@plugboard-test/none is not on the npm registry", "@plugboard-test/none"],
      ["old", "Version not found", `There is no ${NAME}@9.9.9 on the npm registry`, `npm view ${NAME} versions`],
    ] as const) {
      expect(hub.supervisor.get(server).status).toMatchObject({
        state: "error",
        error: {
          code: "NOT_FOUND",
          message,
          detail: what,
          hint: expect.stringContaining(hint),
        },
      });
    }
    expect(await installed(home)).toEqual([]);
  });

  it("LC-3 a registry that does not answer is a network error", async () => {
    registry.down = true;
    const { hub, home } = await opened({ told: npx(NAME) });
    expect(hub.supervisor.get("told").status).toMatchObject({ state: "error", error: { kind: "ConnectionFailed" } });
    expect(await installed(home)).toEqual([]);
  });

  it.each([
    ["a package that it depends on is gone", "node_modules/@plugboard-test/part"],
    ["its own folder is gone", "."],
    ["its program is gone", `node_modules/${NAME}/server.js`],
  ])("an install is repaired if %s, and keeps its version", async (_what, gone) => {
    registry.publish({ name: "@plugboard-test/part", version: "1.0.0" });
    registry.publish({ name: NAME, version: "1.0.0", dependencies: { "@plugboard-test/part": "1" } });
    const { hub, home } = await opened({ told: npx(NAME) });
    const [folder = ""] = await installed(home);
    await hub.stop();
    registry.publish({ name: NAME, version: "1.1.0" });
    await rm(join(installsOf(home), folder, gone), { recursive: true });
    const next = await reopen(home);
    await next.start();
    expect((await about(next, "told")).version).toBe("1.0.0");
    expect(next.supervisor.get("told").package).toMatchObject({ version: "1.0.0", spec: NAME });
    expect(await installed(home)).not.toContain(folder);
    expect(await installed(home)).toHaveLength(1);
  });

  it("an unreadable record is replaced", async () => {
    const { hub, home } = await opened({ told: npx(NAME) });
    await hub.stop();
    const specs = join(home.dir, "data/packages/specs");
    const [record = ""] = await readdir(specs);
    await writeFile(join(specs, record), '{"version": "1.0.0", "folder": "../../.."}');
    const next = await reopen(home);
    await next.start();
    expect((await about(next, "told")).version).toBe("1.0.0");
  });

  it("LC-4 LC-10 a stop during the install ends npm and leaves no files", async () => {
    registry.holding = true;
    const held = registry.held();
    const { hub, home } = await open({ told: npx(NAME), same: npx(NAME) });
    const settled = hub.start();
    await held;
    expect(hub.supervisor.get("told").status).toMatchObject({ state: "starting", stage: "installing" });
    await hub.supervisor.get("told").stop();
    // The other server still waits for the installation.
    if (seesTags) expect(processesWithMark(home.mark).length).toBeGreaterThan(0);
    await hub.supervisor.get("same").stop();
    await settled;
    expect(hub.supervisor.get("same").status).toEqual({ state: "stopped" });
    if (seesTags) expect(processesWithMark(home.mark)).toEqual([]);
    expect(await installed(home)).toEqual([]);
    registry.holding = false;
    await hub.supervisor.get("told").start();
    expect((await about(hub, "told")).version).toBe("1.0.0");
  });

  it("LC-3 an install has its own timeout, which the error names", async () => {
    registry.holding = true;
    const limits = { start_ms: 50, install_ms: 3000 };
    const { hub, home } = await opened({ told: { ...npx(NAME), timeouts: limits } });
    expect(hub.supervisor.get("told").status).toMatchObject({
      state: "error",
      error: {
        kind: "Timeout",
        code: "NETWORK_ERROR",
        message: `The install of ${NAME} took longer than 3 s`,
        hint: expect.stringContaining(`plugboard edit told '{"timeouts": {"install_ms": 6000}}'`),
      },
    });
    if (seesTags) expect(processesWithMark(home.mark)).toEqual([]);
    expect(await installed(home)).toEqual([]);
  });

  it("a retry downloads only what is missing", async () => {
    const part = "@plugboard-test/part";
    registry.publish({ name: part, version: "1.0.0" });
    registry.publish({ name: NAME, version: "1.3.0", dependencies: { [part]: "1" } });
    registry.holding = part;
    const held = registry.held();
    const { hub } = await open({ told: npx(NAME) });
    const settled = hub.start();
    await held;
    await expect.poll(() => registry.downloads.filter((path) => path.startsWith(NAME))).toHaveLength(1);
    // npm adds a download to its cache shortly after the last byte.
    await expect.poll(() => cached(NAME)).toBe(true);
    await hub.supervisor.get("told").stop();
    await settled;
    registry.holding = false;
    await hub.supervisor.get("told").start();
    expect((await about(hub, "told")).version).toBe("1.3.0");
    expect(registry.downloads.filter((path) => path.startsWith(NAME))).toHaveLength(1);
  });

  it.runIf(seesTags)(
    "LC-5 F41 SIGKILL of the hub during the install: npm ends, and the next start is clean",
    async () => {
      const home = await makeHome({ told: npx(NAME) });
      onTestFinished(() => home.remove());
      registry.holding = true;
      const held = registry.held();
      const first = await startHub(home, { ready: false, env: variables });
      await held;
      expect(await installed(home)).toHaveLength(1);
      await first.kill();
      await untilNoneWithMark(home.mark);
      const [half = ""] = await installed(home);
      registry.holding = false;
      const second = await startHub(home, { env: variables });
      onTestFinished(() => second.kill());
      expect(second.stderr()).toMatch(/✔ told .* 1 tool/);
      await expect.poll(() => installed(home)).not.toContain(half);
      expect(await installed(home)).toHaveLength(1);
      expect(await second.stop()).toBe(0);
      const specs = await readdir(join(home.dir, "data/packages/specs"));
      expect(specs.filter((name) => !name.endsWith(".json"))).toEqual([]);
    },
  );
});

it("MG-1 doctor counts installed packages and finds damaged ones", async () => {
  const home = await makeHome({ told: npx(NAME) });
  onTestFinished(() => home.remove());
  const examine = async () => {
    const { stdout } = await plugboard(home, ["doctor", "--json"], { env: variables });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; state: string; message: string }[] };
    return checks.filter(({ name }) => name === "packages").map(({ state, message }) => [state, message]);
  };
  expect(await examine()).toEqual([]);
  expect((await plugboard(home, ["update", "told"], { env: variables })).code).toBe(0);
  const counted = ["ok", `1 npm package in ${join(home.dir, "data/packages")}`];
  expect(await examine()).toEqual([counted]);
  const [folder = ""] = await installed(home);
  await rm(join(installsOf(home), folder, "node_modules"), { recursive: true });
  expect(await examine()).toEqual([counted, ["warning", `${NAME} (1.0.0) is damaged`]]);
});

describe("plugboard update", () => {
  it("MG-1 installs the newest version that the entry allows while calls are answered", async () => {
    const { hub, home, client } = await opened({
      told: npx(NAME),
      same: npx(NAME),
      range: npx(`${NAME}@^1.0.0`),
      exact: npx(`${NAME}@1.0.0`),
    });
    registry.publish({ name: NAME, version: "1.1.0" });
    registry.publish({ name: NAME, version: "2.0.0" });
    const before = (await client.servers.get("told")).package?.folder ?? "";
    const over = new AbortController();
    const versions = new Set<string>();
    const calling = (async () => {
      while (!over.signal.aborted) versions.add((await about(hub, "told")).version);
    })();
    const update = await client.servers.updatePackage("told");
    over.abort();
    await calling;
    expect(update).toMatchObject({
      changed: true,
      from: "1.0.0",
      to: "2.0.0",
      restarted: ["told", "same"],
      server: { status: "running", package: { version: "2.0.0", spec: NAME } },
    });
    expect([...versions].filter((version) => version !== "1.0.0" && version !== "2.0.0")).toEqual([]);
    expect((await about(hub, "same")).version).toBe("2.0.0");
    expect((await about(hub, "range")).version).toBe("1.0.0");
    expect(await client.servers.updatePackage("range")).toMatchObject({
      from: "1.0.0",
      to: "1.1.0",
      restarted: ["range"],
    });
    expect(await client.servers.updatePackage("exact")).toMatchObject({ changed: false, to: "1.0.0", restarted: [] });
    expect(await client.servers.updatePackage("told")).toMatchObject({ changed: false, to: "2.0.0", restarted: [] });
    // Unused installs are removed: 2.0.0, 1.1.0 and the pinned 1.0.0 are left.
    expect((await installed(home)).map((name) => join(installsOf(home), name))).not.toContain(before);
    expect(await installed(home)).toHaveLength(3);
  });

  it("rolls back if the new version does not start", async () => {
    const { hub, home, client } = await opened({ told: npx(NAME) });
    const files = { "server.js": 'console.error("broken release"); process.exit(3);' };
    registry.publish({ name: NAME, version: "1.1.0", files });
    await expect(client.servers.updatePackage("told")).rejects.toMatchObject({
      kind: "ProcessSpawnFailed",
      message: "Version 1.1.0 of told does not start; using 1.0.0 again",
    });
    expect(await untilState(hub, "told", "running", "error")).toMatchObject({ state: "running" });
    expect((await about(hub, "told")).version).toBe("1.0.0");
    await hub.stop();
    const next = await reopen(home);
    await next.start();
    expect((await about(next, "told")).version).toBe("1.0.0");
    await expect.poll(() => installed(home)).toHaveLength(1);
  });

  it("fails without a registry, and nothing changes", async () => {
    const { hub, home, client } = await opened({ told: npx(NAME) });
    const { pid } = hub.supervisor.get("told");
    await cutOff();
    await expect(client.servers.updatePackage("told")).rejects.toMatchObject({ kind: "ConnectionFailed" });
    expect(hub.supervisor.get("told").pid).toBe(pid);
    expect(await installed(home)).toHaveLength(1);
  });

  it("a stop of the hub during the update leaves nothing behind", async () => {
    const { hub, home, client } = await opened({ told: npx(NAME) });
    registry.publish({ name: NAME, version: "1.1.0" });
    registry.holding = true;
    const held = registry.held();
    const update = client.servers.updatePackage("told").catch((error: unknown) => error);
    await held;
    await hub.stop();
    if (seesTags) expect(processesWithMark(home.mark)).toEqual([]);
    expect(await installed(home)).toHaveLength(1);
    await update;
  });

  it("MG-1 prints what it did, with and without a hub", async () => {
    const home = await makeHome({
      told: npx(NAME),
      other: npx(`${NAME}@1.0.0`),
      off: { ...npx(NAME), enabled: false },
    });
    onTestFinished(() => home.remove());
    const run = (...args: string[]) => plugboard(home, args, { env: variables });
    expect(await run("update")).toMatchObject({ code: 0, stdout: "", stderr: "The hub has installed no packages\n" });
    expect(await run("update", "told")).toMatchObject({ code: 0, stdout: "Updated told to 1.0.0\n" });
    registry.publish({ name: NAME, version: "1.1.0" });
    const hub = await startHub(home, { env: variables });
    onTestFinished(() => hub.kill());
    expect((await run("get", "told")).stdout).toMatch(/^ {2}package +@plugboard-test\/told 1\.0\.0, installed \d{4}-/m);
    const listed: unknown = JSON.parse((await run("ls", "--json")).stdout);
    expect(listed).toMatchObject([{ name: "told", package: { version: "1.0.0" } }, { name: "other" }, { name: "off" }]);
    const { code, stdout } = await run("update");
    expect(code).toBe(0);
    expect(stdout).toBe("Updated told from 1.0.0 to 1.1.0, restarted told\nother is at 1.0.0\noff is at 1.1.0\n");
    expect(JSON.parse((await run("update", "told", "--json")).stdout)).toMatchObject({ changed: false, to: "1.1.0" });
    await cutOff();
    const failed = await run("update");
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain("warning: told: The package registry cannot be reached");
    expect(await hub.stop()).toBe(0);
  });
});

describe("CF-7 a change of the config while the hub runs", () => {
  it("installs the package of the changed entry; other servers keep their process", async () => {
    registry.publish({ name: NAME, version: "1.1.0" });
    const { hub, home, client } = await opened({ told: npx(`${NAME}@1.0.0`), other: npx(NAME) });
    const { pid } = hub.supervisor.get("other");
    await client.servers.patch("told", { args: ["-y", `${NAME}@1.1.0`] });
    await untilState(hub, "told", "running");
    expect((await about(hub, "told")).version).toBe("1.1.0");
    expect(hub.supervisor.get("other").pid).toBe(pid);
    await client.servers.patch("told", { npm: "npx" });
    await untilState(hub, "told", "running");
    expect(hub.supervisor.get("told").package).toBeUndefined();
    expect(hub.supervisor.get("other").pid).toBe(pid);
    expect((await client.servers.get("told")).config.npm).toBe("npx");
    expect(await installed(home)).toHaveLength(3);
  });

  it("an unused package is removed by a later start, unless another config uses it", async () => {
    const { hub, home } = await opened({ told: npx(NAME) });
    await hub.stop();
    const specs = join(home.dir, "data/packages/specs");
    const [name = ""] = await readdir(specs);
    const path = join(specs, name);
    const record = JSON.parse(await readFile(path, "utf8")) as { installed_at: string; owners: string[] };
    const other = join(home.dir, "other-config");
    await mkdir(other);
    // Installed long ago, and also used by another hub.
    await writeFile(
      path,
      JSON.stringify({ ...record, installed_at: "2020-01-01T00:00:00Z", owners: [...record.owners, other] }),
    );
    await writeFile(join(home.dir, "config/mcp_server.json"), '{"mcpServers": {}}');
    const kept = await reopen(home);
    await kept.start();
    await kept.stop();
    expect(await installed(home)).toHaveLength(1);
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ owners: [other] });
    await rm(other, { recursive: true });
    const last = await reopen(home);
    await last.start();
    await last.stop();
    expect(await installed(home)).toEqual([]);
    expect(await readdir(specs)).toEqual([]);
  });
});
