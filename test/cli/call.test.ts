// call, read, prompt and test: results, exit codes, and errors with their cause and fix.

import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { BROKEN, closeHub, ECHO, GROUPS, json, openHome, run, serverFile, SERVERS } from "../support/cli.ts";
import { fixture, launch, makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { startRemote } from "../support/remote.ts";

describe("with a running hub", () => {
  let home: Home;
  let hub: RunningHub;
  beforeAll(async () => {
    home = await makeHome(SERVERS, GROUPS);
    hub = await startHub(home);
    return () => closeHub(hub);
  });

  it.concurrent.each([
    [["call", "it.add", "a=2", "b=3"], 0, "5\n"],
    [["call", "it:add", '{"a": 2, "b": 3}'], 0, "5\n"],
    [["call", "add", "a=2", "b=3"], 0, "5\n"],
    [["call", "it__add", "a=2", "b=3"], 0, "5\n"],
    [["call", "it.echo", "text=42"], 0, "42\n"],
    [["call", "echo", "text=x", "--group", "desk"], 0, "x\n"],
    [["call", "it.echo", "text=x", "--group", "desk"], 0, "x\n"],
    [["call", "it.fail"], 5, "it failed\n"],
  ])("MG-1 MC-T4 plugboard %j", async (args, code, stdout) => {
    expect(await plugboard(home, args)).toEqual({ code, stdout, stderr: "" });
  });

  it.concurrent.each([
    [5, ["call", "it.rpc_error"], /^error: The server answered with an error\n {2}cause: no such luck\n/],
    [6, ["call", "it.nothing"], /^error: Tool not found\n {2}cause: .*nothing/],
    [6, ["call", "unknown.echo"], /^error: Tool not found\n/],
    [6, ["call", "it.sleep", "ms=1", "--group", "desk"], /^error: Tool not found\n/],
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
  ])("exit code %d: plugboard %j", async (code, args, stderr) => {
    const finished = await plugboard(home, args);
    expect(finished.stderr).toMatch(stderr);
    expect(finished.stderr).toMatch(/^ {2}(?:fix|note): /m);
    expect(finished).toMatchObject({ code, stdout: "" });
  });

  it("RS-7 call --json prints the result, also of a failed tool", async () => {
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
      code: "NETWORK_ERROR",
    });
  });

  it("call reads JSON from stdin, which other users cannot see", async () => {
    const stdin = '{"text": "from stdin ✓"}';
    expect(await plugboard(home, ["call", "it.echo", "-"], { stdin })).toMatchObject({
      code: 0,
      stdout: "from stdin ✓\n",
    });
  });

  it("read prints a resource, and prompt prints a prompt", async () => {
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
    expect((await plugboard(home, ["prompt", "greet", "who=Bo", "--group", "desk"])).stdout).toBe("user:\nGreet Bo\n");
  });

  it("MG-1 LC-9 test tries a saved server, a command and a broken server, and leaves nothing running", async () => {
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
});

describe("call without a hub", () => {
  it.each([
    [["call", "it.add", "a=2", "b=3"], "5\n"],
    [["call", "it:add", '{"a": 2, "b": 3}'], "5\n"],
    [["call", "add", "a=2", "b=3"], "5\n"],
    [["call", "it.echo", "text=42"], "42\n"],
    [["call", "it.echo", "text=a=b c"], "a=b c\n"],
    [["call", "it.echo", 'text={"not": "parsed"}'], '{"not": "parsed"}\n'],
  ])("MC-T4 plugboard %j", async (args, expected) => {
    expect(await run(ECHO, args)).toEqual({ code: 0, stdout: expected, stderr: "" });
  });

  it("reads JSON from stdin if the argument is -", async () => {
    const stdin = '{ "text": "from stdin ✓" }\n';
    expect(await run(ECHO, ["call", "it.echo", "-"], { stdin })).toMatchObject({ code: 0, stdout: "from stdin ✓\n" });
  });

  it.each(["", "[1]", '"a=b"', "a=b", "{"])("exits 2 if stdin is %j, not a JSON object", async (stdin) => {
    const { code, stderr } = await run(ECHO, ["call", "it.echo", "-"], { stdin });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: .*JSON/);
  });

  it("CL-5 --json prints the result unchanged", async () => {
    const { stdout } = await run(ECHO, ["call", "it.unknown_fields", "--json"]);
    expect(stdout).toContain("12345678901234567890");
    expect(JSON.parse(stdout)).toMatchObject({ content: [{ type: "text" }, { type: "hologram" }] });
  });

  it("describes content that a terminal cannot show", async () => {
    const { stdout } = await run(ECHO, ["call", "it.unknown_fields"]);
    expect(stdout).toBe("known ✓ é\n[hologram]\n");
  });

  it("an answer larger than a pipe buffer arrives complete", async () => {
    const { code, stdout } = await run(ECHO, ["call", "it.big", "bytes=3000000"]);
    expect(code).toBe(0);
    expect(stdout.length).toBe(3_000_001);
  });

  it("a reader that closes the pipe (| head) does not crash the command", async () => {
    const { process: child, finished } = launch(await openHome({ onTestFinished }, ECHO), [
      "call",
      "it.big",
      "bytes=3000000",
    ]);
    child.stdout.destroy();
    expect(await finished).toMatchObject({ code: 0, stderr: "" });
  });

  it("MC-NT1 exits 7 for a disabled server", async () => {
    const { code, stderr } = await run({ it: { ...fixture("echo"), enabled: false } }, ["call", "it.echo", "text=x"]);
    expect(stderr).toContain('error: Server "it" is disabled');
    expect(code).toBe(7);
  });

  it("exits 130 when interrupted and leaves nothing running", async () => {
    const home = await openHome({ onTestFinished }, ECHO);
    const { process: child, finished } = launch(home, ["call", "it.hang"]);
    await expect.poll(() => processesWithMark(home.mark)).toHaveLength(1);
    child.kill("SIGINT");
    expect(await finished).toMatchObject({ code: 130, stdout: "" });
    expect(processesWithMark(home.mark)).toEqual([]);
  });
});

