// The commands as a user runs them: the built program, its exit codes, what is on stdout and what on stderr, and that no
// command leaves a process behind or shows a secret.

import { createServer, type AddressInfo, type Server } from "node:net";
import { once } from "node:events";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  failing,
  fixture,
  launch,
  makeHome,
  plugboard,
  type Finished,
  type Home,
  type Servers,
} from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { startRemote, type Remote } from "../support/remote.ts";

const homes: Home[] = [];
const remotes: Remote[] = [];

async function home(servers: Servers | undefined, groups?: unknown): Promise<Home> {
  const made = await makeHome(servers, groups);
  homes.push(made);
  return made;
}

/** Runs a command in a home of these servers. */
async function run(servers: Servers, args: readonly string[], options = {}): Promise<Finished> {
  return plugboard(await home(servers), args, options);
}

afterEach(async () => {
  for (const made of homes.splice(0)) {
    expect(processesWithMark(made.mark)).toEqual([]);
    await made.remove();
  }
  for (const { stop } of remotes.splice(0)) await stop();
});

const ECHO = { it: fixture("echo") };
const BROKEN = { broken: failing() };

describe("ls", () => {
  const SERVERS = { good: fixture("echo"), ...BROKEN, off: { ...fixture("echo"), enabled: false } };

  it("D2 LC-1 shows every server with its real state, and exits 0 though one is broken", async () => {
    const { code, stdout, stderr } = await run(SERVERS, ["ls"]);
    expect(code).toBe(0);
    expect(stderr).toBe("No hub is running: plugboard start\n");
    const rows = stdout.split("\n").map((line) => line.split(/\s{2,}/));
    expect(rows[0]?.slice(0, 5)).toEqual(["NAME", "KIND", "STATUS", "TOOLS", "CALLS 24h"]);
    expect(rows[1]?.slice(0, 3)).toEqual(["good", "node", "works (not running)"]);
    expect(rows[2]?.slice(0, 3)).toEqual(["broken", "node", "error"]);
    expect(stdout).toContain("The server exited with code 3 before the handshake: fatal: no configuration found");
    expect(rows[3]?.slice(0, 3)).toEqual(["off", "node", "disabled"]);
    expect(stdout).toContain("3 servers: 1 works, 1 needs attention, 1 disabled");
    // eslint-disable-next-line no-control-regex -- no colour where there is no terminal
    expect(stdout).not.toMatch(/\u001b/);
  });

  it("--json is the same as data", async () => {
    const { code, stdout } = await run(SERVERS, ["ls", "--json"]);
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
  ])("global options may stand %s the command", async (_, args) => {
    const { stdout } = await run(ECHO, args);
    expect(JSON.parse(stdout)).toMatchObject([{ name: "it" }]);
  });

  it.each(["before", "after"])("CF-3 --config %s the command moves the config", async (where) => {
    const other = await home(ECHO);
    const option = ["--config", join(other.dir, "config")];
    const made = await home({ wrong: { command: "/none" } });
    const { stdout } = await plugboard(made, where === "before" ? [...option, "ls"] : ["ls", ...option]);
    expect(stdout).toContain("it ");
    expect(stdout).not.toContain("wrong");
  });

  it("CF-3 an empty map of servers is no error", async () => {
    const { code, stdout } = await run({}, ["ls"]);
    expect(code).toBe(0);
    expect(stdout).toContain("No servers");
  });
});

describe("tools", () => {
  it("lists the tools of all servers, of one, and of a group", async () => {
    const made = await home({ a: fixture("echo"), b: fixture("paged") }, { few: { servers: ["b"], tools: ["two"] } });
    const names = async (...args: string[]) =>
      (await plugboard(made, ["tools", ...args])).stdout
        .trim()
        .split("\n")
        .slice(1, -1)
        .map((line) => line.split("(")[0]);
    expect(await names()).toEqual(expect.arrayContaining(["a__echo", "b__one"]));
    expect(await names("b")).toEqual(["one", "two", "three"]);
    expect(await names("b", "--group", "default")).toEqual(["b__one", "b__two", "b__three"]);
    expect(await names("--group", "few")).toEqual(["two"]);
  });

  it("--json gives schemas", async () => {
    const { stdout } = await run(ECHO, ["tools", "--json"]);
    const tools: { name: string }[] = JSON.parse(stdout);
    expect(tools.find(({ name }) => name === "add")).toMatchObject({
      server: "it",
      inputSchema: { properties: { a: { type: "number" } } },
    });
  });

  it("LC-7 a broken server is left out, the others are there", async () => {
    const { code, stdout } = await run({ ...ECHO, ...BROKEN }, ["tools"]);
    expect(code).toBe(0);
    expect(stdout).toContain("it__echo");
  });
});

