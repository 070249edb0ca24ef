// The commands while a hub runs: they talk to it over its API, change the same files, and show no secret. And the same
// commands without one: those that can do without it do, the others say how to start it.

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi, type TestContext } from "vitest";
import { HubClient } from "../../hub/src/api/client.ts";
import { readManagementToken } from "../../hub/src/auth/management-token.ts";
import {
  BIN,
  FIXTURES,
  failing,
  fixture,
  launch,
  makeHome,
  plugboard,
  startHub,
  type Finished,
  type Home,
  type RunningHub,
  type Servers,
} from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { modern } from "../support/rpc.ts";
import { noTerminal, onTerminal } from "../support/terminal.ts";

const ESC = "\u001b";
const SERVERS = {
  it: { ...fixture("echo"), description: "Echoes what it is told", env: { LEVEL: "debug" } },
  other: fixture("paged"),
  broken: failing(),
  off: { ...fixture("echo"), enabled: false },
};
const GROUPS = { work: { description: "For work", servers: ["it"], tools: ["echo", "add"] } };

const opened: { home: Home; hub: RunningHub | undefined }[] = [];

/** A home, with a hub that runs in it. */
async function withHub(servers: Servers = SERVERS, groups: unknown = GROUPS): Promise<{ home: Home; hub: RunningHub }> {
  const home = await makeHome(servers, groups);
  const hub = await startHub(home);
  opened.push({ home, hub });
  return { home, hub };
}

async function withoutHub(servers: Servers | undefined = SERVERS, groups: unknown = GROUPS): Promise<Home> {
  const home = await makeHome(servers, groups);
  opened.push({ home, hub: undefined });
  return home;
}

/** Those of a whole group of tests, or the one that a single test has opened. */
async function close(only?: Home): Promise<void> {
  const closing = opened.filter(({ home }) => only === undefined || home === only);
  for (const each of closing) opened.splice(opened.indexOf(each), 1);
  for (const { home, hub } of closing) {
    await hub?.stop();
    expect(processesWithMark(home.mark)).toEqual([]);
    await home.remove();
  }
}

