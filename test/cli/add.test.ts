// The arguments of `plugboard add` and `test`, without a running hub: accepted forms, and errors with their fix. npm and uv are
// stand-ins that know three names.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fixture, FIXTURES, makeHome, plugboard, type Home } from "../support/hub.ts";

const NPM = `#!/bin/sh
for name; do :; case $name in both-mcp|npm-mcp) echo '"'$name'"'; exit 0 ;; lost-mcp|pypi-mcp) echo '{"error": {"code": "E404"}}'; exit 1 ;; esac; done
exit 7
`;
const UV = `#!/bin/sh
read name
case $name in both-mcp|pypi-mcp) echo "$name==1" ;; *) echo "Because $name was not found in the package registry" >&2; exit 1 ;; esac
`;

let home: Home;
let env: Record<string, string>;

beforeAll(async () => {
  home = await makeHome({ playwright: fixture("echo") });
  const bin = join(home.dir, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "npm"), NPM, { mode: 0o755 });
  await writeFile(join(bin, "uv"), UV, { mode: 0o755 });
  env = { PATH: [bin, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter), npm_config_offline: "true" };
});
afterAll(() => home.remove());

const run = (...words: string[]) => plugboard(home, words, { env });
const saved = async () => {
  const file = await readFile(join(home.dir, "config/mcp_server.json"), "utf8");
  const { mcpServers } = JSON.parse(file) as { mcpServers: Record<string, { command: string; args: string[] }> };
  return mcpServers;
};

const KEYLESS = ["node", "-e", 'console.error("Error: ACME_TOKEN is required\\nsee the docs"); process.exit(1)'];

describe("add rejects, with a fix", () => {
  it.each<[what: string, words: string[], code: number, stderr: RegExp]>([
    [
      "F12 a name that is in both registries",
      ["both-mcp"],
      2,
      /both-mcp is on the npm registry and on the Python.*\n.*\n {2}fix: +plugboard add npm:both-mcp\n +plugboard add uvx:both-mcp\n/,
    ],
    [
      "F12 a name that is only in the Python package index",
      ["pypi-mcp", "mine", "--", "-x"],
      2,
      /pypi-mcp is not on the npm registry.*\n.*\n {2}fix: +plugboard add uvx:pypi-mcp mine -- -x\n/,
    ],
    [
      "F12 a name that no registry has",
      ["lost-mcp"],
      6,
      /^error: Package not found\n {2}cause: lost-mcp is not on the npm registry, nor on the Python package index\n/,
    ],
    ["F10 a launcher alone", ["uvx"], 2, /^error: Missing server after uvx\n/],
    [
      "F11 a name that is taken",
      ["@playwright/mcp"],
      7,
      /^error: A server named "playwright" already exists\n.*\n {2}fix: +plugboard add @playwright\/mcp playwright-2\n/,
    ],
    [
      "F14 F17 a missing key",
      ["mine", "--", ...KEYLESS],
      4,
      /^error: The server exited with code 1.*\n {2}field: env.ACME_TOKEN\n {2}cause: Error: ACME_TOKEN is required\n +see the docs\n {2}fix: +plugboard add mine -e ACME_TOKEN=… -- node -e '/,
    ],
  ])("%s", async (_what, words, code, stderr) => {
    const before = await saved();
    const outcome = await run("add", ...words);
    expect(outcome.stderr).toMatch(stderr);
    expect(outcome).toMatchObject({ code, stdout: "" });
    expect(await saved()).toEqual(before);
  });

  it("a failed test without a hub suggests running the server by hand", async () => {
    const { stderr, code } = await run("test", "node", join(FIXTURES, "exit-at-start.mjs"));
    expect(code).toBe(4);
    expect(stderr).toContain(`note:  Run it by hand to see more: node ${join(FIXTURES, "exit-at-start.mjs")}`);
  });
});

describe("add saves the server entry", () => {
  it.each<[words: string[], name: string, entry: object]>([
    [["node", join(FIXTURES, "echo.mjs")], "echo", { command: "node", args: [join(FIXTURES, "echo.mjs")] }],
    [
      ["--no-test", "--group", "work", "second", "node", join(FIXTURES, "echo.mjs"), "--flag"],
      "second",
      { command: "node", args: [join(FIXTURES, "echo.mjs"), "--flag"], groups: ["work"] },
    ],
    [["--no-test", "npx", "-y", "@acme/mcp", "--x"], "acme", { command: "npx", args: ["-y", "@acme/mcp", "--x"] }],
    [["--no-test", "shadcn", "--", "mcp"], "shadcn", { command: "npx", args: ["-y", "shadcn", "mcp"] }],
  ])("plugboard add %j", async (words, name, entry) => {
    const { code, stderr } = await run("add", ...words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect((await saved())[name]).toMatchObject(entry);
  });

  it("the filesystem server without a folder is added with a warning", async () => {
    const { stderr } = await run("add", "--no-test", "@modelcontextprotocol/server-filesystem");
    expect(stderr).toMatch(/^warning: filesystem has no folder to work in: .* -- FOLDER\n/);
  });
});