describe("call", () => {
  it.each([
    [["call", "it.add", "a=2", "b=3"], "5\n"],
    [["call", "it:add", '{"a": 2, "b": 3}'], "5\n"],
    [["call", "add", "a=2", "b=3"], "5\n"],
    [["call", "it.echo", "text=42"], "42\n"],
    [["call", "it.echo", "text=a=b c"], "a=b c\n"],
    [["call", "it.echo", 'text={"not": "parsed"}'], '{"not": "parsed"}\n'],
  ])("MC-T4 %j", async (args, expected) => {
    expect(await run(ECHO, args)).toEqual({ code: 0, stdout: expected, stderr: "" });
  });

  it("reads JSON from stdin for -", async () => {
    const stdin = '{ "text": "from stdin ✓" }\n';
    expect(await run(ECHO, ["call", "it.echo", "-"], { stdin })).toMatchObject({ code: 0, stdout: "from stdin ✓\n" });
  });

  it.each(["", "[1]", '"a=b"', "a=b", "{"])("2: %j on stdin is no JSON object", async (stdin) => {
    const { code, stderr } = await run(ECHO, ["call", "it.echo", "-"], { stdin });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: .*JSON/);
  });

  it("CL-5 --json gives the result unchanged", async () => {
    const { stdout } = await run(ECHO, ["call", "it.unknown_fields", "--json"]);
    expect(stdout).toContain("12345678901234567890");
    expect(JSON.parse(stdout)).toMatchObject({ content: [{ type: "text" }, { type: "hologram" }] });
  });

  it("names content that a terminal cannot show", async () => {
    const { stdout } = await run(ECHO, ["call", "it.unknown_fields"]);
    expect(stdout).toBe("known ✓ é\n[hologram]\n");
  });

  it("an answer larger than a pipe arrives whole", async () => {
    const { code, stdout } = await run(ECHO, ["call", "it.big", "bytes=3000000"]);
    expect(code).toBe(0);
    expect(stdout.length).toBe(3_000_001);
  });

  it("a reader that goes away (| head) is no crash", async () => {
    const { process: child, finished } = launch(await home(ECHO), ["call", "it.big", "bytes=3000000"]);
    child.stdout.destroy();
    expect(await finished).toMatchObject({ code: 0, stderr: "" });
  });

  it("MC-NT1 7: a disabled server", async () => {
    const { code, stderr } = await run({ it: { ...fixture("echo"), enabled: false } }, ["call", "it.echo", "text=x"]);
    expect(stderr).toContain('error: Server "it" is disabled');
    expect(code).toBe(7);
  });

  it("130: interrupted, and nothing is left", async () => {
    const made = await home(ECHO);
    const { process: child, finished } = launch(made, ["call", "it.hang"]);
    await vi.waitUntil(() => processesWithMark(made.mark).length === 1, { timeout: 30_000 });
    child.kill("SIGINT");
    expect(await finished).toMatchObject({ code: 130, stdout: "" });
    expect(processesWithMark(made.mark)).toEqual([]);
  });
});