describe("exit codes without a hub", () => {
  it.each([
    [2, ["call", "it.add", "a"], /^error: Invalid argument "a": use key=value or one JSON object\n {2}(?:fix|note): /],
    [2, ["call", "it.add", "a=x"], /^error: "x" is not a valid .*number.*\n {2}field: a\n/],
    [2, ["call", "it.echo", "{"], /^error: The arguments are not valid JSON\n {2}cause: /],
    [2, ["no-such-command"], /error: unknown command/],
    [2, ["ls", "--no-such-option"], /error: unknown option/],
    [2, ["call"], /error: missing required argument/],
    [2, ["up", "--port", "70000"], /^error: Invalid port "70000"\n {2}field: port\n {2}(?:fix|note): /],
    [2, ["up", "--port", ""], /^error: Invalid port ""\n/],
    [
      2,
      ["up", "--host", "0.0.0.0"],
      /^error: Refused to listen on 0\.0\.0\.0.*\n {2}field: auth\.mcp\n {2}cause: (?:.*\n)+ {2}(?:fix|note): /,
    ],
    [4, ["call", "broken.echo"], /^error: The server exited with code 3.*\n {2}cause: fatal: no configuration found\n/],
    [
      4,
      ["test", "broken"],
      /^error: broken: The server exited with code 3.*\n {2}cause: fatal: no configuration found\n/,
    ],
    [5, ["call", "it.rpc_error"], /^error: The server answered with an error\n {2}cause: no such luck\n/],
    [6, ["call", "it.nothing"], /^error: Tool not found\n {2}cause: .*nothing/],
    [6, ["call", "unknown.echo"], /^error: Tool not found\n/],
    [6, ["call", "it.echo", "--group", "nowhere"], /^error: Group not found\n {2}cause: .*nowhere/],
    [6, ["tools", "unknown"], /^error: There is no server "unknown"\n {2}(?:fix|note): .*it/],
    [6, ["tools", "--group", "nowhere"], /^error: Group not found\n/],
    [6, ["stdio", "--group", "nowhere"], /^error: Group not found\n/],
    [
      6,
      ["test", "/no/such/program"],
      /^error: program: Package not found\n(?: {2}field: .*\n)? {2}cause: .*\n {2}(?:fix|note): /,
    ],
  ])("exit code %d: plugboard %j prints the error, its cause and the fix", async (code, args, stderr) => {
    const finished = await run({ ...ECHO, ...BROKEN }, args);
    expect(finished.stderr).toMatch(stderr);
    expect(finished).toMatchObject({ code, stdout: "" });
    expect(finished.stderr).not.toMatch(/^ {4}at |node:internal/m);
  });

  it("exit code 5: a failed tool, whose text is printed", async () => {
    expect(await run(ECHO, ["call", "it.fail"])).toMatchObject({ code: 5, stdout: "it failed\n" });
  });

  it("exit code 3: a server that requires credentials", async () => {
    const remote = await startRemote("legacy-http", ["--key=k"]);
    onTestFinished(remote.stop);
    const { code, stderr } = await run(ECHO, ["test", remote.url]);
    expect(stderr).toMatch(/^error: local: The server asks for credentials\n {2}cause: .*401/);
    expect(code).toBe(3);
  });

  it("exit code 6: an ambiguous tool name, with the choices", async () => {
    const { code, stderr } = await run({ a: fixture("echo"), b: fixture("echo") }, ["call", "echo", "text=x"]);
    expect(code).toBe(6);
    expect(stderr).toMatch(/^error: Several servers have a tool "echo"\n {2}(?:fix|note): .*a\.echo, b\.echo/);
  });

  it.each([
    [["call", "it.nothing"], { code: "NOT_FOUND", kind: "ToolNotFound", message: "Tool not found" }],
    [["up", "--host", "0.0.0.0"], { code: "VALIDATION_ERROR", field: "auth.mcp", hint: expect.any(String) }],
  ])("--json prints the error of %j as one line of JSON on stderr", async (args, error) => {
    const { stdout, stderr } = await run(ECHO, [...args, "--json"]);
    expect(stdout).toBe("");
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(stderr)).toMatchObject(error);
  });

  it.each([["--help"], ["call", "--help"], ["--version"]])("exit code 0: %s %s", async (...args) => {
    const { code, stdout, stderr } = await run(ECHO, args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).not.toBe("");
  });
});

