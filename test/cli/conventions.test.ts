// Conventions of all commands, as real processes on one hub: global options, exit codes, results byte by byte, and the table of
// servers.

import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ERRORS } from "../../hub/src/errors.ts";
import { tokenOf } from "../support/client.ts";
import { closeHome, closeHub } from "../support/cli.ts";
import { recordedIn } from "../support/calls.ts";
import { failing, fixture, makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { noTerminal, onTerminal } from "../support/terminal.ts";
import { listen } from "../support/sockets.ts";

let home: Home;
let hub: RunningHub;
/** A home as on another machine: other servers, no token. */
let away: Home;
let token: string;

beforeAll(async () => {
  [home, away] = await Promise.all([
    makeHome({
      it: { ...fixture("echo"), env: { API_KEY: { secretRef: "stored" }, OTHER: "${OTHER:-x}" } },
      broken: failing(),
      needy: { ...fixture("echo"), env: { KEY: { secretRef: "nowhere", required: true } } },
      off: { ...fixture("echo"), enabled: false },
    }),
    makeHome({ mine: fixture("echo") }),
  ]);
  await plugboard(home, ["secret", "set", "stored"], { stdin: "planted-cli-2718" });
  hub = await startHub(home);
  token = await tokenOf(home);
});

afterAll(async () => {
  await closeHub(hub);
  await closeHome(away);
});

/** The text that the fixture writes. */
const NUMBERS = '"depth":1.0,"id":12345678901234567890';
const RESULT = /^\{"success":true,"content":.*"depth":1\.0,"id":12345678901234567890.*"n":0\.10.*\}\n$/;

const withoutTime = (json = "") => json.replace(/"duration_ms":[\d.]+/, "");

describe("CL-5 RS-7 call --json wraps the server's bytes unchanged", () => {
  it("a tool result is the same with a hub, through a group, without a hub and from a remote hub", async () => {
    const remote = ["--url", hub.url, "--token", token];
    const finished = await Promise.all([
      plugboard(home, ["call", "it.unknown_fields", "--json"]),
      plugboard(home, ["call", "it.unknown_fields", "--group", "default", "--json"]),
      plugboard(away, ["call", "mine.unknown_fields", "--json"]),
      plugboard(away, ["call", "it.unknown_fields", "--json", ...remote]),
    ]);
    for (const { code, stdout, stderr } of finished) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(RESULT);
      expect(withoutTime(stdout)).toBe(withoutTime(finished[0]?.stdout));
    }
  });

  it("a resource and a prompt are wrapped the same way", async () => {
    const [read, prompt] = await Promise.all([
      plugboard(home, ["read", "test://items/7", "--json"]),
      plugboard(home, ["prompt", "it.greet", "who=Bo", "--json"]),
    ]);
    expect(JSON.parse(read.stdout)).toMatchObject({ contents: [{ uri: "test://items/7" }] });
    expect(JSON.parse(prompt.stdout)).toMatchObject({ messages: [{ role: "user" }] });
    expect((read.stdout + prompt.stdout).split("\n")).toHaveLength(3);
  });

  it("numbers in arguments reach the server with all their digits", async () => {
    await plugboard(home, ["call", "it.echo", "text=x", "n=12345678901234567890", "m=1.0"]);
    expect(await recordedIn(join(home.dir, "data"))).toContain('"n":12345678901234567890,"m":1.0');
  });

  it("a result with isError is printed, and the exit code is 5", async () => {
    const { code, stdout } = await plugboard(home, ["call", "it.fail", "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([5, { success: false, content: [{ text: "it failed" }] }]);
  });

  it.skipIf(noTerminal !== undefined)(`on a terminal the JSON is indented${noTerminal ?? ""}`, async () => {
    const { screen } = await onTerminal(home, ["call", "it.unknown_fields", "--json"]);
    expect(screen).toMatch(/^ {6}"depth": 1\.0,\r\n {6}"id": 12345678901234567890\r\n/m);
    expect(screen).not.toContain(NUMBERS);
  });
});

describe("ls", () => {
  it("RS-5 shows the calls of the day, their duration and the number of failures", async () => {
    await Promise.all([
      ...[1, 2, 3].map((n) => plugboard(home, ["call", "it.add", `a=${n}`, "b=1"])),
      plugboard(home, ["call", "it.rpc_error"]),
    ]);
    const { stdout } = await plugboard(home, ["ls"]);
    const cells = (name: string) =>
      stdout
        .split("\n")
        .find((line) => line.startsWith(`${name} `))
        ?.split(/\s{2,}/);
    const [, , , , calls, p50, p95, errors, up] = cells("it") ?? [];
    const { stdout: json } = await plugboard(home, ["stats", "it", "--json"]);
    const [{ calls_24h, errors_24h }] = JSON.parse(json);
    expect([calls, errors]).toEqual([String(calls_24h), `${Math.round((errors_24h / calls_24h) * 100)}%`]);
    expect(errors_24h).toBeGreaterThan(0);
    for (const each of [p50, p95, up]) expect(each).toMatch(/^[\d.]+(?:ms|s|m)$/);
    expect(cells("broken")?.slice(3, 9)).toEqual(["-", "-", "-", "-", "-", "-"]);
    expect(stdout).toMatch(/^4 servers: 1 running, 2 need attention, 1 disabled$/m);
  });

  it("ps is an alias of ls --running, and list of ls", async () => {
    const names = async (...args: string[]) => {
      const { code, stdout } = await plugboard(home, [...args, "--json"]);
      expect(code).toBe(0);
      return JSON.parse(stdout).map(({ name }: { name: string }) => name);
    };
    expect(await Promise.all([names("ps"), names("ls", "--running"), names("list")])).toEqual([
      ["it"],
      ["it"],
      ["it", "broken", "needy", "off"],
    ]);
  });
});

describe("get", () => {
  it("names the missing secret and ends with the fix", async () => {
    const { stdout } = await plugboard(home, ["get", "needy"]);
    expect(stdout).toMatch(/^ {2}env {2,}KEY = secret nowhere \(missing\)$/m);
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^ {2}fix {2,}plugboard secret set nowhere/);
    expect((await plugboard(home, ["get", "it"])).stdout).toMatch(/^ {2}env {2,}API_KEY = secret stored$/m);
  });

  it("shows the reason of a failure once, and adds a fix if the error has none", async () => {
    const { stdout } = await plugboard(home, ["get", "broken"]);
    expect(stdout).toMatch(/^ {2}cause {2,}fatal: no configuration found$/m);
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^ {2}then {2,}plugboard restart broken$/);
  });
});