describe("exit codes", () => {
  it.each([
    [2, ["call", "it.add", "a"], /^error: "a" is neither key=value nor a JSON object\n {2}(?:fix|note): /],
    [2, ["call", "it.add", "a=x"], /^error: "x" is not a valid .*number.*\n {2}field: a\n/],
    [2, ["call", "it.echo", "{"], /^error: The arguments are not valid JSON\n {2}cause: /],
    [2, ["no-such-command"], /error: unknown command/],
    [2, ["ls", "--no-such-option"], /error: unknown option/],
    [2, ["call"], /error: missing required argument/],
    [2, ["up", "--port", "70000"], /^error: "70000" is not a port\n {2}field: port\n {2}(?:fix|note): /],
    [2, ["up", "--port", ""], /^error: "" is not a port\n/],
    [
      2,
      ["up", "--host", "0.0.0.0"],
      /^error: Refused to listen on 0\.0\.0\.0.*\n {2}field: host\n {2}cause: .*\n {2}(?:fix|note): /,
    ],
    [4, ["call", "broken.echo"], /^error: The server exited with code 3.*\n {2}cause: fatal: no configuration found\n/],
    [
      4,
      ["test", "broken"],
      /^error: broken: The server exited with code 3.*\n {2}cause: fatal: no configuration found\n/,
    ],
    [5, ["call", "it.rpc_error"], /^error: The server answered with an error\n {2}cause: no such luck\n/],
    [6, ["call", "it.nothing"], /^error: Tool not found\n {2}cause: .*nothing/],
    [6, ["call", "nobody.echo"], /^error: Tool not found\n/],
    [6, ["call", "it.echo", "--group", "nowhere"], /^error: Group not found\n {2}cause: .*nowhere/],
    [6, ["tools", "nobody"], /^error: There is no server "nobody"\n {2}(?:fix|note): .*it/],
    [6, ["tools", "--group", "nowhere"], /^error: Group not found\n/],
    [6, ["stdio", "--group", "nowhere"], /^error: Group not found\n/],
    [
      6,
      ["test", "/no/such/program"],
      /^error: program: Package not found\n(?: {2}field: .*\n)? {2}cause: .*\n {2}(?:fix|note): /,
    ],
  ])("%d: plugboard %j says what, why and what to do", async (code, args, stderr) => {
    const finished = await run({ ...ECHO, ...BROKEN }, args);
    expect(finished.stderr).toMatch(stderr);
    expect(finished).toMatchObject({ code, stdout: "" });
    expect(finished.stderr).not.toMatch(/^ {4}at |node:internal/m);
  });

  it("5: a tool that says it failed prints its text and exits 5", async () => {
    expect(await run(ECHO, ["call", "it.fail"])).toMatchObject({ code: 5, stdout: "it failed\n" });
  });

  it("3: a server that asks for credentials", async () => {
    const remote = await startRemote("legacy-http", ["--key=k"]);
    remotes.push(remote);
    const { code, stderr } = await run(ECHO, ["test", remote.url]);
    expect(stderr).toMatch(/^error: local: The server asks for credentials\n {2}cause: .*401/);
    expect(code).toBe(3);
  });

  it("6: a name that several servers have, with the choices", async () => {
    const { code, stderr } = await run({ a: fixture("echo"), b: fixture("echo") }, ["call", "echo", "text=x"]);
    expect(code).toBe(6);
    expect(stderr).toMatch(/^error: Several servers have a tool "echo"\n {2}(?:fix|note): .*a\.echo, b\.echo/);
  });

  it.each([
    [["call", "it.nothing"], { code: "NOT_FOUND", kind: "ToolNotFound", message: "Tool not found" }],
    [["up", "--host", "0.0.0.0"], { code: "VALIDATION_ERROR", field: "host", hint: expect.any(String) }],
  ])("--json makes the error of %j one line of JSON on stderr", async (args, error) => {
    const { stdout, stderr } = await run(ECHO, [...args, "--json"]);
    expect(stdout).toBe("");
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(stderr)).toMatchObject(error);
  });

  it.each([["--help"], ["call", "--help"], ["--version"]])("0: %s %s", async (...args) => {
    const { code, stdout, stderr } = await run(ECHO, args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).not.toBe("");
  });
});