describe("test without a hub", () => {
  it("LC-9 tries a configured server, even if it is disabled", async () => {
    const { code, stdout } = await run({ it: { ...fixture("echo"), enabled: false } }, ["test", "it"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✔ it: \d+ tools, 1 resource in \d+\.\ds\n {2}echo\n {2}add\n/);
  });

  it("LC-9 tries a command with its options and saves nothing; --json prints the whole result", async () => {
    const home = await openHome({ onTestFinished }, ECHO);
    const before = await readFile(serverFile(home), "utf8");
    const { command, args } = fixture("echo", "2025-06-18", "--port", "1");
    const { code, stdout } = await plugboard(home, ["test", "--json", command, ...args]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      success: true,
      message: expect.stringMatching(/^Connected: \d+ tools$/),
      tools: expect.arrayContaining([expect.objectContaining({ name: "echo" })]),
      resources: [{ uri: "test://static" }],
      latency_ms: expect.any(Number),
    });
    expect(await readFile(serverFile(home), "utf8")).toBe(before);
  });

  it.each(["legacy-http", "modern-http"])("LC-9 tries a URL (%s)", async (name) => {
    const remote = await startRemote(name);
    onTestFinished(remote.stop);
    expect(await run({}, ["test", remote.url])).toMatchObject({ code: 0, stdout: expect.stringContaining("✔ local:") });
  });

  it("LC-9 --json prints the whole result of a failure on stdout", async () => {
    const { code, stdout } = await run(BROKEN, ["test", "--json", "broken"]);
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({ success: false, tools: [], error: { kind: "ProcessSpawnFailed" } });
  });

  it("LC-3 exits 2 and names a missing credential", async () => {
    const { code, stderr } = await run({ it: { ...fixture("echo"), env: { TOKEN: "${NOT_SET}" } } }, ["test", "it"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: it: Missing required credentials\n(.*\n)*.*NOT_SET/);
  });
});
