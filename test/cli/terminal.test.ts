// Output on a terminal: width, colours, progress, prompts and suggestions, with a running hub and without one.

import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { closeHub, openHome } from "../support/cli.ts";
import {
  failing,
  fixture,
  makeHome,
  plugboard,
  published,
  startHub,
  type Home,
  type RunningHub,
} from "../support/hub.ts";
import { noTerminal, onTerminal, visible } from "../support/terminal.ts";

const ESC = "\u001b";
const LONG = "a-server-with-a-long-name-of-its-own";
const SERVERS = {
  it: fixture("echo"),
  [LONG]: failing(),
  off: { ...fixture("echo"), enabled: false },
  everything: published("server-everything"),
};

const widest = (text: string) => Math.max(...text.split("\n").map((line) => line.length));

describe.skipIf(noTerminal !== undefined)(`on a terminal${noTerminal ?? ""}`, () => {
  let home: Home;
  let hub: RunningHub;
  beforeAll(async () => {
    home = await makeHome(SERVERS, { work: { servers: ["it", LONG] }, other: { servers: [LONG] } });
    hub = await startHub(home);
    return () => closeHub(hub);
  });

  it("states have a mark and a colour, and lines are truncated to the width", async () => {
    const { code, screen } = await onTerminal(home, ["ls"], { columns: 90 });
    expect(code).toBe(0);
    expect(screen).toContain(`${ESC}[32m● running`);
    expect(screen).toContain(`${ESC}[31m✖ error`);
    // The width counts visible characters only.
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
  ])("%s turns colours off and keeps the marks", async (_, args, env) => {
    const { screen } = await onTerminal(home, args, { env });
    expect(screen).not.toContain(ESC);
    expect(screen).toContain("● running");
  });

  it("--json prints the same as in a pipe", async () => {
    const { screen } = await onTerminal(home, ["get", "it", "--json"]);
    expect(JSON.parse(screen)).toMatchObject({ config: { name: "it" } });
  });

  it("a pipe gets no colours unless FORCE_COLOR is set", async () => {
    expect((await plugboard(home, ["ls"])).stdout).not.toContain(ESC);
    expect((await plugboard(home, ["status"], { env: { FORCE_COLOR: "1" } })).stdout).toContain(ESC);
  });

  it("errors are red and have a cause and a fix", async () => {
    const { code, screen } = await onTerminal(home, ["call", "it.nothing"]);
    expect(code).toBe(6);
    expect(screen).toContain(`${ESC}[31merror:${ESC}[39m Tool not found`);
    expect(screen).toMatch(/note: +Tools: echo, /);
  });

  it("Ctrl-C ends a command with exit code 130", async () => {
    const { code } = await onTerminal(home, ["calls", "-f"], { type: { after: /TIME/, keys: "\u0003" } });
    expect(code).toBe(130);
  });

  it.each([60, 80, 120])("ls does not truncate a reason at %i columns", async (columns) => {
    const screen = visible((await onTerminal(home, ["ls"], { columns })).screen);
    expect(widest(screen)).toBeLessThanOrEqual(columns);
    expect(screen.replaceAll(/\s+/g, " ")).toContain(
      "The server exited with code 3 before the handshake: fatal: no configuration found",
    );
    expect(screen).toMatch(/^NAME .*STATUS/);
    expect(screen).not.toContain("…");
  });

  it("ls --wide shows every column in full", async () => {
    const screen = visible((await onTerminal(home, ["ls", "--wide"], { columns: 80 })).screen);
    expect(screen).toMatch(/^NAME +KIND +STATUS .*P50 +P95 .*GROUPS +TOKENS +PID +MCP +RUN\n/);
    expect(screen).toMatch(
      new RegExp(`^it +node +● running .*≈\\d+ +${String.raw`\d+ +2025-11-25`} .*echo\\.mjs$`, "m"),
    );
  });

  it("call shows its progress and the elapsed time", async () => {
    const args = ["call", "everything.trigger-long-running-operation", "duration=3", "steps=2"];
    const { code, screen } = await onTerminal(home, args);
    expect(code).toBe(0);
    expect(screen).toMatch(/… 1 of 2 {2}\d\.\ds/);
    expect(visible(screen)).toContain("Long running operation completed");
  });

  it("call shows the elapsed time if the server reports no progress", async () => {
    const { screen } = await onTerminal(home, ["call", "it.sleep", "ms=2000"]);
    expect(screen).toMatch(/… calling it\.sleep {2}\d\.\ds/);
  });

  it.each(["a hub that runs", "no hub"])("Ctrl-C cancels a call and exits 130, with %s", async (where) => {
    const config = where === "no hub" ? await openHome({ onTestFinished }, { it: SERVERS.it }) : home;
    const { code, screen } = await onTerminal(config, ["call", "it.sleep", "ms=60000"], {
      type: { after: /calling it\.sleep/, keys: "\u0003" },
    });
    expect(code).toBe(130);
    expect(visible(screen).trimEnd()).toMatch(/cancelled$/);
    expect(screen).not.toContain("error:");
  });

  it("call asks the user for each field of a server's form", async () => {
    const asked = await openHome({ onTestFinished }, { everything: SERVERS.everything });
    const enter = { after: /: $/, keys: "\r" };
    const { code, screen } = await onTerminal(asked, ["call", "everything.trigger-elicitation-request"], {
      columns: 300,
      type: [
        { after: /Answer\? \[Y\/n\] $/, keys: "\r" },
        { after: /String \(Your full, legal name\): $/, keys: "\r" },
        { after: /String is required\.\s+String .*: $/, keys: "Ada\r" },
        { after: /y or n \[optional\]: $/, keys: "maybe\r" },
        { after: /Answer y or n\.\s+Boolean.*: $/, keys: "y\r" },
        ...Array.from({ length: 20 }, () => enter),
      ],
    });
    expect(code).toBe(0);
    expect(screen).toContain("everything.trigger-elicitation-request asks: Please provide inputs");
    expect(screen).toContain("one of Superman, Green Lantern, Wonder Woman [Superman]");
    const result = visible(screen).split("Raw result: ")[1] ?? "{}";
    expect(JSON.parse(result)).toMatchObject({ action: "accept", content: { name: "Ada", check: true, integer: 42 } });
  });

  it.each([
    ["n declines it", [{ after: /Answer\? \[Y\/n\] $/, keys: "n\r" }], [], "decline"],
    ["--no-input declines it, and says why", undefined, ["--no-input"], "decline"],
  ])("%s", async (_, type, options, action) => {
    const asked = await openHome({ onTestFinished }, { everything: SERVERS.everything });
    const args = ["call", "everything.trigger-elicitation-request", ...options];
    const { screen } = await onTerminal(asked, args, { columns: 300, ...(type === undefined ? {} : { type }) });
    expect(visible(screen)).toContain(`"action": "${action}"`);
    if (options.length > 0) expect(screen).toMatch(/note: declined "Please provide.*: stdin is not a terminal/);
  });

  it("without a terminal the server gets the reason why its form is not answered", async () => {
    const { code, stdout } = await plugboard(home, ["call", "everything.trigger-elicitation-request"]);
    expect(code).toBe(5);
    expect(stdout).toMatch(/cannot be answered: the call came from a program.*plugboard call on a terminal/);
  });

  it.each([
    [["get", "everythin"], "everything"],
    [["tools", "EVERYTHING"], "everything"],
    [["call", "everything.ecoh"], "echo"],
    [["call", "everythin.echo"], "everything.echo"],
    [["tools", "--group", "wrok"], "work"],
    [["group", "get", "wrok"], "work"],
    [["install", "cursr"], "cursor"],
    [["secret", "rm", "tokne"], "token"],
    [["instal"], "install"],
  ])("plugboard %j suggests %s", async (args, meant) => {
    if (args[0] === "secret") await plugboard(home, ["secret", "set", "token"], { stdin: "x" });
    const { code, stderr } = await plugboard(home, args);
    expect([2, 6]).toContain(code);
    expect(stderr).toMatch(new RegExp(`^  note:  Did you mean ${meant.replace(".", String.raw`\.`)}\\?$`, "m"));
    expect(stderr).not.toContain("fix:");
  });

  it("get prints each output line of a failed server once", async () => {
    const { stdout } = await plugboard(home, ["get", LONG]);
    expect(stdout.match(/fatal: no configuration found/g)).toHaveLength(1);
    expect(stdout).toMatch(/^ {2}cause +fatal: no configuration found$/m);
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^ {2}then +plugboard restart a-server/);
  });

  it("start of a failing server prints the reason, and its advice is not circular", async () => {
    const { code, stderr } = await plugboard(home, ["start", LONG]);
    expect(code).toBe(4);
    expect(stderr).toMatch(/^error: .*\n {2}cause: fatal: no configuration found\n {2}note: +After fixing it: /);
  });

  it("--json on a terminal escapes cursor controls and text direction marks", async () => {
    const { screen } = await onTerminal(home, ["call", "it.echo", "text=a\u009b31m\u202eb", "--json"]);
    expect(screen).toContain(String.raw`a\u009b31m\u202eb`);
    expect(JSON.parse(screen)).toMatchObject({ content: [{ text: "a\u009b31m\u202eb" }] });
  });

  it("calls shows the outcome and the reason of each call, and calls ID shows every detail", async () => {
    await plugboard(home, ["call", "it.add", "a=1", "b=2"]);
    await plugboard(home, ["call", "it.fail"]);
    await plugboard(home, ["call", "it.nothing-like-it"]);
    const { stdout } = await plugboard(home, ["calls", "--server", "it"]);
    expect(stdout).toMatch(/^ *ID +TIME +SERVER +TOOL +GROUP +CLIENT +TOOK +RESULT +MESSAGE\n/);
    expect(stdout).toMatch(/ it +add +\S+ +cli +\S+ +ok$/m);
    expect(stdout).toMatch(/ it +fail +\S+ +cli +\S+ +tool error +it failed$/m);
    expect(stdout).toMatch(/ it +nothing-like-it +\S+ +cli +\S+ +refused +Tool not found/m);
    const [, id = ""] = /^ *(\d+) .* add .*$/m.exec(stdout) ?? [];
    const detail = await plugboard(home, ["calls", id]);
    expect(detail.stdout).toMatch(/^it\.add {2}ok {2}call \d+\n {2}time +\S.*took \S+\n {2}by +cli, through \S+\n/);
    expect(detail.stdout).toMatch(
      / {2}arguments\n {4}\{\n {6}"a": 1,\n {6}"b": 2\n {4}\}\n {2}result\n[^]*"text": "3"/,
    );
    expect(await plugboard(home, ["calls", "999999"])).toMatchObject({ code: 6 });
    expect(await plugboard(home, ["calls", "it"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--server"),
    });
    const narrow = visible((await onTerminal(home, ["calls"], { columns: 80 })).screen);
    expect(widest(narrow)).toBeLessThanOrEqual(80);
    expect(narrow).toMatch(/ fail .* tool error +it failed/);
  });

  it("logs on a terminal show times and a colour per server", async () => {
    const screen = visible((await onTerminal(home, ["logs", LONG, "everything"])).screen);
    expect(screen).toMatch(new RegExp(`^(?:\\d{4}-\\d\\d-\\d\\d )?\\d\\d:\\d\\d:\\d\\d  ${LONG}  fatal: no conf`, "m"));
    const bare = visible((await onTerminal(home, ["logs", LONG, "--no-time"])).screen);
    expect(bare).toMatch(/^fatal: no configuration found/m);
    expect((await plugboard(home, ["logs", LONG])).stdout).toMatch(/^fatal: /);
    expect((await plugboard(home, ["logs", LONG, "--time"])).stdout).toMatch(/\d\d:\d\d:\d\d {2}fatal: /);
  });

  it("the hub's address serves a page without scripts that describes the hub", async () => {
    const response = await fetch(`${hub.url}/`);
    const page = await response.text();
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page).toContain(`${hub.url}/mcp`);
    // The form of the address that every client accepts.
    expect(page).toContain(`${hub.url}/groups/&#60;group&#62;/mcp`);
    expect(page).toContain('name="color-scheme" content="light dark"');
    expect(page).not.toMatch(/<script|https:/);
    expect((await fetch(`${hub.url}/`, { method: "HEAD" })).status).toBe(200);
    expect((await fetch(`${hub.url}/nothing`)).status).toBe(404);
    expect((await fetch(`${hub.url}/`, { method: "POST" })).status).toBe(404);
  });

  it("up exits 7 and prints only that this hub is already running", async () => {
    const groups = join(home.dir, "config/group.json");
    await writeFile(groups, '{"g": {"servers": ["unknown"]}}');
    const { code, stderr } = await plugboard(home, ["up", "--port", new URL(hub.url).port]);
    expect(code).toBe(7);
    expect(stderr).toMatch(
      /^error: The hub is already running: http\S+\/mcp \(pid \d+\)\n {2}fix: +plugboard status\n$/,
    );
    await rm(groups);
  });

  it("LC-10 the start of a slow server is shown", async () => {
    const { command, args } = fixture("slow-start", "2000");
    const { code, screen } = await onTerminal(home, ["add", "slow", "--", command, ...args]);
    expect(code).toBe(0);
    expect(screen).toMatch(/… testing slow {2}[12]\.\ds/);
    expect(screen).toContain("Added slow (");
  });
});
