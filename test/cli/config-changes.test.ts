// Commands that change the config: add, edit, rm, enable, disable, group and secret; with a running hub and without one.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { groupFile, json, openHome, openHub, savedServers, serverFile } from "../support/cli.ts";
import { failing, fixture, FIXTURES, plugboard, type Servers } from "../support/hub.ts";
import { processesWithMark, untilNoneWithMark } from "../support/processes.ts";

// Each test has a home of its own, so that all can run at the same time.
describe.concurrent.each(["with", "without"])("changing the config, %s a running hub", (how) => {
  const open = async (context: TestContext, servers: Servers = { it: fixture("echo") }, groups: unknown = {}) =>
    how === "with" ? (await openHub(context, servers, groups)).home : openHome(context, servers, groups);
  const { command, args } = fixture("echo");

  it("MG-1 CF-10 add tests a server and saves it, and the file keeps its comments", async (context) => {
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

  it("MG-1 settings shows and changes the retention of the call log", async (context) => {
    const home = await open(context);
    const changed = await plugboard(home, ["settings", "call_log.retention_days=90", "call_log.max_bytes=2GB"]);
    expect(changed).toMatchObject({
      code: 0,
      stderr: "",
      stdout: `Changed retention_days, max_bytes in ${serverFile(home)}\n`,
    });
    expect(JSON.parse(await readFile(serverFile(home), "utf8")).call_log).toEqual({
      retention_days: 90,
      max_bytes: 2 * 1024 ** 3,
    });
    await plugboard(home, ["settings", "call_log.max_bytes=default"]);
    const { stdout } = await plugboard(home, ["settings"]);
    expect(stdout).toMatch(/^call_log.retention_days +90\ncall_log.max_bytes +1073741824 \(1 GB\), .* used/);
    expect(stdout).toContain(`${home.dir}/config`);
    expect(await json(home, "settings")).toMatchObject({ call_log: { retention_days: 90, max_bytes: 1024 ** 3 } });
    for (const [given, message] of [
      ["call_log.retention_days=0", "call_log.retention_days must be more than 0 and at most 3650"],
      ["call_log.max_bytes=lots", '"lots" is not a number'],
      ["retention=3", 'Invalid setting "retention=3"'],
    ] as const) {
      const refused = await plugboard(home, ["settings", given]);
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain(message);
    }
  });

  it("add --json reports what it did", async (context) => {
    const home = await open(context);
    const added = await json(home, "add", JSON.stringify({ mcpServers: { new: { command, args } } }));
    expect(added).toMatchObject({
      server: { config: { name: "new", command } },
      file: serverFile(home),
      test: { success: true, latency_ms: expect.any(Number) },
    });
  });

  it("add does not save a server that fails its test, unless --no-test is given", async (context) => {
    const home = await open(context);
    const before = await readFile(serverFile(home), "utf8");
    const words = ["bad", "--", process.execPath, join(FIXTURES, "exit-at-start.mjs")];
    const { code, stdout, stderr } = await plugboard(home, ["add", ...words]);
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toMatch(
      /^error: The server exited with code 3.*\n {2}cause: fatal: no configuration found\n {2}(?:fix|note): +(?:.*\n +)?Not saved\. Use --no-test/,
    );
    expect(await readFile(serverFile(home), "utf8")).toBe(before);
    expect(await plugboard(home, ["add", "--no-test", ...words])).toMatchObject({
      code: 0,
      stdout: `Added bad to ${serverFile(home)}\n`,
    });
    expect(Object.keys(await savedServers(home))).toEqual(["it", "bad"]);
  });

  const REFUSED: [code: number, words: string[], stderr: RegExp][] = [
    [7, ["add", "it", "--", "node"], /^error: A server named "it" already exists\n {2}field: name\n {2}(?:fix|note): /],
    [2, ["add"], /^error: Missing server\n {2}(?:fix|note): /],
    [2, ["add", "a b"], /^error: Cannot tell what "a b" is: /],
    [2, ["add", "{", "x"], /^error: The entry is not valid JSON\n {2}cause: /],
    [2, ["add", "n!", "--", "node"], /^error: Name may only contain/],
    [2, ["add", "n", "-e", "not-a-name=1", "--", "node"], /^error: Variable name may only contain letters/],
    [2, ["add", "https://a.example/mcp", "-H", "nothing"], /^error: Invalid header: use 'Name: value'\n/],
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
    [6, ["edit", "unknown", "{}"], /^error: .*unknown/],
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

  it("a rejected change leaves the config unchanged and prints the reason", async (context) => {
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

  it("MG-1 edit changes the given members, removes null members, and reads stdin", async (context) => {
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

  it("SE-1 add warns about a credential in plain text without printing it", async (context) => {
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
      /^warning: API_KEY is stored in .*mcp_server\.json as plain text\. Safer: plugboard secret set API_KEY/,
    );
    expect(stdout + stderr).not.toContain("tops3cret-value");
    expect(await plugboard(home, ["add", "-q", "quiet", "-e", "API_KEY=x", "--", command, ...args])).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
  });

  it("SE-1 add accepts references to stored secrets and to variables of the hub's environment", async (context) => {
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
    expect(await json(home, "secret", "ls")).toMatchObject([{ name: "stored", used_by: ["new"] }]);
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

  it("MG-1 rm removes a server and ends its process", async (context) => {
    const home = await open(context);
    expect(await plugboard(home, ["rm", "it"])).toEqual({
      code: 0,
      stdout: `Removed it from ${serverFile(home)}\n`,
      stderr: "",
    });
    expect(await savedServers(home)).toEqual({});
    expect((await plugboard(home, ["ls"])).stdout).toMatch(/^No servers\. Add one: plugboard add /);
    await untilNoneWithMark(home.mark);
  });

  it("LC-8 enable saves and starts a server; disable saves and stops it", async (context) => {
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
    await untilNoneWithMark(home.mark);
  });

  it("LC-8 enable disables a server again if it does not start, and prints the reason", async (context) => {
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
    // SERVER.TOOL is accepted and saved as SERVER:TOOL; a dot after another name is kept.
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

  it("CF-8 CF-10 each of many concurrent edits is saved or fails with a conflict", async (context) => {
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
