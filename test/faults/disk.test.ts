// F32 to F39: faults of the disk and of the files on it. Full disks are real file systems if the test may mount them; otherwise a
// file size limit takes their place.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "@plugboard/shared/sqlite/driver";
import { fixture, makeHome, plugboard, startHub, type Home } from "../support/hub.ts";
import { seesTags } from "../support/processes.ts";
import { FaultHub, OTHER } from "./fault-hub.ts";
import { checkAfter, takeBaseline } from "./post-conditions.ts";
import { family, requireSeen } from "./rows.ts";

const run = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
const canMount = process.getuid?.() === 0 && run("unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt");
const canLimit = run("prlimit", "--version");
const canTrace = run("strace", "-o", "/dev/null", "true");

const serverFile = (hub: FaultHub) => join(hub.home.dir, "config/mcp_server.json");
const degraded = async (hub: FaultHub): Promise<string[]> => (await hub.api("/status")).json.degraded;

/** Writes until the disk is full. Returns a function that frees the space. */
function fill(folder: string): () => void {
  const path = join(folder, "ballast");
  for (let size = 1 << 20; size >= 1; size = size >> 1) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(size), { flag: "a" });
    } catch {
      // No room for a block of this size.
    }
  }
  return () => rmSync(path);
}

/** Runs a hub one of whose folders is a separate disk of two megabytes. */
async function withDisk(folder: string, use: (hub: FaultHub, disk: string) => Promise<void>): Promise<void> {
  const home = await makeHome(undefined);
  const disk = join(home.dir, folder);
  await mkdir(disk, { recursive: true });
  expect(run("mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "none", disk)).toBe(true);
  try {
    const config = join(home.dir, "config/mcp_server.json");
    const [mark = "", value = ""] = home.mark.split("=");
    writeFileSync(config, JSON.stringify({ mcpServers: { [OTHER]: { ...fixture("echo"), env: { [mark]: value } } } }));
    const hub = await FaultHub.open({ home });
    const before = await takeBaseline(hub);
    try {
      await use(hub, disk);
      await checkAfter(hub, before);
    } finally {
      hub.events.close();
      await hub.running.stop();
    }
  } finally {
    run("umount", "-l", disk);
    await home.remove();
  }
}

describe.runIf(canMount && seesTags)("a full disk", () => {
  it("F32 a config that cannot be saved is an error; the old one stays in force and on disk", async () => {
    await withDisk("config", async (hub, disk) => {
      const before = readFileSync(serverFile(hub), "utf8");
      const makeRoom = fill(disk);
      const description = "x".repeat(1000);
      for (let n = 0; n < 5; n++) {
        const body = { name: `new${n}`, ...fixture("echo"), description };
        const { status, json } = await hub.api("/servers", { method: "POST", body });
        expect(status).toBe(503);
        expect(json).toMatchObject({ code: "SERVICE_UNAVAILABLE", kind: "DiskFull" });
        expect(json.message).toContain("disk is full");
        expect(json.message).toContain(disk);
      }
      expect(readFileSync(serverFile(hub), "utf8")).toBe(before);
      expect((await hub.api("/servers")).json).toHaveLength(1);
      expect((await hub.call(OTHER, "echo", { id: "still" })).text).toBe("still");
      makeRoom();
      const { status } = await hub.api("/servers", { method: "POST", body: { name: "new", ...fixture("echo") } });
      expect(status).toBe(201);
      expect(readdirSync(disk).filter((name) => !/^(mcp_server|group)\.json$/.test(name))).toEqual([]);
      await hub.api("/servers/new", { method: "DELETE" });
    });
  });

  it("F33 RS-4 calls that cannot be recorded continue, a warning is shown, and they are recorded when there is room", async () => {
    await withDisk("data", async (hub, disk) => {
      const makeRoom = fill(disk);
      // More than the free pages of the database can hold.
      const args = { text: "y".repeat(20_000) };
      await hub.until(async () => {
        expect((await hub.call(OTHER, "echo", { args })).text).toBe(args.text);
        return (await degraded(hub)).length > 0;
      }, 60_000);
      expect((await degraded(hub))[0]).toContain("call log");
      expect((await hub.api("/status")).status).toBe(200);
      makeRoom();
      await hub.until(async () => (await degraded(hub)).length === 0);
      // checkAfter requires the row of every call, including those made while the disk was full.
    });
  });
});

family("a hub that cannot write files", ({ hub }) => {
  const limit = (bytes: string) => expect(run("prlimit", "--pid", String(hub().pid), `--fsize=${bytes}:`)).toBe(true);

  it.runIf(canLimit)("F34 calls continue, edits are refused, and everything recovers", async () => {
    const before = readFileSync(serverFile(hub()), "utf8");
    limit("0");
    // More lines than the buffer of the log file holds.
    const calls = Array.from({ length: 200 }, (_, n) => hub().call(OTHER, "echo", { id: `${n}` }));
    for (const [n, call] of calls.entries()) expect((await call).text).toBe(`${n}`);
    const { status } = await hub().api("/servers", { method: "POST", body: { name: "new", ...fixture("echo") } });
    expect(status).toBeGreaterThanOrEqual(500);
    expect(readFileSync(serverFile(hub()), "utf8")).toBe(before);
    limit("unlimited");
    await hub().until(async () => (await degraded(hub())).length === 0);
    expect((await hub().call(OTHER, "echo", { id: "again" })).text).toBe("again");
  });
});

family("files changed by others", ({ hub }) => {
  it("F35 the call log is locked by another program: calls are answered, and recorded when it is free", async () => {
    const database = await connect(join(hub().home.dir, "data/calls.db"));
    database.exec("BEGIN IMMEDIATE");
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, n) => hub().call(OTHER, "echo", { id: `${n}` })));
    expect(outcomes.map(({ text }) => text)).toEqual(outcomes.map((_, n) => `${n}`));
    await hub().until(async () => (await degraded(hub())).length > 0);
    expect((await hub().call(OTHER, "echo", { id: "still locked" })).text).toBe("still locked");
    database.exec("COMMIT");
    await database.close();
    await hub().until(async () => (await degraded(hub())).length === 0);
  });

  it("F36 a call log that is removed while in use is created again", async () => {
    for (const name of readdirSync(join(hub().home.dir, "data"))) {
      if (name.startsWith("calls.")) rmSync(join(hub().home.dir, "data", name), { recursive: true });
    }
    await hub().until(async () => {
      const { text, workflow } = await hub().call(OTHER, "echo", { id: "into the new one" });
      expect(text).toBe("into the new one");
      const found = (await hub().api(`/calls?workflow_id=${workflow}`)).json.items?.length === 1;
      // Earlier rows may be lost with the file.
      if (!found) hub().outcomes.splice(0);
      return found && existsSync(join(hub().home.dir, "data/calls.db"));
    });
  });

  it("F37 an invalid config is refused, and the next valid one is loaded", async () => {
    const path = serverFile(hub());
    const good = readFileSync(path, "utf8");
    const pid = (await hub().server(OTHER)).pid;
    const bad: [what: string, text: string][] = [
      ["half", good.slice(0, good.length >> 1)],
      ["a list", "[]"],
      ["no JSON", "mcpServers: {}"],
      ["no text", "\u0000\u0001\u0002"],
      ["too large", JSON.stringify({ mcpServers: {}, pad: "x".repeat(5 << 20) })],
      ["servers that are a list", JSON.stringify({ mcpServers: [7] })],
    ];
    for (const [what, text] of bad) {
      const seen = hub().events.messages.all.length;
      writeFileSync(path, text);
      await hub().until(() =>
        hub()
          .events.messages.all.slice(seen)
          .some((event) => event.error?.code === "VALIDATION_ERROR"),
      );
      expect([what, (await hub().server(OTHER)).pid]).toEqual([what, pid]);
      expect((await hub().call(OTHER, "echo", { id: what })).text).toBe(what);
    }
    const described = JSON.parse(good);
    described.mcpServers[OTHER].description = "taken again";
    // An editor's save: write to a new file, then rename it.
    writeFileSync(`${path}.new`, JSON.stringify(described));
    renameSync(`${path}.new`, path);
    await hub().until(async () => (await hub().server(OTHER)).config.description === "taken again");
    expect((await hub().server(OTHER)).pid).toBe(pid);
  });

  it("F38 100 saves in a row while calls run: nothing restarts, no call fails", async () => {
    const path = serverFile(hub());
    const { name, up } = await hub().add({});
    const pids = [(await hub().server(OTHER)).pid, (await hub().server(name)).pid];
    const saved = JSON.parse(readFileSync(path, "utf8"));
    const calls = Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let n = 0; n < 25; n++) requireSeen(await hub().call(name, "act", { id: `${n}` }), "answer", `${n}`);
      }),
    );
    for (let n = 0; n < 100; n++) {
      saved.mcpServers[OTHER].description = `save ${n}`;
      writeFileSync(`${path}.new`, JSON.stringify(saved));
      renameSync(`${path}.new`, path);
      await new Promise(setImmediate);
    }
    await calls;
    await hub().until(async () => (await hub().server(OTHER)).config.description === "save 99");
    expect([(await hub().server(OTHER)).pid, (await hub().server(name)).pid]).toEqual(pids);
    expect(up.count("start")).toBe(1);
    expect(up.ran()).toBe(100);
  });

  it("F39 of two concurrent writers one wins and the other gets CONFLICT", async () => {
    const { headers } = await hub().api("/servers");
    const etag = String(headers["etag"]);
    const add = (name: string) =>
      hub().api("/servers", {
        method: "POST",
        headers: { "if-match": etag },
        body: { name, ...fixture("echo"), enabled: false },
      });
    const answers = await Promise.all(["a", "b", "c", "d"].map(add));
    const statuses = answers.map(({ status }) => status).toSorted((x, y) => x - y);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409 || status === 412)).toHaveLength(3);
    for (const name of ["a", "b", "c", "d"]) await hub().api(`/servers/${name}`, { method: "DELETE" });
  });
});