const json = async (home: Home, ...args: string[]) => {
  const { code, stdout, stderr } = await plugboard(home, [...args, "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
};
const rows = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(/\s{2,}/));
const serverFile = (home: Home) => join(home.dir, "config/mcp_server.json");
const groupFile = (home: Home) => join(home.dir, "config/group.json");
const savedServers = async (home: Home) => JSON.parse(await readFile(serverFile(home), "utf8")).mcpServers;

describe("looking, with a hub that runs", () => {
  let home: Home;
  let hub: RunningHub;
  beforeAll(async () => {
    ({ home, hub } = await withHub());
  });
  afterAll(() => close());

  it("MG-1 LC-1 ls shows what the hub knows, and starts nothing", async () => {
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

  it("MG-1 ls --json has S4's shape", async () => {
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
        groups: ["default", "work"].toSorted((a, b) => (a === "work" ? -1 : b.length - a.length)),
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
      { name: "other", status: "running" },
      { name: "broken", status: "error", error: { kind: "ProcessSpawnFailed" } },
      { name: "off", status: "disabled", enabled: false },
    ]);
  });

  it("MG-1 get shows one server, with the reason of its failure", async () => {
    const { stdout } = await plugboard(home, ["get", "broken"]);
    expect(stdout).toMatch(/^broken {2}error {2}since \d\d:\d\d:\d\d \(\d+s\)\n/);
    expect(stdout).toMatch(/^ {2}error {2,}SERVICE_UNAVAILABLE: The server exited with code 3/m);
    expect(stdout).toMatch(/^ {2}cause {2,}fatal: no configuration found$/m);
    const { stdout: good } = await plugboard(home, ["get", "it"]);
    expect(good).toMatch(/^ {2}about {2,}Echoes what it is told$/m);
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
    ["get", "nobody"],
    ["rm", "nobody"],
    ["enable", "nobody"],
    ["disable", "nobody"],
    ["start", "nobody"],
    ["stop", "nobody"],
    ["restart", "nobody"],
    ["logs", "nobody"],
    ["stats", "nobody"],
    ["tools", "nobody"],
  ])("6: %s %s says which servers there are", async (...args) => {
    const { code, stdout, stderr } = await plugboard(home, args);
    expect({ code, stdout }).toEqual({ code: 6, stdout: "" });
    expect(stderr).toMatch(/^error: There is no server "nobody"\n(?:.*\n)? {2}(?:fix|note): +.*it, other, broken, off/);
  });

  it("status shows addresses, counts and problems; --check exits 1 for them", async () => {
    const { code, stdout } = await plugboard(home, ["status"]);
    expect(code).toBe(0);
    expect(stdout).toContain(`MCP      ${hub.url}/mcp`);
    expect(stdout).toContain(`${hub.url}/groups/work/mcp  2 tools`);
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

  it("plugboard alone is the status", async () => {
    expect((await plugboard(home, [])).stdout).toContain(`MCP      ${hub.url}/mcp`);
    expect(await json(home)).toMatchObject({ url: hub.url });
  });

  it("MG-1 GR-3 tools, of a server and of a group, with their schemas", async () => {
    expect(rows((await plugboard(home, ["tools", "other"])).stdout).map(([name]) => name)).toEqual([
      "TOOL",
      "one()",
      "two()",
      "three()",
      expect.stringMatching(/^3 tools, ≈\d+ tokens/),
    ]);
    expect(rows((await plugboard(home, ["tools", "--group", "work"])).stdout)).toEqual([
      ["TOOL", "DESCRIPTION"],
      ["echo(text?: string)", "The tool echo"],
      ["add(a?: number, b?: number)", "The tool add"],
      [expect.stringMatching(/^2 tools, ≈\d+ tokens/)],
    ]);
    const { stdout } = await plugboard(home, ["tools", "--group", "work", "--schema"]);
    expect(stdout).toMatch(/^add\n {2}The tool add\n {2}\{\n {4}"type": "object"/m);
    const tools = await json(home, "tools", "it");
    expect(tools[0]).toMatchObject({
      server: "it",
      tool: "echo",
      input_schema: { type: "object" },
      inputSchema: { type: "object" },
    });
    expect((await plugboard(home, ["tools", "--group", "nowhere"])).code).toBe(6);
    // One that does not run is not one that has none.
    const down = await plugboard(home, ["tools", "broken"]);
    expect(down).toMatchObject({ code: 4, stdout: "", stderr: expect.stringContaining("fix:   plugboard get broken") });
    expect(await plugboard(home, ["tools", "off"])).toMatchObject({
      stdout: "",
      stderr: expect.stringContaining("fix:   plugboard enable off"),
    });
  });

  it.concurrent.each([
    [["call", "it.add", "a=2", "b=3"], 0, "5\n"],
    [["call", "it:add", '{"a": 2, "b": 3}'], 0, "5\n"],
    [["call", "add", "a=2", "b=3"], 0, "5\n"],
    [["call", "it__add", "a=2", "b=3"], 0, "5\n"],
    [["call", "it.echo", "text=42"], 0, "42\n"],
    [["call", "echo", "text=x", "--group", "work"], 0, "x\n"],
    [["call", "it.echo", "text=x", "--group", "work"], 0, "x\n"],
    [["call", "it.fail"], 5, "it failed\n"],
  ])("MG-1 MC-T4 %j", async (args, code, stdout) => {
    expect(await plugboard(home, args)).toEqual({ code, stdout, stderr: "" });
  });

  it.concurrent.each([
    [5, ["call", "it.rpc_error"], /^error: The server answered with an error\n {2}cause: no such luck\n/],
    [6, ["call", "it.nothing"], /^error: Tool not found\n {2}cause: .*nothing/],
    [6, ["call", "nobody.echo"], /^error: Tool not found\n/],
    [6, ["call", "it.sleep", "ms=1", "--group", "work"], /^error: Tool not found\n/],
    [6, ["call", "it.echo", "--group", "nowhere"], /^error: Group not found\n/],
    [
      4,
      ["call", "broken.echo"],
      /^error: Server unavailable\n {2}cause: .*fatal: no conf.*\n {2}fix: +plugboard get broken\n/,
    ],
    [7, ["call", "off.echo"], /^error: Server "off" is disabled\n {2}fix: +plugboard enable off\n/],
    [2, ["call", "it.add", "a=x"], /^error: "x" is not a valid number\n {2}field: a\n/],
    [6, ["read", "test://nothing/at/all"], /^error: /],
    [6, ["prompt", "it.nothing"], /^error: Prompt not found\n/],
  ])("%d: plugboard %j", async (code, args, stderr) => {
    const finished = await plugboard(home, args);
    expect(finished.stderr).toMatch(stderr);
    expect(finished.stderr).toMatch(/^ {2}(?:fix|note): /m);
    expect(finished).toMatchObject({ code, stdout: "" });
  });

  it("RS-7 call --json is S4's result, also of a tool that failed", async () => {
    expect(await json(home, "call", "it.echo", "text=x")).toEqual({
      success: true,
      content: [{ type: "text", text: "x" }],
      outcome: "ok",
      duration_ms: expect.any(Number),
    });
    const { code, stdout } = await plugboard(home, ["call", "it.fail", "--json"]);
    expect(code).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject({
      success: false,
      content: [{ type: "text", text: "it failed" }],
      error: "it failed",
      code: "SERVICE_UNAVAILABLE",
    });
  });

  it("call reads JSON from stdin, where no other user sees it", async () => {
    const stdin = '{"text": "from stdin ✓"}';
    expect(await plugboard(home, ["call", "it.echo", "-"], { stdin })).toMatchObject({
      code: 0,
      stdout: "from stdin ✓\n",
    });
  });

  it("read and prompt", async () => {
    expect(await plugboard(home, ["read", "test://items/7"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("7"),
    });
    expect(await json(home, "read", "test://items/7")).toMatchObject({ contents: [{ uri: "test://items/7" }] });
    expect(await plugboard(home, ["prompt", "it.greet", "who=42"])).toMatchObject({
      code: 0,
      stdout: "user:\nGreet 42\n",
    });
    expect(await json(home, "prompt", "it:greet", '{"who": "Bo"}')).toMatchObject({ messages: [{ role: "user" }] });
    expect((await plugboard(home, ["prompt", "greet", "who=Bo", "--group", "work"])).stdout).toBe("user:\nGreet Bo\n");
  });

  it("MG-1 LC-9 test, of a saved server, of a command and of a broken one; nothing stays", async () => {
    const before = processesWithMark(home.mark);
    expect((await plugboard(home, ["test", "off"])).stdout).toMatch(
      /^✔ off: \d+ tools, 1 resource in \d+\.\ds\n {2}echo\n/,
    );
    const { command, args } = fixture("echo");
    expect((await plugboard(home, ["test", command, ...args])).stdout).toMatch(/^✔ echo: /);
    const { code, stderr } = await plugboard(home, ["test", "broken"]);
    expect(code).toBe(4);
    expect(stderr).toMatch(/^error: broken: The server exited with code 3.*\n {2}cause: fatal/);
    expect(await json(home, "test", "it")).toMatchObject({ success: true, latency_ms: expect.any(Number) });
    expect(processesWithMark(home.mark)).toEqual(before);
  });

  it("group ls and get", async () => {
    const { stdout } = await plugboard(home, ["group", "ls"]);
    expect(stdout).toMatch(new RegExp(`^work +2 +it +${hub.url}/groups/work/mcp +For work$`, "m"));
    expect(stdout).toMatch(/^default +\d+ +it other broken +/m);
    expect((await plugboard(home, ["group", "get", "work"])).stdout).toMatch(/^ {2}tools {2,}echo add$/m);
    expect(await json(home, "group", "get", "work")).toMatchObject({ name: "work", exposed_tools: ["echo", "add"] });
    expect(await plugboard(home, ["group", "get", "nowhere"])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining("Groups: "),
    });
  });

  it("GR-1 a group keeps out what it is told to, and one that offers nothing is warned about", async () => {
    const add = (name: string, tools: string) =>
      plugboard(home, ["group", "add", name, "--servers", "it", "--tools", tools]);
    expect((await add("some", "it.*,!it.add")).stderr).toBe("");
    const { exposed_tools } = await json(home, "group", "get", "some");
    expect(exposed_tools).toContain("echo");
    expect(exposed_tools).not.toContain("add");
    expect((await add("none", "ehco")).stderr).toBe(
      "warning: The group none offers no tool: ehco. See plugboard tools\n",
    );
    for (const name of ["some", "none"]) await plugboard(home, ["group", "rm", name]);
  });

  it("config path, show, validate and schema", async () => {
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

  it("version, open and doctor", async () => {
    expect(await json(home, "version")).toEqual({ version: "0.1.0", node: process.version, hub: "0.1.0" });
    expect((await plugboard(home, ["open"])).stdout).toBe(`${hub.url}/\n`);
    const { code, stdout } = await plugboard(home, ["doctor"]);
    expect(code).toBe(1);
    expect(stdout).toContain(`hub: running at ${hub.url}`);
    expect(stdout).toMatch(/✖ +broken: The server exited with code 3/);
    expect(stdout).toMatch(/^! +other: Tool #2 not listed: its name is a number \(and \d+ more warnings\)$/m);
    expect(stdout).toMatch(/^1 problem, 1 warning$/m);
  });

  it("RS-4 calls lists what was called, and filters it", async () => {
    await plugboard(home, ["call", "it.echo", "text=x"]);
    await plugboard(home, ["call", "it.fail"]);
    const { stdout } = await plugboard(home, ["calls"]);
    expect(rows(stdout)[0]).toEqual(["ID", "TIME", "SERVER", "TOOL", "GROUP", "CLIENT", "TOOK", "RESULT", "MESSAGE"]);
    expect(stdout).toMatch(/^ *\d+ +\d\d:\d\d:\d\d +it +echo .* ok$/m);
    const failed = await json(home, "calls", "--failed");
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.every(({ success }: { success: boolean }) => !success)).toBe(true);
    const echoes = await json(home, "calls", "--tool", "echo", "--server", "it", "--since", "1h", "-n", "1");
    expect(echoes).toMatchObject([
      { server_name: "it", tool_name: "echo", success: true, duration_ms: expect.any(Number) },
    ]);
    expect(await json(home, "calls", "--slow", "1h")).toEqual([]);
    expect(await json(home, "calls", "--server", "nobody")).toEqual([]);
    expect((await plugboard(home, ["calls", "--client", "nobody"])).stdout).toBe("No calls.\n");
    for (const wrong of [
      ["--since", "soon"],
      ["--slow", "1"],
      ["-n", "0"],
    ]) {
      expect(await plugboard(home, ["calls", ...wrong])).toMatchObject({ code: 2, stdout: "" });
    }
  });

  it("MG-1 RS-5 stats shows p50, p95 and p99", async () => {
    await plugboard(home, ["call", "it.echo", "text=x"]);
    const { stdout } = await plugboard(home, ["stats"]);
    expect(rows(stdout)[0]).toEqual(["SERVER", "CALLS", "ERRORS", "TOOL ERRORS", "P50", "P95", "P99"]);
    expect(stdout).toMatch(/^it +\d+ +\d+ +\d+ +[\d.]+m?s +[\d.]+m?s +[\d.]+m?s$/m);
    expect((await plugboard(home, ["stats", "it"])).stdout).toMatch(/^ {2}echo +\d+ +0 +/m);
    expect(await json(home, "stats", "it")).toMatchObject([
      {
        server_name: "it",
        p50_ms: expect.any(Number),
        p95_ms: expect.any(Number),
        p99_ms: expect.any(Number),
        total_calls: expect.any(Number),
      },
    ]);
  });

  it("logs shows what servers wrote", async () => {
    expect((await plugboard(home, ["logs", "broken"])).stdout).toMatch(/^(?:fatal: no configuration found\n)+$/);
    expect((await plugboard(home, ["logs", "broken", "-n", "1"])).stdout).toBe("fatal: no configuration found\n");
    expect((await plugboard(home, ["logs", "broken", "-n", "0"])).stdout).toBe("");
    expect((await plugboard(home, ["logs"])).stdout).toMatch(/^broken +fatal: no configuration found$/m);
    const { stdout } = await plugboard(home, ["logs", "--json", "broken", "it", "-n", "1"]);
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(JSON.parse(stdout)).toEqual({ server: "broken", line: "fatal: no configuration found", timestamp });
    expect((await plugboard(home, ["logs", "--tail", "many"])).code).toBe(2);
  });
});

// Each in a home of its own, and so at the same time.
describe.concurrent.each(["with", "without"])("changing the config, %s a hub that runs", (how) => {
  const open = async (
    { onTestFinished }: Pick<TestContext, "onTestFinished">,
    servers: Servers = { it: fixture("echo") },
    groups: unknown = {},
  ) => {
    const home = how === "with" ? (await withHub(servers, groups)).home : await withoutHub(servers, groups);
    onTestFinished(() => close(home));
    return home;
  };
  const { command, args } = fixture("echo");

  it("MG-1 CF-10 add tries a server out and saves it; the file keeps its comments", async (context) => {
    const home = await open(context);
    const before = (await readFile(serverFile(home), "utf8")).replace("{", "{\n  // mine\n");
    await writeFile(serverFile(home), before);
    const { code, stdout, stderr } = await plugboard(home, [
      "add",
      "new",
      "-e",
      "LEVEL=debug",
      "--group",
      "work",
      "--",
      command,
      ...args,
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^Added new \\(\\d+ tools, \\d+\\.\\ds\\) to ${serverFile(home)}\n$`));
    const text = await readFile(serverFile(home), "utf8");
    expect(text).toContain("// mine");
    expect(JSON.parse(text.replace("// mine", "")).mcpServers.new).toEqual({
      command,
      args,
      env: { LEVEL: "debug" },
      groups: ["work"],
    });
    expect((await plugboard(home, ["call", "new.env", "name=LEVEL"])).stdout).toBe("debug\n");
    expect(await json(home, "group", "get", "work")).toMatchObject({ servers: ["new"] });
  });

  it("add says what it did as data", async (context) => {
    const home = await open(context);
    const added = await json(home, "add", JSON.stringify({ mcpServers: { new: { command, args } } }));
    expect(added).toMatchObject({
      server: { config: { name: "new", command } },
      file: serverFile(home),
      test: { success: true, latency_ms: expect.any(Number) },
    });
  });

  it("add saves nothing that does not work, unless told to", async (context) => {
    const home = await open(context);
    const before = await readFile(serverFile(home), "utf8");
    const words = ["bad", "--", process.execPath, join(FIXTURES, "exit-at-start.mjs")];
    const { code, stdout, stderr } = await plugboard(home, ["add", ...words]);
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toMatch(
      /^error: The server exited with code 3.*\n {2}cause: fatal: no configuration found\n {2}(?:fix|note): +(?:.*\n +)?Not saved\. With --no-test/,
    );
    expect(await readFile(serverFile(home), "utf8")).toBe(before);
    expect(await plugboard(home, ["add", "--no-test", ...words])).toMatchObject({
      code: 0,
      stdout: `Added bad to ${serverFile(home)}\n`,
    });
    expect(Object.keys(await savedServers(home))).toEqual(["it", "bad"]);
  });

  const REFUSED: [code: number, words: string[], stderr: RegExp][] = [
    [7, ["add", "it", "--", "node"], /^error: There is a server "it" already\n {2}field: name\n {2}(?:fix|note): /],
    [2, ["add"], /^error: Which server\?\n {2}(?:fix|note): /],
    [2, ["add", "a b"], /^error: "a b" is neither a package, an image, a program nor an address\n/],
    [2, ["add", "{", "x"], /^error: The entry is not valid JSON\n {2}cause: /],
    [2, ["add", "n!", "--", "node"], /^error: Name may only contain/],
    [2, ["add", "n", "-e", "not-a-name=1", "--", "node"], /^error: Variable name may only contain letters/],
    [2, ["add", "https://a.example/mcp", "-H", "nothing"], /^error: A header is a name, a colon and a value\n/],
    [
      2,
      ["add", "n", "-e", "NODE_OPTIONS=--inspect", "--", "node"],
      /^error: Not allowed here: the variable NODE_OPTIONS/,
    ],
    [6, ["add", "n", "--", "/no/such/program"], /^error: Package not found\n/],
    [
      2,
      ["add", "n", "-s", "TOKEN=nothing-stored", "--", "node"],
      /^error: Missing required credentials\n(?:.*\n)* {2}(?:fix|note): +plugboard secret set nothing-stored/,
    ],
    [
      2,
      ["add", "n", "--no-test", "-s", "TOKEN=nothing-stored", "--", "node"],
      /^error: Missing required credentials\n(?:.*\n)* {2}(?:fix|note): +plugboard secret set nothing-stored/,
    ],
    [2, ["edit", "it", "{"], /^error: The entry is not valid JSON\n/],
    [2, ["edit", "it", '{"command": null}'], /^error: .*Transport required\n/],
    [6, ["edit", "nobody", "{}"], /^error: .*nobody/],
    [7, ["group", "add", "work", "--servers", "it"], /^error: There is a group "work" already\n/],
    [2, ["group", "add", "n!", "--servers", "it"], /^error: .*Name may only contain/],
    [
      6,
      ["group", "set", "nowhere", "--servers", "it"],
      /^error: There is no group "nowhere"\n {2}(?:fix|note): +Groups: /,
    ],
    [6, ["group", "rm", "nowhere"], /^error: There is no group "nowhere"\n/],
    [6, ["secret", "rm", "nothing"], /^error: There is no secret "nothing"\n/],
  ];

  it("what is refused changes nothing, and says why", async (context) => {
    const home = await open(context, { it: fixture("echo") }, { work: { servers: ["it"] } });
    const files = () => Promise.all([serverFile(home), groupFile(home)].map((path) => readFile(path, "utf8")));
    const before = await files();
    for (const [code, words, stderr] of REFUSED) {
      const finished = await plugboard(home, words);
      expect(finished.stderr).toMatch(stderr);
      expect({ words, ...finished }).toMatchObject({ words, code, stdout: "" });
      expect(await files()).toEqual(before);
    }
  });

  it("MG-1 edit changes what is given, removes what is null, and reads stdin", async (context) => {
    const home = await open(context, { it: { ...fixture("echo"), description: "Old", env: { A: "1" } } });
    const edit = (stdin: string) => plugboard(home, ["edit", "it", "-"], { stdin });
    expect(await edit('{"description": null, "env": {"B": "2"}}')).toEqual({
      code: 0,
      stdout: `Changed it in ${serverFile(home)}\n`,
      stderr: "",
    });
    const { it: saved } = await savedServers(home);
    expect(saved).toMatchObject({ ...fixture("echo"), env: { A: "1", B: "2" } });
    expect(saved).not.toHaveProperty("description");
  });

  it("SE-1 add warns of a credential in plain text, and does not repeat it", async (context) => {
    const home = await open(context);
    const { code, stdout, stderr } = await plugboard(home, [
      "add",
      "new",
      "-e",
      "API_KEY=tops3cret-value",
      "--",
      command,
      ...args,
    ]);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^warning: API_KEY stands in .*mcp_server\.json as plain text\. Better: plugboard secret set API_KEY/,
    );
    expect(stdout + stderr).not.toContain("tops3cret-value");
    expect(await plugboard(home, ["add", "-q", "quiet", "-e", "API_KEY=x", "--", command, ...args])).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
  });

  it("SE-1 add takes a secret from the store, and a variable from the hub's environment", async (context) => {
    const home = await open(context);
    expect((await plugboard(home, ["secret", "set", "stored"], { stdin: "the value\n" })).code).toBe(0);
    expect(
      await plugboard(home, ["add", "new", "-s", "TOKEN=stored", "-e", "PATH", "--", command, ...args]),
    ).toMatchObject({ code: 0, stderr: "" });
    expect((await savedServers(home)).new.env).toEqual({
      TOKEN: { secretRef: "stored", required: true },
      PATH: "${PATH}",
    });
    expect((await plugboard(home, ["call", "new.env", "name=TOKEN"])).stdout).toBe("the value\n");
    expect(await json(home, "secret", "ls")).toEqual([{ name: "stored", used_by: ["new"] }]);
    expect((await plugboard(home, ["get", "new"])).stdout).toMatch(/^ {2}env {2,}TOKEN = secret stored$/m);
    const refused = await plugboard(home, ["secret", "rm", "stored"]);
    expect(refused).toMatchObject({ code: 7, stdout: "" });
    expect(refused.stderr).toMatch(
      /^error: The secret "stored" is used by new\n {2}field: name\n {2}fix: +plugboard secret rm stored --force\n/,
    );
    expect(await plugboard(home, ["secret", "rm", "stored", "--force"])).toMatchObject({
      code: 0,
      stdout: "Deleted the secret stored\n",
    });
    expect(await json(home, "secret", "ls")).toEqual([]);
  });

  it("MG-1 rm takes a server out, and its process ends", async (context) => {
    const home = await open(context);
    expect(await plugboard(home, ["rm", "it"])).toEqual({
      code: 0,
      stdout: `Removed it from ${serverFile(home)}\n`,
      stderr: "",
    });
    expect(await savedServers(home)).toEqual({});
    expect((await plugboard(home, ["ls"])).stdout).toMatch(/^No servers\. Add one: plugboard add /);
    await expect.poll(() => processesWithMark(home.mark)).toEqual([]);
  });

  it("LC-8 enable saves and starts; disable saves and stops", async (context) => {
    const home = await open(context, { off: { ...fixture("echo"), enabled: false } });
    const { code, stdout } = await plugboard(home, ["enable", "off"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Enabled off \\(\\d+ tools\\) in ${serverFile(home)}\n$`));
    expect((await savedServers(home)).off.enabled).toBe(true);
    expect(processesWithMark(home.mark)).toHaveLength(how === "with" ? 1 : 0);
    expect(await plugboard(home, ["disable", "off"])).toMatchObject({
      code: 0,
      stdout: `Disabled off in ${serverFile(home)}\n`,
    });
    expect((await savedServers(home)).off.enabled).toBe(false);
    await expect.poll(() => processesWithMark(home.mark)).toEqual([]);
  });

  it("LC-8 what does not start is switched off again, and the reason is told", async (context) => {
    const home = await open(context, { off: { ...failing(), enabled: false } });
    const before = await readFile(serverFile(home), "utf8");
    const { code, stdout, stderr } = await plugboard(home, ["enable", "off"]);
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toMatch(/^error: The server exited with code 3.*\n {2}cause: fatal: no configuration found\n/);
    expect(JSON.parse(await readFile(serverFile(home), "utf8"))).toEqual(JSON.parse(before));
    expect(await json(home, "get", "off")).toMatchObject({ status: "disabled" });
  });

  it("CF-10 GR-1 groups are added, changed and removed", async (context) => {
    const home = await open(context);
    const add = await plugboard(home, [
      "group",
      "add",
      "work",
      "--servers",
      "it,later",
      "--tools",
      "it:*,echo",
      "--description",
      "For work",
    ]);
    expect(add).toMatchObject({ code: 0, stdout: `Added the group work (1 server) in ${groupFile(home)}\n` });
    expect(add.stderr).toMatch(/^warning: There is no server "later" yet\. Servers: it\n$/);
    const saved = async () => JSON.parse(await readFile(groupFile(home), "utf8"));
    expect(await saved()).toEqual({
      work: { servers: ["it", "later"], tools: ["it:*", "echo"], description: "For work" },
    });
    // As tools are written everywhere else; a dot after what is no server stays.
    await plugboard(home, ["-q", "group", "set", "work", "--tools", "it.*,!it.add,!later.*,page.open"]);
    expect((await saved()).work.tools).toEqual(["it:*", "!it:add", "!later:*", "page.open"]);
    expect((await plugboard(home, ["-q", "group", "set", "work", "--tools", ""])).code).toBe(0);
    expect(await saved()).toEqual({ work: { servers: ["it", "later"], tools: [], description: "For work" } });
    expect(await plugboard(home, ["group", "rm", "work"])).toMatchObject({
      code: 0,
      stdout: `Removed the group work from ${groupFile(home)}\n`,
    });
    expect(await saved()).toEqual({});
  });

  it("CF-8 CF-10 of many who edit at once each edit is there, or its author hears of the conflict", async (context) => {
    const home = await open(context);
    const names = ["a", "b", "c", "d", "e", "f"];
    const finished = await Promise.all(
      names.map((name) => plugboard(home, ["add", "--no-test", "--disabled", name, "--", "node"])),
    );
    for (const { code } of finished) expect([0, 7]).toContain(code);
    const saved = names.filter((_, index) => finished[index]?.code === 0);
    expect(saved.length).toBeGreaterThan(0);
    expect(Object.keys(await savedServers(home)).toSorted()).toEqual([...saved, "it"].toSorted());
    const removed = await Promise.all(saved.map((name) => plugboard(home, ["rm", name])));
    for (const { code } of removed) expect([0, 7]).toContain(code);
    expect(Object.keys(await savedServers(home))).toContain("it");
  });
});

describe.concurrent("a hub and its servers", () => {
  it("MG-1 start, stop and restart a server, by name", async (context) => {
    const { home } = await withHub({ it: fixture("echo"), other: fixture("echo") });
    context.onTestFinished(() => close(home));
    const pidOf = async () => (await json(home, "get", "it")).pid;
    const [first] = [await pidOf()];
    expect(await plugboard(home, ["stop", "it"])).toEqual({ code: 0, stdout: "Stopped it\n", stderr: "" });
    expect(await json(home, "get", "it")).toMatchObject({ status: "stopped", pid: null });
    expect((await plugboard(home, ["start", "it"])).stdout).toMatch(/^Started it \(\d+ tools\)\n$/);
    const second = await pidOf();
    expect(second).not.toBe(first);
    expect(await json(home, "restart", "it")).toMatchObject({ status: "running", config: { name: "it" } });
    expect(await pidOf()).not.toBe(second);
    expect(processesWithMark(home.mark)).toHaveLength(2);
  });

  it("MC-NT1 7: a disabled server is not started", async (context) => {
    const { home } = await withHub({ off: { ...fixture("echo"), enabled: false } });
    context.onTestFinished(() => close(home));
    const { code, stderr } = await plugboard(home, ["start", "off"]);
    expect(code).toBe(7);
    expect(stderr).toMatch(/^error: Server "off" is disabled\n {2}fix: +plugboard enable off\n/);
  });

  it("4: LC-3 a server that does not start says why", async (context) => {
    const { home } = await withHub({ broken: failing() });
    context.onTestFinished(() => close(home));
    const { code, stderr } = await plugboard(home, ["restart", "broken"]);
    expect(code).toBe(4);
    expect(stderr).toMatch(/^error: The server exited with code 3.*\n {2}cause: fatal: no configuration found\n/);
  });

  it("CF-9 an edit by a command reaches the hub, whose other servers stay as they are", async (context) => {
    const { home } = await withHub({ it: fixture("echo") });
    context.onTestFinished(() => close(home));
    const { pid } = await json(home, "get", "it");
    const { command, args } = fixture("echo");
    await plugboard(home, ["add", "new", "--", command, ...args]);
    expect(await json(home, "get", "new")).toMatchObject({ status: expect.stringMatching(/running|starting/) });
    expect((await json(home, "get", "it")).pid).toBe(pid);
  });
});

describe("following", () => {
  /** Runs a command until its output shows something, then interrupts it. */
  async function until(
    home: Home,
    words: readonly string[],
    wanted: RegExp,
    meanwhile: () => Promise<unknown>,
  ): Promise<Finished> {
    const { process: child, finished } = launch(home, words);
    let seen = "";
    const there = new Promise<void>((resolve, reject) => {
      child.stdout.on("data", (chunk) => {
        seen += chunk;
        if (wanted.test(seen)) resolve();
      });
      void finished.then(() => reject(new Error(`ended early: ${seen}`)));
    });
    there.catch(() => undefined);
    const over = there.then(
      () => true,
      () => true,
    );
    // It has to listen first; what it would miss is done again.
    for (let isOver = false; !isOver;) {
      const done = meanwhile();
      isOver = await Promise.race([over, done.then(() => false)]);
      await done;
    }
    await there;
    child.kill("SIGINT");
    return finished;
  }

  it("RS-4 calls -f shows calls as they come, and ends with 130", async (context) => {
    const { home } = await withHub({ it: fixture("echo") });
    context.onTestFinished(() => close(home));
    await plugboard(home, ["call", "it.echo", "text=before"]);
    const { code, stdout } = await until(home, ["calls", "-f", "--tool", "add"], / it +add .* ok/, async () => {
      await plugboard(home, ["call", "it.echo", "text=x"]);
      await plugboard(home, ["call", "it.add", "a=1", "b=1"]);
    });
    expect(code).toBe(130);
    expect(stdout).not.toContain("echo");
    const lines = await until(
      home,
      ["calls", "-f", "--json"],
      /"tool_name":"add".*\n.*"tool_name":"echo"/s,
      async () => {
        await plugboard(home, ["call", "it.add", "a=1", "b=1"]);
        await plugboard(home, ["call", "it.echo", "text=x"]);
      },
    );
    const ids = lines.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).id);
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
  });

  it("logs -f shows what is written", async (context) => {
    const { home } = await withHub({ it: fixture("echo"), quiet: fixture("echo") });
    context.onTestFinished(() => close(home));
    const crash = () => plugboard(home, ["call", "it.crash"]).then(() => plugboard(home, ["start", "it"]));
    const { code, stdout } = await until(home, ["logs", "-f", "it"], /^about to crash$/m, crash);
    expect(code).toBe(130);
    expect(stdout).not.toContain("quiet");
  });

  it("RS-6 logs of several servers are in the order in which they were written, each line once", async (context) => {
    const { home, hub } = await withHub({ a: fixture("echo"), b: fixture("echo") });
    context.onTestFinished(() => close(home));
    const token = (await readManagementToken(join(home.dir, "data"))) ?? "";
    const client = new HubClient({ url: hub.url, token });
    const write = async (server: string, text: string) => {
      await modern(`${hub.url}/mcp`, "tools/call", { name: `${server}__complain`, arguments: { text } });
      await vi.waitUntil(async () => (await client.serverLogs(server)).text.includes(text));
    };
    for (const [server, text] of [
      ["b", "1st"],
      ["a", "2nd"],
      ["b", "3rd"],
      ["a", "4th"],
    ] as const) {
      await write(server, text);
    }
    const kept = "b  1st\na  2nd\nb  3rd\na  4th\n";
    expect((await plugboard(home, ["logs"])).stdout).toBe(kept);
    expect((await plugboard(home, ["logs", "b", "a", "-n", "1"])).stdout).toBe("b  3rd\na  4th\n");
    let next = 5;
    const { stdout } = await until(home, ["logs", "-f"], /^b +[5-9]th$[^]*^a +\d+th$/m, async () => {
      await write("b", `${next++}th`);
      await write("a", `${next++}th`);
    });
    expect(stdout.startsWith(kept)).toBe(true);
    const lines = stdout.trim().split("\n");
    expect(lines).toEqual([...new Set(lines)]);
  });

  it("LC-10 status --watch shows every change", async (context) => {
    const { home } = await withHub({ it: fixture("echo") });
    context.onTestFinished(() => close(home));
    const { code } = await until(home, ["status", "--watch"], /1: 1 running$[^]*1: 1 stopped$/m, async () => {
      await plugboard(home, ["stop", "it"]);
      await plugboard(home, ["start", "it"]);
    });
    expect(code).toBe(130);
  });

  it("4: a hub that goes away is told", async (context) => {
    const { home, hub } = await withHub({ it: fixture("echo") });
    context.onTestFinished(() => close(home));
    const { process: child, finished } = launch(home, ["status", "--watch"]);
    await once(child.stdout, "data");
    await hub.stop();
    expect(await finished).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/^error: .*\n(?:.*\n)* {2}(?:fix|note): /),
    });
  });
});

describe("without a hub", () => {
  let home: Home;
  beforeAll(async () => {
    home = await withoutHub();
  });
  afterAll(() => close());

  it.concurrent.each([
    [["status"]],
    [["status", "--check"]],
    [["logs"]],
    [["logs", "it", "-f"]],
    [["calls"]],
    [["stats"]],
    [["start", "it"]],
    [["stop", "it"]],
    [["restart", "it"]],
    [["open"]],
  ])("4: %j says how to start one", async (args) => {
    const { code, stdout, stderr } = await plugboard(home, args);
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toBe(
      `error: No hub is running\n  cause: None for the config folder ${join(home.dir, "config")}\n  fix:   plugboard start\n`,
    );
    const asJson = await plugboard(home, [...args, "--json"]);
    expect(JSON.parse(asJson.stderr)).toMatchObject({
      code: "NETWORK_ERROR",
      kind: "ConnectionFailed",
      hint: "plugboard start",
    });
  });

  it("plugboard alone is six lines with the two first commands", async () => {
    const { code, stdout, stderr } = await plugboard(home, []);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.trimEnd().split("\n")).toHaveLength(6);
    expect(stdout).toMatch(/^ {2}plugboard add /m);
    expect(stdout).toMatch(/^ {2}plugboard start /m);
    expect(await json(home)).toEqual({ running: false });
  });

  it.concurrent.each([
    [["get", "it"], /^it {2}stopped {2}no hub is running\n {2}about +Echoes what it is told\n/],
    [["tools", "it"], /^echo\(text\S* string\) +The tool echo\n/m],
    [["read", "test://items/7"], /7/],
    [["prompt", "it.greet", "who=Bo"], /^user:\nGreet Bo\n$/],
    [["group", "ls"], /^work +- +it +\/groups\/work\/mcp +For work$/m],
    [["group", "get", "work"], /^work\n {2}about +For work\n/],
    [["secret", "ls"], /^$/],
    [["config", "path"], /config\n$/],
    [["config", "show"], /"mcpServers"/],
    [["config", "validate"], /^Valid: 4 servers, 1 group\n$/],
    [["version"], /^plugboard 0\.1\.0, Node 2/],
    [["doctor"], /^✔ +Node: /],
  ])("%j works all the same", async (args, stdout) => {
    const finished = await plugboard(home, args);
    expect(finished.stdout).toMatch(stdout);
    expect(finished.code).toBe(0);
    expect(finished.stderr).toMatch(/^(?:No hub is running: plugboard start\n|There are no secrets: .*\n)?$/);
    const asJson = await plugboard(home, [...args, "--json"]);
    expect(asJson.code).toBe(0);
    if (args[1] !== "path" || asJson.stdout.startsWith("{")) JSON.parse(asJson.stdout);
  });
});

