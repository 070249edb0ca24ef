// What commands look like on a terminal of a common width, with a hub that runs and without one.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
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
import { processesWithMark } from "../support/processes.ts";
import { noTerminal, onTerminal, visible } from "../support/terminal.ts";

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
  });
  afterAll(async () => {
    await hub.stop();
    expect(processesWithMark(home.mark)).toEqual([]);
    await home.remove();
  });

  it.each([60, 80, 120])("D1 ls cuts no reason at %i columns", async (columns) => {
    const screen = visible((await onTerminal(home, ["ls"], { columns })).screen);
    expect(widest(screen)).toBeLessThanOrEqual(columns);
    expect(screen.replaceAll(/\s+/g, " ")).toContain(
      "The server exited with code 3 before the handshake: fatal: no configuration found",
    );
    expect(screen).toMatch(/^NAME .*STATUS/);
    expect(screen).not.toContain("…");
  });

  it("D25 ls --wide leaves out no column, and cuts none", async () => {
    const screen = visible((await onTerminal(home, ["ls", "--wide"], { columns: 80 })).screen);
    expect(screen).toMatch(/^NAME +KIND +STATUS .*P50 +P95 .*GROUPS +TOKENS +PID +MCP +RUN\n/);
    expect(screen).toMatch(
      new RegExp(`^it +node +● running .*≈\\d+ +${String.raw`\d+ +2025-11-25`} .*echo\\.mjs$`, "m"),
    );
  });

  it("D8 call shows how far it is, and for how long", async () => {
    const args = ["call", "everything.trigger-long-running-operation", "duration=1", "steps=2"];
    const { code, screen } = await onTerminal(home, args);
    expect(code).toBe(0);
    expect(screen).toMatch(/… 1 of 2 {2}\d\.\ds/);
    expect(visible(screen)).toContain("Long running operation completed");
  });

  it("D8 call shows the time of a server that tells no progress", async () => {
    const { screen } = await onTerminal(home, ["call", "it.sleep", "ms=700"]);
    expect(screen).toMatch(/… calling it\.sleep {2}\d\.\ds/);
  });

  it.each(["a hub that runs", "no hub"])("D8 130: Ctrl-C cancels a call, with %s", async (where) => {
    const config = where === "no hub" ? await makeHome({ it: SERVERS.it }) : home;
    const { code, screen } = await onTerminal(config, ["call", "it.sleep", "ms=60000"], {
      type: { after: /calling it\.sleep/, keys: "\u0003" },
    });
    expect(code).toBe(130);
    expect(visible(screen).trimEnd()).toMatch(/cancelled$/);
    expect(screen).not.toContain("error:");
    if (config !== home) await config.remove();
  });

  it("D9 call puts a server's form to the user, field by field", async () => {
    const asked = await makeHome({ everything: SERVERS.everything });
    const enter = { after: /: $/, keys: "\r" };
    const { code, screen } = await onTerminal(asked, ["call", "everything.trigger-elicitation-request"], {
      columns: 300,
      type: [
        { after: /Answer\? \[Y\/n\] $/, keys: "\r" },
        { after: /String \(Your full, legal name\): $/, keys: "\r" },
        { after: /String is required\.\s+String .*: $/, keys: "Ada\r" },
        { after: /y or n \[optional\]: $/, keys: "maybe\r" },
        { after: /Please answer y or n\.\s+Boolean.*: $/, keys: "y\r" },
        ...Array.from({ length: 20 }, () => enter),
      ],
    });
    expect(code).toBe(0);
    expect(screen).toContain("everything.trigger-elicitation-request asks: Please provide inputs");
    expect(screen).toContain("one of Superman, Green Lantern, Wonder Woman [Superman]");
    const result = visible(screen).split("Raw result: ")[1] ?? "{}";
    expect(JSON.parse(result)).toMatchObject({ action: "accept", content: { name: "Ada", check: true, integer: 42 } });
    await asked.remove();
  });

  it.each([
    ["n declines it", [{ after: /Answer\? \[Y\/n\] $/, keys: "n\r" }], [], "decline"],
    ["--no-input declines it, and says why", undefined, ["--no-input"], "decline"],
  ])("D9 %s", async (_, type, options, action) => {
    const asked = await makeHome({ everything: SERVERS.everything });
    const args = ["call", "everything.trigger-elicitation-request", ...options];
    const { screen } = await onTerminal(asked, args, { columns: 300, ...(type === undefined ? {} : { type }) });
    expect(visible(screen)).toContain(`"action": "${action}"`);
    if (options.length > 0)
      expect(screen).toMatch(/note: .*asked "Please provide.*was declined: there is nobody to ask/);
    await asked.remove();
  });

  it("D9 without a terminal the server hears why nobody answers", async () => {
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
  ])("D12 plugboard %j asks whether %s was meant", async (args, meant) => {
    if (args[0] === "secret") await plugboard(home, ["secret", "set", "token"], { stdin: "x" });
    const { code, stderr } = await plugboard(home, args);
    expect([2, 6]).toContain(code);
    expect(stderr).toMatch(new RegExp(`^  note:  Did you mean ${meant.replace(".", String.raw`\.`)}\\?$`, "m"));
    expect(stderr).not.toContain("fix:");
  });

  it("D13 get says each line of a failed server once", async () => {
    const { stdout } = await plugboard(home, ["get", LONG]);
    expect(stdout.match(/fatal: no configuration found/g)).toHaveLength(1);
    expect(stdout).toMatch(/^ {2}cause +fatal: no configuration found$/m);
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^ {2}then +plugboard restart a-server/);
  });

  it("D12 start of a server that fails says why, and leads nowhere in a circle", async () => {
    const { code, stderr } = await plugboard(home, ["start", LONG]);
    expect(code).toBe(4);
    expect(stderr).toMatch(/^error: .*\n {2}cause: fatal: no configuration found\n {2}note: +When that is put right: /);
  });

  it("C13 --json on a terminal moves no cursor and turns no text around", async () => {
    const { screen } = await onTerminal(home, ["call", "it.echo", "text=a\u009b31m\u202eb", "--json"]);
    expect(screen).toContain(String.raw`a\u009b31m\u202eb`);
    expect(JSON.parse(screen)).toMatchObject({ content: [{ text: "a\u009b31m\u202eb" }] });
  });

  it("D10 calls says how each went and why, and calls ID has all of it", async () => {
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

  it("D17 logs have times on a terminal, and each server its colour", async () => {
    const screen = visible((await onTerminal(home, ["logs", LONG, "everything"])).screen);
    expect(screen).toMatch(new RegExp(`^(?:\\d{4}-\\d\\d-\\d\\d )?\\d\\d:\\d\\d:\\d\\d  ${LONG}  fatal: no conf`, "m"));
    const bare = visible((await onTerminal(home, ["logs", LONG, "--no-time"])).screen);
    expect(bare).toMatch(/^fatal: no configuration found/m);
    expect((await plugboard(home, ["logs", LONG])).stdout).toMatch(/^fatal: /);
    expect((await plugboard(home, ["logs", LONG, "--time"])).stdout).toMatch(/\d\d:\d\d:\d\d {2}fatal: /);
  });

  it("D3 the hub's address is a page that says what it is, without scripts", async () => {
    const response = await fetch(`${hub.url}/`);
    const page = await response.text();
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page).toContain(`${hub.url}/mcp`);
    expect(page).toContain('name="color-scheme" content="light dark"');
    expect(page).not.toMatch(/<script|https:/);
    expect((await fetch(`${hub.url}/`, { method: "HEAD" })).status).toBe(200);
    expect((await fetch(`${hub.url}/nothing`)).status).toBe(404);
    expect((await fetch(`${hub.url}/`, { method: "POST" })).status).toBe(404);
  });

  it("D16 7: up says that this hub runs already", async () => {
    const { code, stderr } = await plugboard(home, ["up", "--port", new URL(hub.url).port]);
    expect(code).toBe(7);
    expect(stderr).toMatch(/^error: The hub runs already: http\S+\/mcp \(pid \d+\)\n {2}fix: +plugboard status\n$/);
  });
});