describe.runIf(canTrace && seesTags)("failing system calls", () => {
  it.each([
    ["fsync", "fsync,fdatasync:error=EIO"],
    ["rename", "rename,renameat,renameat2:error=EIO"],
    ["rename for want of room", "rename,renameat,renameat2:error=ENOSPC"],
  ])("F34 %s fails during a save: the old config is intact, and the caller gets the error", async (_, fault) => {
    const home = await makeHome({ [OTHER]: fixture("echo") });
    const path = join(home.dir, "config/mcp_server.json");
    // The fault begins while the hub runs.
    const hub = await FaultHub.open({ home });
    const calls = fault.split(":")[0];
    const strace = spawn("strace", [
      "-f",
      "-qq",
      "-o",
      "/dev/null",
      "-e",
      `trace=${calls}`,
      "-e",
      `inject=${fault}`,
      "-p",
      String(hub.pid),
    ]);
    const detached = new Promise((resolve) => strace.once("exit", resolve));
    try {
      // strace is attached once a save fails; earlier saves succeed.
      let tries = 0;
      await hub.until(async () => {
        const body = { name: `probe${++tries}`, ...fixture("echo"), enabled: false };
        return (await hub.api("/servers", { method: "POST", body })).status >= 500;
      });
      const text = readFileSync(path, "utf8");
      expect(Object.keys(JSON.parse(text).mcpServers)).toContain(OTHER);
      expect((await hub.call(OTHER, "echo", { id: "still" })).text).toBe("still");
    } finally {
      strace.kill("SIGTERM");
      await detached;
      expect(await hub.end()).toBe(0);
    }
  });
});