describe("doctor and validate find what is wrong", () => {
  afterEach(() => close());

  it("programs, variables, secrets, rights", async () => {
    const home = await withoutHub(
      {
        missing: { command: "no-such-program-anywhere" },
        variable: { ...fixture("echo"), env: { A: "${NOT_SET_ANYWHERE}" } },
        secret: { ...fixture("echo"), env: { B: { secretRef: "nothing", required: true } } },
        plain: { ...fixture("echo"), env: { API_KEY: "plain-text-key" } },
        off: { command: "/not/needed", enabled: false },
      },
      {},
    );
    await chmod(serverFile(home), 0o644);
    const { code, stdout } = await plugboard(home, ["doctor"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✖ +no-such-program-anywhere: not found, needed by missing$/m);
    expect(stdout).toMatch(/^✖ +variable: Missing required credentials.*NOT_SET_ANYWHERE/m);
    expect(stdout).toMatch(/^✖ +secret: Missing required credentials.*\n {4}fix: plugboard secret set nothing$/m);
    expect(stdout).toMatch(
      /^! +config: .*holds credentials \(plain\) and can be read by other users\n {4}fix: chmod 600/m,
    );
    expect(stdout).not.toContain("/not/needed");
    expect(stdout).not.toContain("plain-text-key");
    // One warning more where whoever runs this has a hub of their own at the usual port.
    expect(stdout).toMatch(/^3 problems, [12] warnings?$/m);
    const asJson = await plugboard(home, ["doctor", "--json"]);
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ ok: false, problems: 3, warnings: 1, checks: expect.any(Array) });
  });

  it("CF-7 validate says everything that is wrong at once, and exits 2", async () => {
    const home = await withoutHub({ good: fixture("echo"), one: {}, two: { command: 7 } }, { g: { servers: "x" } });
    const { code, stdout, stderr } = await plugboard(home, ["config", "validate"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr.match(/^error: /gm)).toHaveLength(3);
    expect(stderr).toContain('error: Server "one": Transport required');
    expect(stderr).toContain('error: Server "two": command must be text');
    const asJson = await plugboard(home, ["config", "validate", "--json"]);
    expect(JSON.parse(asJson.stdout)).toMatchObject({
      valid: false,
      errors: [{ field: "mcpServers.one.transport" }, {}, {}],
    });
  });

  it("validate takes a file, as CI has it", async () => {
    const home = await withoutHub({});
    const path = join(home.dir, "all.json");
    await writeFile(path, '{ /* ok */ "mcpServers": {"a": {"command": "x"}}, "groups": {"g": {"servers": ["b"]}} }');
    const { code, stdout, stderr } = await plugboard(home, ["config", "validate", path]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Valid: 1 server, 1 group\n" });
    expect(stderr).toContain('names the unknown server "b"');
    expect((await plugboard(home, ["config", "validate", join(home.dir, "none.json")])).code).toBe(2);
  });
});

describe("a hub elsewhere", () => {
  afterEach(() => close());

  it("--url and a token, from a file or the environment, reach it from anywhere", async () => {
    const { home, hub } = await withHub({ it: fixture("echo") });
    const away = await withoutHub(undefined);
    const token = await readFile(join(home.dir, "data/token"), "utf8");
    const file = join(away.dir, "token");
    await writeFile(file, token, { mode: 0o600 });
    expect(
      (await plugboard(away, ["call", "it.add", "a=1", "b=1", "--url", hub.url, "--token-file", file])).stdout,
    ).toBe("2\n");
    const env = { PLUGBOARD_URL: `${hub.url}/`, PLUGBOARD_TOKEN: token.trim() };
    expect((await plugboard(away, ["status"], { env })).stdout).toContain(`MCP      ${hub.url}/mcp`);
    const added = await plugboard(away, ["add", "--no-test", "--disabled", "new", "--", "node"], { env });
    expect(added.stdout).toBe(`Added new to ${hub.url}\n`);
    expect(Object.keys(await savedServers(home))).toEqual(["it", "new"]);
    for (const args of [["start"], ["stop"], ["restart"]]) {
      expect(await plugboard(away, args, { env })).toMatchObject({ code: 2, stdout: "" });
    }
    expect((await plugboard(home, ["status"])).code).toBe(0);
  });

  const WRONG: [code: number, env: Record<string, string>, args: string[], stderr: RegExp][] = [
    [3, { PLUGBOARD_URL: "URL" }, [], /^error: A hub elsewhere needs its token\n {2}(?:fix|note): /],
    [
      3,
      { PLUGBOARD_URL: "URL", PLUGBOARD_TOKEN: "pb_wrong" },
      [],
      /^error: The program at \S+ did not prove that it has this token: nothing was sent to it\n {2}cause: The token is not this hub's/,
    ],
    [2, { PLUGBOARD_TOKEN: "x" }, ["--url", "http://example.com"], /is not an address that a token may be sent to/],
    [2, { PLUGBOARD_TOKEN: "x" }, ["--url", "nonsense"], /is not an address that a token may be sent to/],
    [
      4,
      { PLUGBOARD_TOKEN: "x" },
      ["--url", "http://127.0.0.1:1"],
      /^error: No hub answers at http:\/\/127\.0\.0\.1:1\n/,
    ],
    [2, {}, ["--token-file", "x"], /^error: --token-file is for a hub elsewhere\n/],
    [3, { PLUGBOARD_URL: "URL" }, ["--token-file", "/no/such/file"], /^error: There is no token in/],
  ];

  it("what is missing or wrong is said, and no token goes where it must not", async () => {
    const { home, hub } = await withHub({ it: fixture("echo") });
    for (const [code, env, args, stderr] of WRONG) {
      const filled = Object.fromEntries(
        Object.entries(env).map(([name, value]) => [name, value.replace("URL", hub.url)]),
      );
      const finished = await plugboard(home, ["ls", ...args], { env: filled });
      expect(finished.stderr).toMatch(stderr);
      expect(finished).toMatchObject({ code, stdout: "" });
    }
  });
});

describe("SE-1 T12 T15 secrets", () => {
  afterEach(() => close());

  const MARK = "mark3r0123456789abcdef";
  const servers = {
    env: { ...fixture("echo"), env: { API_KEY: MARK, FROM_HUB: "${HUB_TOKEN}" } },
    args: { command: process.execPath, args: [join(FIXTURES, "echo.mjs"), "", "--api-key", MARK, `--token=${MARK}`] },
    leaks: { ...failing("API_KEY"), env: { API_KEY: MARK } },
    url: {
      url: `http://user:${MARK}@127.0.0.1:1/mcp?api_key=${MARK}`,
      headers: { Authorization: `Bearer ${MARK}`, "X-Api-Key": MARK },
    },
    missing: { ...fixture("echo"), env: { API_KEY: MARK, TOKEN: "${NOT_SET}" } },
    off: { ...failing("API_KEY"), env: { API_KEY: MARK }, enabled: false },
  };
  const COMMANDS = [
    [],
    ["ls"],
    ["status"],
    ["get", "env"],
    ["get", "args"],
    ["get", "leaks"],
    ["get", "url"],
    ["tools"],
    ["test", "env"],
    ["test", "leaks"],
    ["test", "url"],
    ["test", "missing"],
    ["enable", "off"],
    ["start", "leaks"],
    ["restart", "url"],
    ["logs"],
    ["calls"],
    ["stats"],
    ["call", "leaks.echo"],
    ["call", "url.echo"],
    ["call", "env.nothing"],
    ["group", "ls"],
    ["secret", "ls"],
    ["config", "show"],
    ["config", "validate"],
    ["doctor"],
    ["add", "--no-test", "new1", "-e", `API_KEY=${MARK}`, "--", "node"],
    ["add", "new2", "-e", `API_KEY=${MARK}`, "--", process.execPath, join(FIXTURES, "exit-at-start.mjs"), "API_KEY"],
    ["add", `http://u:${MARK}@127.0.0.1:1/?token=${MARK}`, "new3", "-H", `Authorization: Bearer ${MARK}`],
    ["rm", "env"],
  ];
  /** As it is, and in the forms in which it could slip through. */
  const forms = [MARK, Buffer.from(MARK).toString("base64").slice(0, -3), Buffer.from(MARK).toString("hex")];
  const env = { HUB_TOKEN: `${MARK}-hub` };

  /** The commands that show it. */
  async function leaks(home: Home, variables: Record<string, string>): Promise<string[]> {
    const found: string[] = [];
    for (const words of COMMANDS) {
      const both = [words, ["--json", ...words]].map((all) => plugboard(home, all, { env: variables }));
      const shown = (await Promise.all(both)).map(({ stdout, stderr }) => stdout + stderr).join("");
      if (forms.some((form) => shown.includes(form))) found.push(words.slice(0, 3).join(" "));
    }
    return found;
  }

  it("are in no output of any command without a hub", async () => {
    const home = await withoutHub(servers);
    expect(await leaks(home, env)).toEqual([]);
  }, 180_000);

  it("are in no output of any command with a hub, nor of the hub", async () => {
    const home = await makeHome(servers);
    const hub = await startHub({ ...home, env: { ...home.env, ...env } });
    opened.push({ home, hub });
    expect(await leaks(home, {})).toEqual([]);
    for (const form of forms) expect(hub.stdout() + hub.stderr()).not.toContain(form);
    for (const folder of ["data", "state"]) {
      const files = await readdir(join(home.dir, folder), { recursive: true, withFileTypes: true });
      for (const file of files.filter((entry) => entry.isFile())) {
        expect(await readFile(join(file.parentPath, file.name), "latin1")).not.toContain(MARK);
      }
    }
  }, 180_000);

  it.skipIf(noTerminal !== undefined)(`are in nothing that a terminal shows${noTerminal ?? ""}`, async () => {
    const home = await withoutHub(servers);
    for (const words of [["ls"], ["get", "url"], ["get", "args"], ["test", "leaks"]]) {
      const { screen } = await onTerminal(home, words, { env, columns: 300 });
      expect(screen).not.toContain(MARK);
      expect(screen).not.toBe("");
    }
  });

  it.skipIf(noTerminal !== undefined)(`a secret is typed unseen${noTerminal ?? ""}`, async () => {
    const home = await withoutHub({ it: { ...fixture("echo"), env: { API_KEY: { secretRef: "service" } } } });
    const { code, screen } = await onTerminal(home, ["secret", "set", "service"], {
      type: { after: /Value of service: $/, keys: `wrong\u0015${MARK}x\u007f\r` },
    });
    expect(code).toBe(0);
    expect(screen).toContain("Stored the secret service; it will have it at the next start");
    expect(screen).not.toContain(MARK);
    expect((await plugboard(home, ["call", "it.env", "name=API_KEY"])).stdout).toBe(`${MARK}\n`);
    const interrupted = await onTerminal(home, ["secret", "set", "other"], {
      type: { after: /: $/, keys: "abc\u0003" },
    });
    expect(interrupted.code).toBe(130);
    expect(await json(home, "secret", "ls")).toMatchObject([{ name: "service" }]);
  });
});

describe.skipIf(noTerminal !== undefined)(`on a terminal${noTerminal ?? ""}`, () => {
  let home: Home;
  beforeAll(async () => {
    ({ home } = await withHub());
  });
  afterAll(() => close());

  it("states have a mark and a colour, and lines are cut to the width", async () => {
    const { code, screen } = await onTerminal(home, ["ls"], { columns: 90 });
    expect(code).toBe(0);
    expect(screen).toContain(`${ESC}[32m● running`);
    expect(screen).toContain(`${ESC}[31m✖ error`);
    // The colours take no room.
    const widths = screen
      .replaceAll(new RegExp(`${ESC}\\[\\d+m`, "g"), "")
      .split("\r\n")
      .map((line) => line.length);
    expect(Math.max(...widths)).toBeLessThanOrEqual(90);
  });

  it.each([
    ["--no-color", ["ls", "--no-color"], {}],
    ["NO_COLOR", ["ls"], { NO_COLOR: "1" }],
    ["TERM=dumb", ["ls"], { TERM: "dumb" }],
  ])("%s: no colours, the marks stay", async (_, args, env) => {
    const { screen } = await onTerminal(home, args, { env });
    expect(screen).not.toContain(ESC);
    expect(screen).toContain("● running");
  });

  it("--json is the same as in a pipe", async () => {
    const { screen } = await onTerminal(home, ["get", "it", "--json"]);
    expect(JSON.parse(screen)).toMatchObject({ config: { name: "it" } });
  });

  it("in a pipe there is no colour, unless FORCE_COLOR asks for it", async () => {
    expect((await plugboard(home, ["ls"])).stdout).not.toContain(ESC);
    expect((await plugboard(home, ["status"], { env: { FORCE_COLOR: "1" } })).stdout).toContain(ESC);
  });

  it("errors are red, with cause and fix", async () => {
    const { code, screen } = await onTerminal(home, ["call", "it.nothing"]);
    expect(code).toBe(6);
    expect(screen).toContain(`${ESC}[31merror:${ESC}[39m Tool not found`);
    expect(screen).toMatch(/note: +Tools: echo, /);
  });

  it("LC-10 a server that takes its time is seen to start", async () => {
    const { command, args } = fixture("slow-start", "2000");
    const { code, screen } = await onTerminal(home, ["add", "slow", "--", command, ...args]);
    expect(code).toBe(0);
    expect(screen).toMatch(/… testing slow {2}[12]\.\ds/);
    expect(screen).toContain("Added slow (");
  });

  it("130: Ctrl-C ends a command", async () => {
    const { code } = await onTerminal(home, ["calls", "-f"], { type: { after: /TIME/, keys: "\u0003" } });
    expect(code).toBe(130);
  });
});

describe("completion", () => {
  let home: Home;
  beforeAll(async () => {
    home = await withoutHub();
  });
  afterAll(() => close());

  const complete = async (...words: string[]) =>
    (await plugboard(home, ["__complete", "--", ...words])).stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t")[0]);

  it.concurrent.each([
    [["st"], ["start", "stop", "status", "stdio", "stats"]],
    [
      ["get", ""],
      ["it", "other", "broken", "off"],
    ],
    [
      ["call", "o"],
      ["other.", "off."],
    ],
    [
      ["tools", "--group", ""],
      ["default", "work"],
    ],
    [
      ["group", ""],
      ["ls", "get", "add", "set", "rm"],
    ],
    [["group", "rm", "w"], ["work"]],
    [
      ["completion", ""],
      ["bash", "zsh", "fish", "pwsh"],
    ],
    [["calls", "--fa"], ["--failed"]],
    [["stats", "--si"], ["--since"]],
    [["doctor", "--f"], ["--fix"]],
    [["secret", "ro"], ["rotate-key"]],
    [["no-such-command", "x"], [""]],
  ])("%j", async (words, expected) => {
    expect(await complete(...words)).toEqual(expected);
  });

  it("a broken config is no reason to disturb the shell", async () => {
    const broken = await withoutHub(undefined);
    await writeFile(serverFile(broken), "{");
    expect(await plugboard(broken, ["__complete", "--", "get", ""])).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  it.each(["bash", "zsh", "fish"])("the script for %s calls it, and is what the shell takes", async (shell) => {
    const { code, stdout } = await plugboard(home, ["completion", shell]);
    expect(code).toBe(0);
    expect(stdout).toContain("plugboard __complete --");
    const checked = spawnSync(shell, ["-n"], { input: stdout });
    if (checked.error === undefined) expect(String(checked.stderr)).toBe("");
  });

  it("the script for pwsh asks as the others do; no PowerShell is here to run it", async () => {
    const { code, stdout } = await plugboard(home, ["completion", "pwsh"]);
    expect(code).toBe(0);
    expect(stdout).toContain("@('__complete') + $next + @('--') + $words");
    expect(stdout).toMatch(/^ {2}Register-ArgumentCompleter -Native -CommandName plugboard, .*\$completer$/m);
    expect(stdout).toContain("$_ -split '\\t', 2");
    // Every bracket and quote that is opened is closed.
    const bare = stdout.replaceAll(/#.*$/gm, "").replaceAll(/'[^'\n]*'|"[^"\n]*"/g, "");
    expect(bare).not.toMatch(/['"`]/);
    let open = "";
    for (const bracket of bare.match(/[(){}[\]]/g) ?? []) open = `${open}${bracket}`.replace(/(?:\(\)|\{\}|\[\])$/, "");
    expect(open).toBe("");
  });

  it("--next stands for an empty word, which PowerShell loses", async () => {
    for (const words of [["get"], ["tools", "--group"], []]) {
      const { stdout } = await plugboard(home, ["__complete", "--next", "--", ...words]);
      expect(stdout).toBe((await plugboard(home, ["__complete", "--", ...words, ""])).stdout);
      expect(stdout).not.toBe("");
    }
  });

  it("2: another shell", async () => {
    expect(await plugboard(home, ["completion", "cmd"])).toMatchObject({ code: 2, stdout: "" });
  });

  it.skipIf(spawnSync("bash", ["--version"]).status !== 0)("bash completes with it", async () => {
    const { stdout: script } = await plugboard(home, ["completion", "bash"]);
    const ask = `plugboard() { '${process.execPath}' '${BIN}' "$@"; }\n${script}\nCOMP_WORDS=(plugboard get o); COMP_CWORD=2; _plugboard; echo "\${COMPREPLY[@]}"`;
    const { stdout } = spawnSync("bash", ["-c", ask], { env: home.env, encoding: "utf8" });
    expect(stdout).toBe("other off\n");
  });
});