describe("test", () => {
  it("LC-9 tries a configured server, also a disabled one", async () => {
    const { code, stdout } = await run({ it: { ...fixture("echo"), enabled: false } }, ["test", "it"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✔ it: \d+ tools, 1 resource in \d+\.\ds\n {2}echo\n {2}add\n/);
  });

  it("LC-9 tries a command with its options, saves nothing, --json gives all of it", async () => {
    const made = await home(ECHO);
    const before = await readFile(join(made.dir, "config/mcp_server.json"), "utf8");
    const { command, args } = fixture("echo", "2025-06-18", "--port", "1");
    const { code, stdout } = await plugboard(made, ["test", "--json", command, ...args]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      success: true,
      message: expect.stringMatching(/^Connected: \d+ tools$/),
      tools: expect.arrayContaining([expect.objectContaining({ name: "echo" })]),
      resources: [{ uri: "test://static" }],
      latency_ms: expect.any(Number),
    });
    expect(await readFile(join(made.dir, "config/mcp_server.json"), "utf8")).toBe(before);
  });

  it.each(["legacy-http", "modern-http"])("LC-9 tries a URL (%s)", async (name) => {
    const remote = await startRemote(name);
    remotes.push(remote);
    expect(await run({}, ["test", remote.url])).toMatchObject({ code: 0, stdout: expect.stringContaining("✔ local:") });
  });

  it("LC-9 --json of a failure is the whole result, on stdout", async () => {
    const { code, stdout } = await run(BROKEN, ["test", "--json", "broken"]);
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({ success: false, tools: [], error: { kind: "ProcessSpawnFailed" } });
  });

  it("2: LC-3 a credential that is missing is named", async () => {
    const { code, stderr } = await run({ it: { ...fixture("echo"), env: { TOKEN: "${NOT_SET}" } } }, ["test", "it"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: it: Missing required credentials\n(.*\n)*.*NOT_SET/);
  });
});

describe("secrets", () => {
  const SECRET = "sk-live-0123456789abcdef";

  it("SE-1 a stored secret reaches its server, and is never shown", async () => {
    const made = await home({ it: { ...fixture("echo"), env: { API_KEY: { secretRef: "service" } } } });
    expect(await plugboard(made, ["secret", "set", "service"], { stdin: `${SECRET}\n` })).toMatchObject({ code: 0 });
    const { stdout } = await plugboard(made, ["secret", "ls"]);
    expect(stdout).toBe("NAME     USED BY\nservice  it\n");
    expect(await plugboard(made, ["call", "it.env", "name=API_KEY"])).toMatchObject({ stdout: `${SECRET}\n` });
    const files = await readdir(made.dir, { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      expect(await readFile(join(file.parentPath, file.name), "latin1")).not.toContain(SECRET);
    }
  });
});

describe("up", () => {
  it("F21 a port that is in use ends it before any process is started", async () => {
    const blocker: Server = createServer().listen(0, "127.0.0.1");
    await once(blocker, "listening");
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP listener has an address of this form
    const { port } = blocker.address() as AddressInfo;
    const file = join((await home({})).dir, "starts");
    const { code, stdout, stderr } = await run({ it: fixture("exits-on-probe", file) }, ["up", "--port", String(port)]);
    blocker.close();
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toMatch(
      new RegExp(`^error: Port ${port} on 127.0.0.1 is already in use\n {2}(?:fix|note): .*--port`),
    );
    await expect(readFile(file)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it.each(["0.0.0.0", "::", "192.168.0.1", "example.com"])(
    "SE-3 --host %s is refused, nothing is started",
    async (host) => {
      const file = join((await home({})).dir, "starts");
      const finished = await run({ it: fixture("exits-on-probe", file) }, ["up", "--port", "0", "--host", host]);
      expect(finished).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("Refused to listen") });
      await expect(readFile(file)).rejects.toMatchObject({ code: "ENOENT" });
    },
  );
});

describe("config files that are wrong", () => {
  const WRONG: [what: string, text: string, says: RegExp][] = [
    [
      "truncated",
      '{"mcpServers": {"it": {"command": "no',
      /mcp_server\.json is not valid JSON: .* at line 1, column \d+/,
    ],
    ["a list", "[]", /mcp_server\.json/],
    ["a number", "42", /mcp_server\.json/],
    ["servers that are a list", '{"mcpServers": []}', /mcpServers/],
    ["huge", `{"mcpServers": {}, "x": "${"x".repeat(5 << 20)}"}`, /larger than 4 MiB/],
    ["nested without end", `{"mcpServers": ${"[".repeat(10_000)}`, /nested deeper/],
    ["no text", "\u0000\u0001\u0002", /mcp_server\.json/],
  ];

  it.each(WRONG)("CF-7 CF-8 %s: a clear error, nothing changed", async (_, text, says) => {
    const made = await home(undefined);
    const path = join(made.dir, "config/mcp_server.json");
    await writeFile(path, text);
    const commands = [["ls"], ["up", "--port", "0"], ["stdio"]];
    for (const { code, stdout, stderr } of await Promise.all(commands.map((args) => plugboard(made, args)))) {
      expect(stderr).toMatch(/^error: /);
      expect(stderr).toMatch(says);
      expect(stderr).not.toMatch(/^ {4}at |node:internal/m);
      expect({ code: code === 7 ? 2 : code, stdout }).toEqual({ code: 2, stdout: "" });
    }
    expect(await readFile(path, "utf8")).toBe(text);
    expect(await readdir(join(made.dir, "config"))).toEqual(["mcp_server.json"]);
  });

  it.each(["", "  \n", "// nothing yet\n"])("CF-3 a file that holds %j is an empty config", async (text) => {
    const made = await home(undefined);
    await writeFile(join(made.dir, "config/mcp_server.json"), text);
    expect(await plugboard(made, ["ls"])).toMatchObject({ code: 0, stdout: expect.stringContaining("No servers") });
  });

  it("CF-3 no file at all is the demo, which works", async () => {
    const made = await home(undefined);
    const { code, stdout } = await plugboard(made, ["tools"]);
    expect(code).toBe(0);
    expect(stdout).toContain("config_example");
    expect(await readdir(join(made.dir, "config"))).toEqual([]);
  });

  it("GR-2 a group of an unknown server is warned about, the rest works", async () => {
    const made = await home(ECHO, { work: { servers: ["it", "ghost"] } });
    const { code, stdout } = await plugboard(made, ["tools", "--group", "work"]);
    expect(code).toBe(0);
    expect(stdout).toContain("echo");
  });

  it("GR-1 R14 a group that is wrong is said, and stops nothing", async () => {
    const made = await home(ECHO, { work: { servers: "it" } });
    const { code, stdout } = await plugboard(made, ["group", "ls"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/work .*servers must be a list/);
  });
});