describe("logs", () => {
  it("--since omits older lines", async () => {
    const [all, none, wrong] = await Promise.all([
      plugboard(home, ["logs", "broken", "--since", "1h"]),
      plugboard(home, ["logs", "broken", "--since", "2999-01-01"]),
      plugboard(home, ["logs", "broken", "--since", "soon"]),
    ]);
    expect(all.stdout).toContain("fatal: no configuration found\n");
    expect(none).toMatchObject({
      code: 0,
      stdout: "",
      stderr: expect.stringMatching(/^broken has written nothing to /),
    });
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("exit codes", () => {
  it("the help explains the exit code of every kind of error", async () => {
    const { code, stdout, stderr } = await plugboard(away, ["help", "exit-codes"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const exit of [0, 1, 2, 3, 4, 5, 6, 7, 130]) expect(stdout).toMatch(new RegExp(`^ *${exit}  \\w`, "m"));
    for (const kind of Object.keys(ERRORS)) expect(stdout).toContain(kind);
    const asJson = JSON.parse((await plugboard(away, ["help", "exit-codes", "--json"])).stdout);
    expect(asJson).toContainEqual(expect.objectContaining({ exit_code: 6, meaning: "not found" }));
    expect((await plugboard(away, ["--help"])).stdout).toMatch(/plugboard help <topic>\n(?: .*\n)* {2}exit-codes /);
  });

  it.concurrent.each<[number, string[]]>([
    [0, ["ls"]],
    [0, ["status"]],
    [1, ["status", "--check"]],
    [1, ["doctor"]],
    [2, ["calls", "--limit", "0"]],
    [2, ["no-such-command"]],
    [3, ["ls", "--url", "URL", "--token", "wrong"]],
    [4, ["start", "broken"]],
    [5, ["call", "it.fail"]],
    [6, ["secret", "rm", "nothing"]],
    [7, ["start", "off"]],
  ])("exit code %i: plugboard %j", async (code, words) => {
    const args = words.map((word) => word.replace("URL", hub.url));
    const finished = await plugboard(home, args);
    expect(finished.code).toBe(code);
    if (code > 1 && code !== 5) expect(finished.stderr).toMatch(/^error: .*\n(?:.*\n)* {2}(?:fix|note): +\S/);
    const asJson = await plugboard(home, [...args, "--json"]);
    expect(asJson.code).toBe(code);
    if (code > 1 && code !== 5) {
      expect(JSON.parse(asJson.stderr)).toMatchObject({ code: expect.any(String), message: expect.any(String) });
    }
  });

  it("an unknown secret is not reported as an unknown server", async () => {
    const { stderr } = await plugboard(home, ["secret", "rm", "nothing", "--json"]);
    expect(JSON.parse(stderr)).toMatchObject({ kind: "SecretNotFound", hint: "Secrets: stored" });
  });
});

describe("--url and --token run the same commands on a remote hub", () => {
  it.concurrent.each<[string[], RegExp]>([
    [["ls"], /^it +node +running /m],
    [["status"], /^MCP +http/m],
    [["get", "it"], /^it {2}running/],
    [["tools", "it"], /^it__echo|^echo/m],
    [["call", "it.add", "a=2", "b=3"], /^5\n$/],
    [["read", "test://items/7"], /7/],
    [["prompt", "it.greet", "who=Bo"], /^user:\nGreet Bo\n$/],
    [["calls"], /^ID +TIME /],
    [["stats"], /^SERVER /],
    [["logs", "broken"], /fatal/],
    [["group", "ls"], /^NAME /],
    [["secret", "ls"], /^NAME +USED BY\nstored /],
    [["config", "show"], /"mcpServers"/],
    [["test", "it"], /^✔ it: /],
    [["version"], /^plugboard /],
    [["open"], /^http/],
    [[], /^MCP +http/m],
  ])("plugboard %j", async (words, stdout) => {
    const finished = await plugboard(away, [
      ...words.slice(0, 1),
      "--url",
      hub.url,
      "--token",
      token,
      ...words.slice(1),
    ]);
    expect(finished).toMatchObject({ code: 0, stderr: "" });
    expect(finished.stdout).toMatch(stdout);
    expect(finished.stdout).not.toContain(token);
  });

  it("T37 another program that listens on a local address does not get the token", async () => {
    const heard: (string | undefined)[] = [];
    const listener = createServer(({ headers }, response) => {
      heard.push(headers.authorization);
      response.end('{"proof":"' + "0".repeat(64) + '"}');
    });
    await listen(listener);
    const address = listener.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const asked = await plugboard(away, ["ls", "--url", `http://127.0.0.1:${port}`, "--token", token]);
    expect(asked).toMatchObject({ code: 3, stderr: expect.stringContaining("nothing was sent to it") });
    expect(heard).toEqual([undefined]);
    listener.close();
    await once(listener, "close");
  });

  it("a server and a group are added and removed on the remote hub, and the local config is unchanged", async () => {
    const before = await readFile(join(away.dir, "config/mcp_server.json"), "utf8");
    const there = (...words: string[]) => plugboard(away, [...words, "--url", hub.url, "--token", token]);
    expect(await there("group", "add", "team", "--servers", "it")).toMatchObject({ code: 0 });
    expect(await there("group", "add", "team", "--servers", "it", "--json")).toMatchObject({
      code: 7,
      stderr: expect.stringContaining('"GroupAlreadyExists"'),
    });
    expect(await there("disable", "broken")).toMatchObject({ code: 0, stdout: `Disabled broken in ${hub.url}\n` });
    expect(await there("enable", "broken")).toMatchObject({ code: 4 });
    expect(await there("group", "rm", "team")).toMatchObject({ code: 0 });
    expect(await readFile(join(away.dir, "config/mcp_server.json"), "utf8")).toBe(before);
  });

  it.each<[number, string[], RegExp]>([
    [2, ["--token", "x"], /^error: --token is for a remote hub\n/],
    [2, ["--url", "URL", "--token", "x", "--token-file", "y"], /^error: Use either --token or --token-file\n/],
    [3, ["--url", "URL"], /^error: A remote hub needs a token\n/],
  ])("exit code %i: %j", async (code, words, stderr) => {
    const finished = await plugboard(away, ["ls", ...words.map((word) => word.replace("URL", hub.url))]);
    expect(finished).toMatchObject({ code, stdout: "" });
    expect(finished.stderr).toMatch(stderr);
  });
});

describe("--timeout", () => {
  it.each<[string, () => Home, string[]]>([
    ["a call in the running hub", () => home, ["call", "it.hang"]],
    ["a call without a hub", () => away, ["call", "mine.hang"]],
  ])("exit code 4: %s", async (_, where, words) => {
    const { code, stdout, stderr } = await plugboard(where(), [...words, "--timeout", "1s", "--json"]);
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({ kind: "Timeout" });
    expect(processesWithMark(away.mark)).toEqual([]);
  });

  it("exit code 4: a server that takes too long to start, without a hub", async () => {
    const slow = await makeHome({ slow: fixture("slow-start", "60000") });
    const { code, stderr } = await plugboard(slow, ["tools", "slow", "--timeout", "500ms"]);
    expect(code).toBe(4);
    expect(stderr).toMatch(/^error: Timed out after 500 ms\n {2}(?:fix|note): +Give it more time/);
    expect(processesWithMark(slow.mark)).toEqual([]);
    await slow.remove();
  });

  it.each(["soon", "0s", "-1s", "99d"])("exit code 2: %s", async (timeout) => {
    expect(await plugboard(home, ["ls", `--timeout=${timeout}`])).toMatchObject({ code: 2, stdout: "" });
  });

  it("a command that finishes in time is unaffected", async () => {
    expect((await plugboard(home, ["call", "it.add", "a=1", "b=1", "--timeout", "60"])).stdout).toBe("2\n");
  });
});

describe("--verbose, --quiet and --no-input", () => {
  it("-v prints the hub and the requests, never the token", async () => {
    const { code, stdout, stderr } = await plugboard(home, ["-v", "ls"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^NAME /);
    expect(stderr).toMatch(new RegExp(`^hub ${hub.url}\n`));
    expect(stderr).toMatch(/^GET \/api\/v1\/servers 200 [\d.]+m?s [\da-f-]{36}$/m);
    expect(stdout + stderr).not.toContain(token);
    expect((await plugboard(home, ["ls", "-v"])).stderr).toContain("GET /api/v1/servers 200");
  });

  it("-q keeps the result", async () => {
    expect(await plugboard(home, ["-q", "call", "it.add", "a=1", "b=1"])).toEqual({
      code: 0,
      stdout: "2\n",
      stderr: "",
    });
  });

  it.skipIf(noTerminal !== undefined)(`--no-input and -y never prompt${noTerminal ?? ""}`, async () => {
    for (const flag of ["--no-input", "-y"]) {
      const { code, screen } = await onTerminal(away, ["secret", "set", "x", flag]);
      expect(code).toBe(2);
      expect(screen).toMatch(/fix: +\S*printf %s VALUE \| plugboard secret set NAME/);
      expect(screen).not.toContain("Value of x");
    }
    expect((await plugboard(away, ["secret", "set", "x", "-y"], { stdin: "v" })).code).toBe(0);
  });

  it.skipIf(noTerminal !== undefined)(
    `FORCE_COLOR=0, --no-color and TERM=dumb turn colours off${noTerminal ?? ""}`,
    async () => {
      const screens = await Promise.all([
        onTerminal(home, ["status"], { env: { FORCE_COLOR: "0" } }),
        onTerminal(home, ["status", "--no-color"], { env: { FORCE_COLOR: "1" } }),
        onTerminal(home, ["get", "unknown"], { env: { TERM: "dumb" } }),
        onTerminal(home, ["status"]),
      ]);
      expect(screens.map(({ screen }) => screen.includes("\u001b["))).toEqual([false, false, false, true]);
    },
  );
});

describe("SE-1", () => {
  it("these commands print no secret and no token", async () => {
    const commands = [["get", "it"], ["ls"], ["status"], ["-v", "secret", "ls"], ["doctor"], ["config", "show"]];
    const outputs = await Promise.all(
      commands.flatMap((words) => [plugboard(home, words), plugboard(home, [...words, "--json"])]),
    );
    const shown = outputs.map(({ stdout, stderr }) => stdout + stderr).join("");
    expect(shown.length).toBeGreaterThan(2000);
    for (const secret of ["planted-cli-2718", token]) expect(shown).not.toContain(secret);
  });
});

describe("up", () => {
  it("prints the version and the address; serve and run are aliases", async () => {
    expect(hub.stdout()).toMatch(
      new RegExp(`^plugboard \\d+\\.\\d+\\.\\d+ {2}config ${home.dir}/config {2}data ${home.dir}/data\n`),
    );
    for (const alias of ["serve", "run"]) {
      expect((await plugboard(away, [alias, "--help"])).stdout).toContain("plugboard up|serve");
    }
  });
});
