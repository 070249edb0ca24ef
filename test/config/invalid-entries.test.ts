// An invalid entry of a config file: it is listed with the reason, can be repaired or removed, and does not affect other entries,
// at the start and while the hub runs. If a file cannot be read, the last valid config stays in force.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tokenOf } from "../support/client.ts";
import { failing, fixture, makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { http } from "../support/rpc.ts";

let home: Home;
let hub: RunningHub;
let token: string;
let serverFile: string;
let groupFile: string;

const SERVERS = {
  good: fixture("echo"),
  "My Server": fixture("echo"),
  proxied: { ...fixture("echo"), env: { http_proxy: "http://127.0.0.1:9" } },
  sourced: { ...fixture("echo"), source: { Manual: null } },
  broken: { command: "node", args: "fx.js" },
  other: { command: "node", env: { "not-a-name": "x" } },
};
const GROUPS = { ok: { servers: ["good", "ghost"] }, inv: { servers: "good" }, "bad group!": { servers: [] } };

beforeAll(async () => {
  home = await makeHome(SERVERS, GROUPS);
  hub = await startHub(home);
  const { config } = JSON.parse((await plugboard(home, ["config", "path", "--json"])).stdout);
  serverFile = join(config, "mcp_server.json");
  groupFile = join(config, "group.json");
  token = await tokenOf(home);
}, 60_000);

afterAll(async () => {
  await hub.stop();
  expect(processesWithMark(home.mark)).toEqual([]);
  await home.remove();
});

// eslint-disable-next-line typescript/no-explicit-any -- answers of any form
async function ask(path: string, method = "GET", body?: unknown): Promise<{ status: number; json: any }> {
  const answer = await http(`${hub.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: answer.body === "" ? undefined : JSON.parse(answer.body) };
}

const stateOf = async (name: string) => (await ask(`/servers/${encodeURIComponent(name)}`)).json.status;
const logLines = async () => {
  const { state } = JSON.parse((await plugboard(home, ["config", "path", "--json"])).stdout);
  const text = await readFile(join(state, "log.jsonl"), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
};

describe("invalid entries at the start", () => {
  it("CF-8 valid servers run, and the API shows invalid ones as errors with their reason", async () => {
    const { json } = await ask("/servers");
    const states = json.map(({ config, status }: { config: { name: string }; status: string }) => [
      config.name,
      status,
    ]);
    expect(states).toEqual([
      ["good", "running"],
      ["My-Server", "running"],
      ["proxied", "running"],
      ["sourced", "running"],
      ["broken", "error"],
      ["other", "error"],
    ]);
    expect((await ask("/servers/broken")).json.error).toMatchObject({
      code: "VALIDATION_ERROR",
      field: "mcpServers.broken.args",
      message: 'Server "broken": args must be a list',
      hint: expect.stringContaining("plugboard edit broken"),
    });
    expect((await ask("/servers/My%20Server")).json.config.name).toBe("My-Server");
    expect((await ask("/status")).json.servers).toMatchObject({ running: 4, error: 2 });
  });

  it("CF-8 invalid groups are shown as errors with their reason, and the others are served", async () => {
    const { json } = await ask("/groups");
    expect(json).toMatchObject([
      { name: "ok", error: null, servers: ["good", "ghost"], unknown_servers: ["ghost"] },
      { name: "default", error: null },
      { name: "inv", declared: true, error: { message: 'Group "inv": servers must be a list' } },
      { name: "bad group!", declared: true, error: { code: "VALIDATION_ERROR" } },
    ]);
    expect((await ask("/groups/inv")).json.error.field).toBe("inv.servers");
    const { stdout } = await plugboard(home, ["group", "ls"]);
    expect(stdout).toContain('Group "inv": servers must be a list');
  });

  it("CF-8 ls, get and status show invalid entries", async () => {
    const [ls, get, status] = await Promise.all([
      plugboard(home, ["ls"]),
      plugboard(home, ["get", "broken"]),
      plugboard(home, ["status"]),
    ]);
    expect(ls.stdout).toMatch(/broken .*error .*args must be a list/);
    expect(ls.stdout).toContain("6 servers: 4 running, 2 need attention");
    expect(get.stdout).toMatch(/VALIDATION_ERROR mcpServers\.broken\.args: .*args must be a list/);
    expect(status.stdout).toMatch(/✖ broken .*args must be a list/);
    expect(status.stdout).toContain('Server "My Server" is named "My-Server" here');
    expect(status.stdout).toContain('Group "inv": servers must be a list. The group is ignored');
  });

  it("the structured log names omitted entries and unknown names in groups", async () => {
    await expect.poll(logLines).toContainEqual(
      expect.objectContaining({
        server: "broken",
        msg: "server failed",
        error: 'Server "broken": args must be a list',
      }),
    );
    const warnings = (await logLines()).filter(({ level }) => level === 40).map(({ msg }) => msg);
    expect(warnings).toContain('Group "ok" names the unknown server "ghost"');
    expect(warnings).toContain('Group "inv": servers must be a list. The group is ignored');
  });
});

describe("invalid entries in a running hub", () => {
  it("CF-8 an edit of other entries leaves the invalid ones unchanged", async () => {
    const before = JSON.parse(await readFile(serverFile, "utf8")).mcpServers;
    expect((await ask("/servers", "POST", { name: "new", ...fixture("echo") })).status).toBe(201);
    expect((await ask("/servers/My%20Server", "PATCH", { description: "d" })).status).toBe(200);
    expect((await ask("/servers/new", "DELETE")).status).toBe(204);
    const after = JSON.parse(await readFile(serverFile, "utf8")).mcpServers;
    expect(after).toEqual({ ...before, "My Server": { ...before["My Server"], description: "d" } });
    expect((await ask("/groups/ok", "PUT", (await ask("/groups/ok")).json)).status).toBe(400);
    const { servers, tools } = (await ask("/groups/ok")).json;
    expect((await ask("/groups/ok", "PUT", { servers, tools })).status).toBe(200);
    expect(JSON.parse(await readFile(groupFile, "utf8"))).toEqual({
      ...GROUPS,
      ok: { servers: ["good", "ghost"], tools: [] },
    });
  });

  it("CF-8 an invalid entry can be repaired or removed", async () => {
    const { args, ...rest } = fixture("echo");
    expect((await ask("/servers/broken", "PATCH", { args: 5 })).status).toBe(400);
    expect((await ask("/servers/broken/start", "POST")).json).toMatchObject({ code: "VALIDATION_ERROR" });
    expect((await ask("/servers/broken", "PATCH", { ...rest, args })).status).toBe(200);
    await expect.poll(() => stateOf("broken")).toBe("running");
    expect((await plugboard(home, ["rm", "other"])).code).toBe(0);
    expect((await ask("/groups/inv", "PUT", { servers: ["good"] })).status).toBe(200);
    expect((await plugboard(home, ["group", "rm", "bad group!"])).code).toBe(0);
    expect(Object.keys(JSON.parse(await readFile(groupFile, "utf8")))).toEqual(["ok", "inv"]);
    expect((await ask("/groups")).json.every(({ error }: { error: unknown }) => error === null)).toBe(true);
  });

  it("CF-9 a manual edit that makes an entry invalid ends only that server", async () => {
    const document = JSON.parse(await readFile(serverFile, "utf8"));
    const { pid } = (await ask("/servers/good")).json;
    document.mcpServers.broken = { command: 5 };
    await writeFile(serverFile, JSON.stringify(document));
    await expect.poll(() => stateOf("broken")).toBe("error");
    expect((await ask("/servers/good")).json.pid).toBe(pid);
  });

  it("CF-8 an unreadable file is reported everywhere until it is corrected", async () => {
    const whole = await readFile(serverFile, "utf8");
    await writeFile(serverFile, '{"mcpServers":{');
    const status = async () => (await ask("/status")).json;
    await expect.poll(async () => (await status()).config_error).not.toBeNull();
    expect((await status()).degraded[0]).toMatch(/config on disk is invalid.*line 1, column \d+/);
    const [ls, shown] = await Promise.all([plugboard(home, ["ls"]), plugboard(home, ["status", "--check"])]);
    expect(ls.stderr).toMatch(/config on disk is invalid/);
    expect(shown.stdout).toMatch(/✖ hub .*config on disk is invalid/);
    expect(shown.code).toBe(1);
    // The log is written in batches.
    const isLogged = async () =>
      (await logLines()).some(({ level, msg }) => level === 50 && msg.startsWith("config rejected"));
    await expect.poll(isLogged).toBe(true);
    expect(await stateOf("good")).toBe("running");
    await writeFile(serverFile, whole);
    await expect.poll(async () => (await status()).config_error).toBeNull();
    expect((await status()).degraded).toEqual([]);
  });

  it("CF-9 the log names changed groups, or reports that nothing changed", async () => {
    await writeFile(groupFile, JSON.stringify({ ok: { servers: ["good"] }, more: {} }));
    const changes = async () =>
      (await logLines()).filter(({ msg }) => msg === "config reloaded").map((line) => line.changes);
    await expect.poll(changes).toContain("added the group more; removed the group inv; changed the group ok");
    const { json } = await ask("/config/reload", "POST");
    expect(json).toMatchObject({ groups: false, description: "nothing" });
    await expect.poll(changes).toContain("nothing");
  });
});

it("the log has the reason why servers are down, and doctor asks the hub which servers run", async () => {
  const hungry = { ...fixture("echo"), env: { NEEDED: "${ONLY_THE_HUB_HAS_IT}" } };
  const fresh = await makeHome({
    hungry,
    unset: { ...fixture("echo"), env: { A: "${SET_NOWHERE}" } },
    nope: { command: "no-such-program-4711" },
    exits: failing(),
  });
  try {
    const running = await startHub(fresh, { env: { ONLY_THE_HUB_HAS_IT: "x" } });
    try {
      const { stdout } = await plugboard(fresh, ["doctor"]);
      expect(stdout).not.toContain("hungry");
      expect(stdout).toContain("SET_NOWHERE");
      let down: Record<string, Record<string, string>> = {};
      const readLog = async () => {
        const text = await readFile(join(fresh.dir, "state/log.jsonl"), "utf8");
        const lines = text.split("\n").filter((line) => line !== "");
        const failures = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "server failed");
        down = Object.fromEntries(failures.map((line) => [line.server, line]));
        return Object.keys(down).toSorted();
      };
      await expect.poll(readLog).toEqual(["exits", "nope", "unset"]); // the log is written in batches
      expect(down["unset"]).toMatchObject({ field: "env.A", detail: expect.stringContaining("SET_NOWHERE") });
      expect(JSON.stringify(down["nope"])).toContain("no-such-program-4711");
      expect(down["exits"]?.detail).toContain("no configuration found");
    } finally {
      await running.stop();
    }
  } finally {
    await fresh.remove();
  }
});

it("CF-8 a first start with an unreadable file fails with the position and the fix", async () => {
  const fresh = await makeHome({});
  try {
    const { config } = JSON.parse((await plugboard(fresh, ["config", "path", "--json"])).stdout);
    await writeFile(join(config, "mcp_server.json"), '{\n  "mcpServers": {\n');
    const { code, stderr } = await plugboard(fresh, ["start", "--port", "0"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/error: \/.*mcp_server\.json is not valid JSON: .* at line 3, column 1/);
    expect(stderr).toMatch(/note: +Fix it with plugboard doctor --fix/);
  } finally {
    await fresh.remove();
  }
});