describe.runIf(seesTags)("a database that is damaged before the hub starts", () => {
  /** A home with a call log and secrets of an earlier hub. */
  let before: Home;

  beforeAll(async () => {
    before = await withSecret(await makeHome({ [OTHER]: fixture("echo") }));
    const first = await startHub(before);
    await first.stop();
  });

  afterAll(() => before?.remove());

  it.each<[what: string, damage: (bytes: Buffer) => Buffer]>([
    ["of zero length", () => Buffer.alloc(0)],
    ["cut off", (bytes) => bytes.subarray(0, 5000)],
    ["full of nothing", (bytes) => Buffer.alloc(bytes.length)],
    [
      "with a page of noise",
      (bytes) => Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(4096, 0xa5), bytes.subarray(8192)]),
    ],
    ["that is no database", () => Buffer.from("this is a letter to my mother\n".repeat(500))],
  ])("F36 %s: the hub starts, config and secrets are intact, calls are recorded", async (_, damage) => {
    const home = await makeHome({ [OTHER]: { ...fixture("echo"), env: { KEY: { secretRef: "mine" } } } });
    await cp(join(before.dir, "data"), join(home.dir, "data"), { recursive: true });
    const path = join(home.dir, "data/calls.db");
    const whole = existsSync(path) ? readFileSync(path) : Buffer.alloc(16_384);
    for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
    writeFileSync(path, damage(whole));
    const config = readFileSync(join(home.dir, "config/mcp_server.json"));
    const hub = await FaultHub.open({ home });
    try {
      // The hub may find the damage only now, and lose rows that it has recorded before.
      await hub.until(async () => {
        const { workflow, text } = await hub.call(OTHER, "echo", { id: "recorded" });
        expect(text).toBe("recorded");
        return (await hub.api(`/calls?workflow_id=${workflow}`)).json.items?.length === 1;
      });
      await hub.until(async () => (await degraded(hub)).length === 0);
      expect(readFileSync(join(home.dir, "config/mcp_server.json"))).toEqual(config);
    } finally {
      expect(await hub.end()).toBe(0);
    }
  });
});

/** Stores the secret that the config refers to. */
async function withSecret(home: Home): Promise<Home> {
  const { code, stderr } = await plugboard(home, ["secret", "set", "mine"], { stdin: "a value of mine\n" });
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return home;
}
