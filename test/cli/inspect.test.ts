// Commands that show servers, groups and the config: with a running hub, and `ls` and `tools` also without one.

import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { BROKEN, closeHub, ECHO, GROUPS, json, openHome, rows, run, SERVERS } from "../support/cli.ts";
import { fixture, makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";

describe("with a running hub", () => {
  let home: Home;
  let hub: RunningHub;
  beforeAll(async () => {
    home = await makeHome(SERVERS, GROUPS);
    hub = await startHub(home);
    return () => closeHub(hub);
  });

  it("MG-1 LC-1 ls shows the state of the hub and starts nothing", async () => {
    const before = processesWithMark(home.mark);
    const { code, stdout, stderr } = await plugboard(home, ["ls"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(rows(stdout)[0]).toEqual([
      "NAME",
      "KIND",
      "STATUS",
      "TOOLS",
      "CALLS 24h",
      "P50",
      "P95",
      "ERR",
      "UP",
      "GROUPS",
    ]);
    expect(stdout).toMatch(/^it +node +running +\d+ /m);
    expect(stdout).toMatch(
      /^broken +node +error +- .*exited with code 3 before the handshake: fatal: no configuration found$/m,
    );
    expect(stdout).toMatch(/^off +node +disabled +-/m);
    expect(stdout).toMatch(/^4 servers: 2 running, 1 needs attention, 1 disabled$/m);
    expect(processesWithMark(home.mark)).toEqual(before);
  });

  it("MG-1 ls --json has the documented shape", async () => {
    expect(await json(home, "ls")).toMatchObject([
      {
        id: "it",
        name: "it",
        enabled: true,
        config: { id: "it", name: "it", enabled: true, command: process.execPath, args: [expect.any(String)] },
        status: "running",
        tools: expect.arrayContaining([expect.objectContaining({ name: "echo", input_schema: expect.any(Object) })]),
        resources: [{ uri: "test://static", name: "static" }],
        kind: "binary",
        groups: ["desk", "default"],
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
      { name: "other", status: "running" },
      { name: "broken", status: "error", error: { kind: "ProcessSpawnFailed" } },
      { name: "off", status: "disabled", enabled: false },
    ]);
  });

  it("MG-1 get shows one server and the reason of its failure", async () => {
    const { stdout } = await plugboard(home, ["get", "broken"]);
    expect(stdout).toMatch(/^broken {2}error {2}since \d\d:\d\d:\d\d \(\d+s\)\n/);
    expect(stdout).toMatch(/^ {2}error {2,}SERVICE_UNAVAILABLE: The server exited with code 3/m);
    expect(stdout).toMatch(/^ {2}cause {2,}fatal: no configuration found$/m);
    const { stdout: good } = await plugboard(home, ["get", "it"]);
    expect(good).toMatch(/^ {2}about {2,}Echoes its arguments$/m);
    expect(good).toMatch(/^ {2}run {2,}\S+node \S+echo\.mjs$/m);
    expect(good).toMatch(/^ {2}pid {2,}\d+$/m);
    expect(good).toMatch(/^ {2}speaks {2,}MCP 2025-11-25$/m);
    expect(await json(home, "get", "it")).toMatchObject({
      config: { name: "it" },
      status: "running",
      pid: expect.any(Number),
    });
  });

  it.concurrent.each([
    ["get", "unknown"],
    ["rm", "unknown"],
    ["enable", "unknown"],
    ["disable", "unknown"],
    ["start", "unknown"],
    ["stop", "unknown"],
    ["restart", "unknown"],
    ["logs", "unknown"],
    ["stats", "unknown"],
    ["tools", "unknown"],
  ])("%s of an unknown server exits 6 and lists the servers", async (...args) => {
    const { code, stdout, stderr } = await plugboard(home, args);
    expect({ code, stdout }).toEqual({ code: 6, stdout: "" });
    expect(stderr).toMatch(
      /^error: There is no server "unknown"\n(?:.*\n)? {2}(?:fix|note): +.*it, other, broken, off/,
    );
  });

  it("status shows addresses, counts and problems; --check exits 1 if there are problems", async () => {
    const { code, stdout } = await plugboard(home, ["status"]);
    expect(code).toBe(0);
    expect(stdout).toContain(`MCP      ${hub.url}/mcp`);
    expect(stdout).toContain(`${hub.url}/groups/desk/mcp  2 tools`);
    expect(stdout).toContain("servers  4: 2 running, 1 needs attention, 1 disabled");
    expect(stdout).toMatch(/✖ broken +The server exited with code 3/);
    expect((await plugboard(home, ["status", "--check"])).code).toBe(1);
    expect(await json(home, "status")).toMatchObject({
      url: hub.url,
      pid: hub.process.pid,
      config: join(home.dir, "config"),
      servers: { total: 4, running: 2, error: 1, disabled: 1 },
      problems: [{ name: "broken" }],
    });
  });

  it("plugboard without arguments shows the status", async () => {
    expect((await plugboard(home, [])).stdout).toContain(`MCP      ${hub.url}/mcp`);
    expect(await json(home)).toMatchObject({ url: hub.url });
  });

  it("MG-1 GR-3 tools lists the tools of a server and of a group with their schemas", async () => {
    expect(rows((await plugboard(home, ["tools", "other"])).stdout).map(([name]) => name)).toEqual([
      "TOOL",
      "one()",
      "two()",
      "three()",
      expect.stringMatching(/^3 tools, ≈\d+ tokens/),
    ]);
    expect(rows((await plugboard(home, ["tools", "--group", "desk"])).stdout)).toEqual([
      ["TOOL", "TOKENS", "DESCRIPTION"],
      ["echo(text?: string)", expect.stringMatching(/^≈\d+$/), "The tool echo"],
      ["add(a?: number, b?: number)", expect.stringMatching(/^≈\d+$/), "The tool add"],
      [expect.stringMatching(/^2 tools, ≈\d+ tokens/)],
    ]);
    const { stdout } = await plugboard(home, ["tools", "--group", "desk", "--schema"]);
    expect(stdout).toMatch(/^add\n {2}The tool add\n {2}\{\n {4}"type": "object"/m);
    const tools = await json(home, "tools", "it");
    expect(tools[0]).toMatchObject({
      server: "it",
      tool: "echo",
      input_schema: { type: "object" },
      inputSchema: { type: "object" },
    });
    expect((await plugboard(home, ["tools", "--group", "nowhere"])).code).toBe(6);
    // A server that does not run is an error, not an empty list.
    const down = await plugboard(home, ["tools", "broken"]);
    expect(down).toMatchObject({ code: 4, stdout: "", stderr: expect.stringContaining("fix:   plugboard get broken") });
    expect(await plugboard(home, ["tools", "off"])).toMatchObject({
      stdout: "",
      stderr: expect.stringContaining("fix:   plugboard enable off"),
    });
  });

  it("group ls lists the groups, and group get shows one", async () => {
    const { stdout } = await plugboard(home, ["group", "ls"]);
    expect(stdout).toMatch(new RegExp(`^desk +2 +≈\\d+ +it +${hub.url}/groups/desk/mcp +For the desk$`, "m"));
    expect(stdout).toMatch(/^default +\d+ +≈[\d.k]+ +it other broken +/m);
    expect((await plugboard(home, ["group", "get", "desk"])).stdout).toMatch(/^ {2}tools {2,}echo add$/m);
    expect(await json(home, "group", "get", "desk")).toMatchObject({ name: "desk", exposed_tools: ["echo", "add"] });
    expect(await plugboard(home, ["group", "get", "nowhere"])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining("Groups: "),
    });
  });

  it("GR-1 a group hides its excluded tools, and a group without tools causes a warning", async () => {
    const add = (name: string, tools: string) =>
      plugboard(home, ["group", "add", name, "--servers", "it", "--tools", tools]);
    expect((await add("some", "it.*,!it.add")).stderr).toBe("");
    const { exposed_tools } = await json(home, "group", "get", "some");
    expect(exposed_tools).toContain("echo");
    expect(exposed_tools).not.toContain("add");
    expect((await add("none", "ehco")).stderr).toBe(
      "warning: The group none offers no tool: ehco. See: plugboard tools\n",
    );
    for (const name of ["some", "none"]) await plugboard(home, ["group", "rm", name]);
  });

  it("config path, show, validate and schema print their results", async () => {
    expect((await plugboard(home, ["config", "path"])).stdout).toBe(`${join(home.dir, "config")}\n`);
    expect(await json(home, "config", "path")).toMatchObject({
      data: join(home.dir, "data"),
      state: join(home.dir, "state"),
    });
    expect(await json(home, "config", "show")).toMatchObject({
      mcpServers: { it: { env: { LEVEL: "debug" } } },
      groups: GROUPS,
    });
    expect((await plugboard(home, ["config", "validate"])).stdout).toBe("Valid: 4 servers, 1 group\n");
    expect(await json(home, "config", "schema")).toMatchObject({
      type: "object",
      properties: { mcpServers: { type: "object" } },
    });
    expect(await json(home, "config", "schema", "groups")).toMatchObject({ type: "object" });
    expect((await plugboard(home, ["config", "schema", "cats"])).code).toBe(2);
  });

  it("version, open and doctor print their results", async () => {
    expect(await json(home, "version")).toEqual({ version: "0.1.0", node: process.version, hub: "0.1.0" });
    const { stdout: link } = await plugboard(home, ["open"]);
    expect(link.replace(/[\w-]{43}\n$/, "")).toBe(`${hub.url}/ui/#k=`);
    expect((await fetch(link.trim())).status).toBe(200);
    const { code, stdout } = await plugboard(home, ["doctor"]);
    expect(code).toBe(1);
    expect(stdout).toContain(`hub: running at ${hub.url}`);
    expect(stdout).toMatch(/✖ +broken: The server exited with code 3/);
    expect(stdout).toMatch(/^! +other: Tool #2 not listed: its name is a number \(and \d+ more warnings\)$/m);
    expect(stdout).toMatch(/^1 problem, 1 warning$/m);
  });
});

describe("ls without a hub", () => {
  const servers = { good: fixture("echo"), ...BROKEN, off: { ...fixture("echo"), enabled: false } };

  it("LC-1 shows the state of every server, and exits 0 even if one is broken", async () => {
    const { code, stdout, stderr } = await run(servers, ["ls"]);
    expect(code).toBe(0);
    expect(stderr).toBe("No hub is running: plugboard start\n");
    const [head, ...table] = rows(stdout);
    expect(head?.slice(0, 5)).toEqual(["NAME", "KIND", "STATUS", "TOOLS", "CALLS 24h"]);
    expect(table[0]?.slice(0, 3)).toEqual(["good", "node", "works (not running)"]);
    expect(table[1]?.slice(0, 3)).toEqual(["broken", "node", "error"]);
    expect(stdout).toContain("The server exited with code 3 before the handshake: fatal: no configuration found");
    expect(table[2]?.slice(0, 3)).toEqual(["off", "node", "disabled"]);
    expect(stdout).toContain("3 servers: 1 works, 1 needs attention, 1 disabled");
    // eslint-disable-next-line no-control-regex -- colours are for terminals
    expect(stdout).not.toMatch(/\u001b/);
  });

  it("--json prints the same data", async () => {
    const { code, stdout } = await run(servers, ["ls", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      {
        name: "good",
        enabled: true,
        hub_running: false,
        status: "running",
        groups: ["default"],
        protocol_version: "2025-11-25",
        error: null,
      },
      {
        name: "broken",
        status: "error",
        tools: [],
        error: { code: "SERVICE_UNAVAILABLE", kind: "ProcessSpawnFailed" },
      },
      { name: "off", enabled: false, status: "disabled", error: null },
    ]);
  });

  it.each([
    ["before", ["--json", "ls"]],
    ["after", ["list", "--json"]],
  ])("global options are accepted %s the command", async (_, args) => {
    const { stdout } = await run(ECHO, args);
    expect(JSON.parse(stdout)).toMatchObject([{ name: "it" }]);
  });

  it.each(["before", "after"])("CF-3 --config %s the command selects the config folder", async (where) => {
    const other = await openHome({ onTestFinished }, ECHO);
    const option = ["--config", join(other.dir, "config")];
    const home = await openHome({ onTestFinished }, { wrong: { command: "/none" } });
    const { stdout } = await plugboard(home, where === "before" ? [...option, "ls"] : ["ls", ...option]);
    expect(stdout).toContain("it ");
    expect(stdout).not.toContain("wrong");
  });

  it("CF-3 an empty map of servers is valid", async () => {
    const { code, stdout } = await run({}, ["ls"]);
    expect(code).toBe(0);
    expect(stdout).toContain("No servers");
  });
});

describe("tools without a hub", () => {
  it("lists the tools of all servers, of one, and of a group", async () => {
    const home = await openHome(
      { onTestFinished },
      { a: fixture("echo"), b: fixture("paged") },
      { few: { servers: ["b"], tools: ["two"] } },
    );
    const names = async (...args: string[]) =>
      (await plugboard(home, ["tools", ...args])).stdout
        .trim()
        .split("\n")
        .slice(1, -1)
        .map((line) => line.split("(")[0]);
    expect(await names()).toEqual(expect.arrayContaining(["a__echo", "b__one"]));
    expect(await names("b")).toEqual(["one", "two", "three"]);
    expect(await names("b", "--group", "default")).toEqual(["b__one", "b__two", "b__three"]);
    expect(await names("--group", "few")).toEqual(["two"]);
  });

  it("--json includes the schemas", async () => {
    const { stdout } = await run(ECHO, ["tools", "--json"]);
    const tools: { name: string }[] = JSON.parse(stdout);
    expect(tools.find(({ name }) => name === "add")).toMatchObject({
      server: "it",
      inputSchema: { properties: { a: { type: "number" } } },
    });
  });

  it("LC-7 a broken server is omitted, and the others are listed", async () => {
    const { code, stdout } = await run({ ...ECHO, ...BROKEN }, ["tools"]);
    expect(code).toBe(0);
    expect(stdout).toContain("it__echo");
  });
});
