// Changes of the config while the hub runs: manual edits of the files, and edits through the hub.

import { readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hubPaths } from "../../hub/src/config/files/paths.ts";
import { Hub } from "../../hub/src/hub/hub.ts";
import { fixture, makeHome, type Home } from "../support/hub.ts";
import { callText } from "../support/in-process.ts";
import { processesWithMark } from "../support/processes.ts";

describe("a running hub", () => {
  let home: Home;
  let hub: Hub;
  let serverFile: string;
  let groupFile: string;

  beforeEach(async () => {
    home = await makeHome({ one: fixture("echo"), two: fixture("echo") });
    const paths = hubPaths({ env: home.env, platform: process.platform, home: homedir() });
    serverFile = join(paths.config, "mcp_server.json");
    groupFile = join(paths.config, "group.json");
    hub = await Hub.open({ paths, variables: home.env });
    await hub.start();
  });

  afterEach(async () => {
    await hub.stop();
    expect(processesWithMark(home.mark)).toEqual([]);
    await home.remove();
  });

  const entries = async () => JSON.parse(await readFile(serverFile, "utf8")).mcpServers;
  const save = async (servers: unknown) => writeFile(serverFile, JSON.stringify({ mcpServers: servers }));
  const pidOf = (name: string) => hub.supervisor.get(name).pid;
  const running = async (name: string) => {
    await expect.poll(() => hub.supervisor.get(name).status.state).toBe("running");
  };

  it("CF-9 restarts only the servers that an edit changes", async () => {
    const pid = pidOf("one");
    const { one, two } = await entries();
    await save({ one, two: { ...two, env: { ...two.env, NEW: "1" } }, three: one });
    const changes = await hub.configuration.reload();
    expect(changes.added.map(({ name }) => name)).toEqual(["three"]);
    expect(changes.restarted.map(({ name }) => name)).toEqual(["two"]);
    const oldTwo = pidOf("two");
    await running("two");
    await running("three");
    expect(pidOf("one")).toBe(pid);
    expect(pidOf("two")).not.toBe(oldTwo);
    expect(hub.catalog.group().tools.some(({ server }) => server === "three")).toBe(true);
  });

  it("CF-9 detects a saved file and reports the changes", async () => {
    await hub.configuration.watch();
    const reloaded = new Promise<string>((resolve) =>
      hub.events.once("config.reloaded", ({ description }) => resolve(description)),
    );
    const { one } = await entries();
    await save({ one });
    expect(await reloaded).toBe("removed two");
    expect(() => hub.supervisor.get("two")).toThrow(/no server "two"/);
  });

  it("CF-9 keeps all processes if only a description or a group changes", async () => {
    const pids = [pidOf("one"), pidOf("two")];
    const { one, two } = await entries();
    await save({ one: { ...one, description: "the first" }, two });
    await writeFile(groupFile, JSON.stringify({ work: { servers: ["two"] } }));
    const changes = await hub.configuration.reload();
    expect(changes).toMatchObject({ restarted: [], groups: true, updated: [{ name: "one" }] });
    expect([pidOf("one"), pidOf("two")]).toEqual(pids);
    expect(hub.catalog.group("work").tools.map(({ exposed }) => exposed)).toContain("echo");
  });

  it("CF-9 F37 keeps the last valid config if the file is truncated anywhere", async () => {
    const whole = await readFile(serverFile, "utf8");
    const pids = [pidOf("one"), pidOf("two")];
    const rejected: string[] = [];
    hub.events.on("config.rejected", ({ error }) => rejected.push(error.message));
    for (let length = 0; length < whole.length - 1; length += 7) {
      await writeFile(serverFile, whole.slice(0, length));
      await expect(hub.configuration.reload()).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    }
    expect(rejected.length).toBeGreaterThan(20);
    expect([pidOf("one"), pidOf("two")]).toEqual(pids);
    await writeFile(serverFile, whole);
    expect(await hub.configuration.reload()).toMatchObject({ added: [], removed: [], restarted: [] });
  });

  it("RS-4 F38 records a call that outlives a reload without the old secret", async () => {
    const { one } = await entries();
    const withKey = (key: string) => ({ ...one, env: { ...one.env, API_KEY: key } });
    await save({ one: withKey("old-s3cret-value") });
    await hub.configuration.reload();
    await running("one");
    const path = join(home.dir, "go");
    const waiting = callText(hub, "one", "wait_for_file", { path, name: "API_KEY" });
    await save({ one: withKey("new-s3cret-value") });
    await hub.configuration.reload();
    await running("one");
    await writeFile(path, "");
    expect(await waiting).toBe("old-s3cret-value");
    const { items } = await hub.callLog.query({ tool: "wait_for_file" });
    expect(items).toHaveLength(1);
    expect(JSON.stringify(items)).not.toContain("s3cret");
  });

  it("LC-5 leaves nothing running if it is stopped during a reload", async () => {
    const { one, two } = await entries();
    await save({ one: { ...one, env: { ...one.env, NEW: "1" } }, three: two });
    const reloaded = hub.configuration.reload();
    await Promise.all([hub.stop(), reloaded]);
    expect(processesWithMark(home.mark)).toEqual([]);
  });

  it("LC-8 disables a server again if enabling it fails, and returns the reason", async () => {
    await hub.configuration.createServer({ name: "bad", command: "no-such-command-here", enabled: false });
    await expect(hub.configuration.setEnabled("bad", true)).rejects.toMatchObject({ message: "Package not found" });
    expect((await entries()).bad.enabled).toBe(false);
    expect(hub.supervisor.get("bad").status).toEqual({ state: "disabled" });
  });

  it("LC-8 CF-4 disabling stops the process permanently, and enabling starts it", async () => {
    await hub.configuration.setEnabled("one", false);
    expect((await entries()).one.enabled).toBe(false);
    expect(hub.supervisor.get("one").status).toEqual({ state: "disabled" });
    await hub.configuration.setEnabled("one", true);
    expect(hub.supervisor.get("one").status.state).toBe("running");
    expect((await entries()).one.enabled).toBe(true);
  });

  it("CF-10 an edit through the hub keeps the comments of the file", async () => {
    const { one, two } = await entries();
    await writeFile(
      serverFile,
      `{\n  // mine\n  "mcpServers": {\n    "one": ${JSON.stringify(one)}, // keep\n    "two": ${JSON.stringify(two)},\n  },\n}\n`,
    );
    await hub.configuration.deleteServer("two");
    const text = await readFile(serverFile, "utf8");
    expect(text).toContain("// mine");
    expect(text).toContain("// keep");
    expect(text).not.toContain('"two"');
  });

  it("CF-10 F39 the second of two writers that read the same config gets CONFLICT and changes nothing", async () => {
    const { revision } = hub.configuration;
    await hub.configuration.setGroup("work", { servers: ["one"] }, { ifRevision: revision });
    const second = hub.configuration.setGroup("work", { servers: ["two"] }, { ifRevision: revision });
    await expect(second).rejects.toMatchObject({ code: "CONFLICT", kind: "Conflict" });
    expect(JSON.parse(await readFile(groupFile, "utf8"))).toEqual({ work: { servers: ["one"] } });
    await hub.configuration.deleteGroup("work");
    expect(JSON.parse(await readFile(groupFile, "utf8"))).toEqual({});
  });
});
