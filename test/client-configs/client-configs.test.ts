// Config files of other clients, with the built commands in a separate home: their servers are imported, and the hub is installed
// so that the client launches the hub.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { readForeign } from "../../hub/src/client-configs/import/foreign.ts";
import { entriesIn, readClientFile } from "../../hub/src/client-configs/file.ts";
import { CLIENTS } from "../../hub/src/client-configs/client-table.ts";
import { BIN, fixture, launch, makeHome, plugboard, startHub, type Home, type RunningHub } from "../support/hub.ts";
import { processesWithMark } from "../support/processes.ts";
import { Messages, onLines } from "../support/streams.ts";
import { noTerminal, onTerminal, visible } from "../support/terminal.ts";
import { scaled } from "../support/scale.ts";

const ECHO = fixture("echo").args[0] ?? "";
/** The protocol version of the fixture; an argument after it makes another server of the entry. */
const ERA = "2025-11-25";
const MARKER = "marker-5ecr3t";

/** The config file of each client, in its own format. */
const FILES: Readonly<Record<string, string>> = {
  ".config/Claude/claude_desktop_config.json": JSON.stringify({
    mcpServers: { echo: { command: "node", args: [ECHO], env: { API_TOKEN: `${MARKER}-1`, LEVEL: "debug" } } },
  }),
  ".claude.json": JSON.stringify({
    numStartups: 3,
    mcpServers: { again: { type: "stdio", command: "node", args: [ECHO], env: { API_TOKEN: "x", LEVEL: "x" } } },
    projects: { "/nowhere/at/all": { mcpServers: { local: { command: "node", args: [ECHO, ERA, "local"] } } } },
  }),
  ".cursor/mcp.json": `{
  // mine
  "mcpServers": {
    "echo": { "command": "node", "args": ["${ECHO}", "${ERA}", "cursor"] }, // another one
    "tickets": {
      "url": "http://127.0.0.1:9/mcp?api_key=${MARKER}-2",
      "headers": { "Authorization": "Bearer ${MARKER}-3" },
    },
  },
}
`,
  ".config/Code/User/mcp.json": JSON.stringify({
    inputs: [{ type: "promptString", id: "figma-key", password: true }],
    servers: { figma: { type: "http", url: "http://127.0.0.1:9/mcp", headers: { "X-Key": "${input:figma-key}" } } },
  }),
  ".config/zed/settings.json": `// Zed
{ "context_servers": { "zed": { "command": { "path": "node", "args": ["${ECHO}", "${ERA}", "zed"] } } } }
`,
  ".codeium/windsurf/mcp_config.json": JSON.stringify({
    mcpServers: { wind: { serverUrl: "http://127.0.0.1:9/wind", disabled: true } },
  }),
  ".gemini/settings.json": JSON.stringify({
    mcpServers: { some: { command: "node", args: [ECHO, ERA, "gemini"], includeTools: ["add"] } },
  }),
  ".codex/config.toml": `model = "x"\n\n[mcp_servers.codex]\ncommand = "node"\nargs = ["${ECHO}", "${ERA}", "codex"]\n\n[mcp_servers.codex.env]\nDB_PASSWORD = "${MARKER}-4"\n`,
  ".continue/config.yaml": `name: me\nmcpServers:\n  - name: cont\n    command: node\n    args: ["${ECHO}", "${ERA}", "continue"] # here\n`,
  ".config/goose/config.yaml": `extensions:\n  goose:\n    type: stdio\n    cmd: node\n    args: ["${ECHO}", "${ERA}", "goose"]\n`,
  ".config/opencode/opencode.json": JSON.stringify({
    mcp: { open: { type: "local", command: ["node", ECHO, ERA, "opencode"], enabled: true } },
  }),
  ".lmstudio/mcp.json": '{ "mcpServers": {\n',
};

interface ClientHome extends Home {
  readonly user: string;
}

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A home with config files of clients; the folders of the hub are elsewhere. */
async function makeClientHome(files: Readonly<Record<string, string>> = FILES): Promise<ClientHome> {
  const home = await makeHome(undefined);
  const user = await mkdtemp(join(tmpdir(), "plugboard-user-"));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(user, path)), { recursive: true });
    await writeFile(join(user, path), text);
  }
  const [name = "", value = ""] = home.mark.split("=");
  ends.push(async () => {
    await rm(user, { recursive: true, force: true });
    await home.remove();
    expect(processesWithMark(home.mark)).toEqual([]);
  });
  return { ...home, user, env: { ...home.env, HOME: user, [name]: value } };
}

async function start(home: Home): Promise<RunningHub> {
  const hub = await startHub(home);
  ends.push(() => hub.stop());
  return hub;
}

async function textsIn(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  const texts = await Promise.all(files.map((path) => readFile(path, "utf8")));
  return Object.fromEntries(files.map((path, index) => [path.slice(folder.length + 1), texts[index] ?? ""]));
}

const SERVERS = [
  "codex",
  "cont",
  "echo",
  "echo-2",
  "figma",
  "goose",
  "local",
  "open",
  "some",
  "tickets",
  "wind",
  "zed",
];

describe("CF-11 import", () => {
  it("imports the servers of all clients without changing their files; a second import finds nothing new", async () => {
    const home = await makeClientHome();
    const dry = await plugboard(home, ["import", "--dry-run"]);
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining("1 known, 12 new") });
    expect(await textsIn(join(home.dir, "config"))).toEqual({});
    const first = await plugboard(home, ["import", "-y"]);
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining("1 known, 12 new") });
    expect(first.stdout).toContain(`Added codex from codex to ${join(home.dir, "config/mcp_server.json")}`);
    expect(first.stderr).toMatch(/\.lmstudio\/mcp\.json:\d+:\d+: not valid JSON/);
    expect(first.stderr).toContain("figma needs the secret figma-key: plugboard secret set figma-key");
    const second = await plugboard(home, ["import", "-y"]);
    expect(second).toMatchObject({ code: 0, stdout: "13 known, 0 new\n" });
    const { mcpServers } = JSON.parse(await readFile(join(home.dir, "config/mcp_server.json"), "utf8"));
    expect(Object.keys(mcpServers).toSorted()).toEqual(SERVERS);
    expect(mcpServers.wind).toMatchObject({ enabled: false, source: { type: "import", client: "windsurf" } });
    const groups = JSON.parse(await readFile(join(home.dir, "config/group.json"), "utf8"));
    expect(groups).toMatchObject({ gemini: { servers: ["some"], tools: ["some:add"] } });
    const secrets = await plugboard(home, ["secret", "ls"]);
    expect(secrets.stdout.split("\n").filter(Boolean)).toEqual([
      "NAME                   USED BY",
      "codex-DB_PASSWORD      codex",
      "echo-API_TOKEN         echo",
      "tickets-AUTHORIZATION  tickets",
      "tickets-URL_SECRET     tickets",
    ]);
    for (const { stdout, stderr } of [dry, first, second]) expect(stdout + stderr).not.toContain(MARKER);
    expect(JSON.stringify(await textsIn(home.dir))).not.toContain(MARKER);
    expect(await textsIn(home.user)).toEqual(FILES);
  });

  it("imports how clients log in: secrets go to the store, tokens nowhere, and mcp-remote is not needed", async () => {
    const home = await makeClientHome({
      ".cursor/mcp.json": JSON.stringify({
        mcpServers: {
          slack: {
            url: "http://127.0.0.1:9/slack",
            auth: { CLIENT_ID: "${env:SLACK_ID}", CLIENT_SECRET: `${MARKER}-1`, scopes: ["search:read"] },
          },
          linear: { command: "npx", args: ["-y", "mcp-remote", "http://127.0.0.1:9/linear", "9696"] },
        },
      }),
      "mcphub/mcp_settings.json": JSON.stringify({
        mcpServers: {
          vercel: {
            type: "streamable-http",
            url: "http://127.0.0.1:9/vercel",
            oauth: { clientId: "v", accessToken: `${MARKER}-2`, refreshToken: `${MARKER}-3` },
          },
        },
      }),
    });
    const env = { ...home.env, MCPHUB_SETTING_PATH: join(home.user, "mcphub/mcp_settings.json") };
    const { code, stdout, stderr } = await plugboard({ ...home, env }, ["import", "-y", "--json"]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const { mcpServers } = JSON.parse(await readFile(join(home.dir, "config/mcp_server.json"), "utf8"));
    expect(mcpServers).toEqual({
      slack: {
        url: "http://127.0.0.1:9/slack",
        auth: {
          client_id: "${SLACK_ID}",
          client_secret: { secretRef: "slack-CLIENT_SECRET" },
          scopes: ["search:read"],
        },
        allowEnv: ["SLACK_ID"],
        source: { type: "import", client: "cursor" },
      },
      linear: { url: "http://127.0.0.1:9/linear", source: { type: "import", client: "cursor" } },
      vercel: {
        type: "streamable-http",
        url: "http://127.0.0.1:9/vercel",
        auth: { client_id: "v" },
        source: { type: "import", client: "mcphub" },
      },
    });
    const secrets = JSON.parse((await plugboard(home, ["secret", "ls", "--json"])).stdout);
    expect(secrets).toMatchObject([{ name: "slack-CLIENT_SECRET", used_by: ["slack"] }]);
    expect(stdout + stderr + JSON.stringify(await textsIn(home.dir))).not.toContain(MARKER);
    const removed = await plugboard(home, ["rm", "slack", "--with-secrets"]);
    expect(removed.stdout).toContain("Deleted the secret slack-CLIENT_SECRET");
  });

  it("asks first; without a terminal it adds nothing and exits 2, and -y confirms", async () => {
    const home = await makeClientHome();
    const { code, stdout, stderr } = await plugboard(home, ["import"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^error: Importing 12 servers needs a confirmation\n[^]*fix: +plugboard import -y\n/m);
    expect(await textsIn(join(home.dir, "config"))).toEqual({});
  });

  it("reuses a secret that rm left unused; rm reports that the secret stays, or deletes it", async () => {
    const home = await makeClientHome();
    await plugboard(home, ["import", "-y", "--from", "codex"]);
    const names = async () => {
      const secrets = JSON.parse((await plugboard(home, ["secret", "ls", "--json"])).stdout);
      return secrets.map(({ name, used_by }: Record<string, unknown>) => ({ name, used_by }));
    };
    const before = await names();
    expect(before).toEqual([{ name: "codex-DB_PASSWORD", used_by: ["codex"] }]);
    const { stdout, stderr } = await plugboard(home, ["rm", "codex"]);
    expect(stdout).toMatch(/^Removed codex from /);
    expect(stderr).toBe("note: the secret codex-DB_PASSWORD is still stored: plugboard secret rm codex-DB_PASSWORD\n");
    await plugboard(home, ["import", "-y", "--from", "codex"]);
    expect(await names()).toEqual(before);
    // A secret with this name and another value is not overwritten.
    await plugboard(home, ["rm", "codex"]);
    await plugboard(home, ["secret", "set", "codex-DB_PASSWORD"], { stdin: "another" });
    await plugboard(home, ["import", "-y", "--from", "codex"]);
    expect(await names()).toEqual([
      { name: "codex-DB_PASSWORD", used_by: [] },
      { name: "codex-DB_PASSWORD-2", used_by: ["codex"] },
    ]);
    const removed = await plugboard(home, ["rm", "codex", "--with-secrets"]);
    expect(removed.stdout).toContain("Deleted the secret codex-DB_PASSWORD-2");
    expect(await names()).toEqual([{ name: "codex-DB_PASSWORD", used_by: [] }]);
  });

  it.skipIf(noTerminal !== undefined)(
    "rm asks on a terminal, and repeats the question after an invalid answer",
    async () => {
      const home = await makeClientHome({});
      await writeFile(
        join(home.dir, "config/mcp_server.json"),
        JSON.stringify({ mcpServers: { it: fixture("echo") } }),
      );
      const { code, screen } = await onTerminal(home, ["rm", "it"], {
        type: [
          { after: /Remove it\? \[y\/N\] $/, keys: "rubbish\r" },
          { after: /Answer y or n\.\s+Remove it\? \[y\/N\] $/, keys: "\r" },
        ],
      });
      expect(code).toBe(0);
      expect(screen).toContain("Nothing was removed");
      expect((await onTerminal(home, ["rm", "it", "-y"])).screen).toContain("Removed it from");
    },
  );

  it("starts the servers in a running hub at once, with their secrets", async () => {
    const home = await makeClientHome();
    const hub = await start(home);
    expect(hub.stderr()).toContain("Found 13 MCP servers in 11 clients: plugboard import");
    const { code, stdout, stderr } = await plugboard(home, [
      "import",
      "-y",
      "--from",
      "claude-desktop,codex",
      "--json",
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      added: [
        { name: "echo", client: "claude-desktop", scope: "user", secrets: ["echo-API_TOKEN"], missing_secrets: [] },
        { name: "codex", client: "codex" },
      ],
      known: [],
    });
    const called = await plugboard(home, ["call", "codex.add", "a=2", "b=3"]);
    expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining("5") });
    const again = await plugboard(home, ["import", "-y", "--from", "claude-desktop,codex"]);
    expect(again.stdout).toBe("2 known, 0 new\n");
    const shown = await plugboard(home, ["get", "echo", "--json"]);
    expect(stdout + shown.stdout + (await textsIn(join(home.dir, "config")))["mcp_server.json"]).not.toContain(MARKER);
  });

  it("--keep-secrets leaves credentials in the entries and prints none", async () => {
    const home = await makeClientHome();
    const { stdout, stderr } = await plugboard(home, ["import", "-y", "--keep-secrets"]);
    expect(stdout + stderr).not.toContain(MARKER);
    expect(await readFile(join(home.dir, "config/mcp_server.json"), "utf8")).toContain(`${MARKER}-3`);
    expect((await plugboard(home, ["secret", "ls"])).stdout).toBe("");
  });

  it("of an unknown client lists the known clients", async () => {
    const { code, stderr } = await plugboard(await makeClientHome(), ["import", "--from", "emacs"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("Clients: claude-desktop,") });
  });

  it("doctor names broken client files and the position of the error", async () => {
    const { stdout } = await plugboard(await makeClientHome(), ["doctor"]);
    expect(stdout).toMatch(/! +lmstudio: .*\.lmstudio\/mcp\.json:\d+:\d+: not valid JSON/);
  });
});

describe("CF-11 import on a terminal", () => {
  it.skipIf(noTerminal !== undefined).each([
    ["\r", 0, "Added echo from claude-desktop"],
    ["n\r", 0, "Nothing was imported"],
    ["\u0003", 130, "cancelled"],
  ])("shows the commands and asks for confirmation: %j", async (keys, code, outcome) => {
    const home = await makeClientHome();
    const shown = await onTerminal(home, ["import"], { columns: 200, type: { after: /Import 12 servers\?/, keys } });
    expect(shown.screen).toMatch(/zed +zed +node .*echo\.mjs/);
    expect(shown).toEqual({ code, screen: expect.stringContaining(outcome) });
    expect(shown.screen).not.toContain(MARKER);
  });
});

describe("CF-11 the first run on a terminal", () => {
  it.skipIf(noTerminal !== undefined).each([
    ["n", "the built-in demo"],
    ["y", "Imported 12 servers"],
  ])("lists the servers found and asks for confirmation: %s", async (answer, outcome) => {
    const home = await makeClientHome();
    const { code, screen } = await onTerminal(home, ["up", "--port", "0"], {
      type: { after: /unchanged\?/, keys: `${answer}\r` },
      typeNext: { after: /Press Ctrl-C to stop\./, keys: "\u0003" },
    });
    expect(screen).toContain("Found 13 MCP servers in 11 clients");
    expect(screen).toMatch(/claude-code +2 +local +echo=/);
    expect(screen).toContain(outcome);
    expect(screen).not.toContain(MARKER);
    // Ctrl-C prints what happens.
    expect(screen).toMatch(/Stopping the servers …\s+Stopped\.\s*$/);
    expect(code).toBe(0);
  });

  it.skipIf(noTerminal !== undefined)("does not ask before it is certain that the hub can run", async () => {
    const other = await start(await makeClientHome({}));
    const home = await makeClientHome();
    const { code, screen } = await onTerminal(home, ["up", "--port", new URL(other.url).port]);
    expect(code).toBe(7);
    expect(screen).toMatch(/Port \d+ on 127\.0\.0\.1 is already in use/);
    expect(screen).not.toContain("Found");
  });

  it("does not ask if a config exists, even an empty one", async () => {
    const home = await makeClientHome();
    await writeFile(join(home.dir, "config/mcp_server.json"), "{}");
    const hub = await start(home);
    expect(hub.stderr()).not.toContain("Found");
  });
});

/** The command that the client would launch according to its file. */
async function launched(id: string, home: ClientHome) {
  const client = CLIENTS.find((each) => each.id === id);
  if (client === undefined) throw new Error(id);
  const context = { env: {}, platform: process.platform, home: home.user };
  for (const path of client.files(context)) {
    const read = await readClientFile({ client, scope: "user", path });
    if (read === undefined || "error" in read) continue;
    const entry = entriesIn(read.data, client).find(([name]) => name === "plugboard")?.[1];
    return entry === undefined ? undefined : readForeign(entry, client);
  }
  return undefined;
}

/** A handshake and a list of tools, without our environment, as a desktop program starts it. */
async function toolsOf(id: string, home: ClientHome): Promise<string[]> {
  const { command = "", args = [], env = {} } = (await launched(id, home)) ?? {};
  const [name = "", value = ""] = home.mark.split("=");
  const child = spawn(command, [...args], {
    env: { ...env, HOME: home.user, [name]: value },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const messages = new Messages();
  onLines(child.stdout, (line) => messages.push(JSON.parse(line)));
  child.stdout.on("close", () => messages.end());
  const ask = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: id, version: "1" };
  ask({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
  expect(await messages.find((message) => message.id === 1)).toMatchObject({ result: { serverInfo: {} } });
  ask({ method: "notifications/initialized" });
  ask({ id: 2, method: "tools/list", params: {} });
  const { result } = await messages.find((message) => message.id === 2);
  child.stdin.end();
  await once(child, "exit");
  return result.tools.map((tool: { name: string }) => tool.name);
}

const CURSOR = JSON.stringify({ mcpServers: { one: { command: "one" }, two: { url: "https://two.example/mcp" } } });
const ALL = CLIENTS.map(({ id }) => id);
const { ".lmstudio/mcp.json": _broken, ...READABLE } = FILES;

describe("CF-11 install", () => {
  it("adds the hub to every client's file, and the entry launches this hub with its folders", async () => {
    const home = await makeClientHome(READABLE);
    await writeFile(join(home.dir, "config/mcp_server.json"), JSON.stringify({ mcpServers: { it: fixture("echo") } }));
    const dry = await plugboard(home, ["install", ...ALL, "--dry-run"]);
    expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining("+ mcpServers.plugboard = {") });
    expect(await textsIn(home.user)).toEqual(READABLE);
    await start(home);
    const { code, stdout } = await plugboard(home, ["install", ...ALL]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("Installed in Cursor: ") });
    for (const id of ALL) expect([id, await toolsOf(id, home)]).toEqual([id, expect.arrayContaining(["add", "echo"])]);
    const installed = await textsIn(home.user);
    const again = await plugboard(home, ["install", ...ALL]);
    expect(again.stdout.match(/^Already in /gm)).toHaveLength(ALL.length);
    expect(await textsIn(home.user)).toEqual(installed);
    const table = await plugboard(home, ["clients", "--json"]);
    const rows: { client: string; installed: boolean }[] = JSON.parse(table.stdout);
    expect(rows.filter((row) => !row.installed)).toEqual([]);
    expect((await plugboard(home, ["import", "-y", "--json"])).stdout).toContain('"skipped": [\n');
    const removed = await plugboard(home, ["uninstall", ...ALL]);
    expect(removed.stdout.match(/^Removed from /gm)).toHaveLength(ALL.length);
    expect(await textsIn(home.user)).toEqual(READABLE);
    expect(JSON.stringify([dry, stdout, again, table, removed])).not.toContain(MARKER);
  });

  it("--takeover removes the client's entries that the hub has; uninstall restores them", async () => {
    const home = await makeClientHome({ ".cursor/mcp.json": CURSOR });
    await plugboard(home, ["import", "-y"]);
    // Entries that the hub does not have are kept.
    const more = JSON.stringify({ mcpServers: { ...JSON.parse(CURSOR).mcpServers, own: { command: "own" } } });
    await writeFile(join(home.user, ".cursor/mcp.json"), more);
    const plain = await plugboard(home, ["install", "cursor"]);
    expect(plain.stderr).toMatch(/^cursor: its servers one, two are also in the hub .*install cursor --takeover/m);
    expect(plain.stderr).toMatch(/^ {2}cursor: undo with plugboard uninstall cursor/m);
    await plugboard(home, ["uninstall", "cursor"]);
    const { code, stdout } = await plugboard(home, ["install", "cursor", "--takeover"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Removed one, two from Cursor: the hub has them");
    const { mcpServers } = JSON.parse(await readFile(join(home.user, ".cursor/mcp.json"), "utf8"));
    expect(Object.keys(mcpServers)).toEqual(["own", "plugboard"]);
    await plugboard(home, ["uninstall", "cursor"]);
    expect(await readFile(join(home.user, ".cursor/mcp.json"), "utf8")).toBe(more);
  });

  it.skipIf(noTerminal !== undefined)("clients shows the state of each installed client", async () => {
    const home = await makeClientHome({ ".cursor/mcp.json": CURSOR, ".lmstudio/mcp.json": "{" });
    const { screen } = await onTerminal(home, ["clients"], { columns: 80 });
    expect(visible(screen)).toMatch(/^CLIENT +STATE +SERVERS +HUB +FILE\n/);
    expect(visible(screen)).toMatch(/^cursor +installed +2 +- +~\/\.cursor\/mcp\.json$/m);
    expect(visible(screen)).toMatch(/^lmstudio +unreadable +- +- +/m);
    expect(visible(screen)).toContain(`${CLIENTS.length - 2} more are not installed: plugboard clients --all\n`);
    const all = visible((await onTerminal(home, ["clients", "--all"], { columns: 80 })).screen);
    expect(all.match(/ not there /g)).toHaveLength(CLIENTS.length - 2);
  });

  it("without a running hub the client starts its own hub with the requested group", async () => {
    const home = await makeClientHome({});
    const config = join(home.dir, "elsewhere");
    await mkdir(config);
    await writeFile(join(config, "mcp_server.json"), JSON.stringify({ mcpServers: { it: fixture("echo") } }));
    await writeFile(join(config, "group.json"), JSON.stringify({ sums: { servers: ["it"], tools: ["add"] } }));
    const { code } = await plugboard(home, ["install", "cursor", "--group", "sums", "--config", config]);
    expect(code).toBe(0);
    expect(await toolsOf("cursor", home)).toEqual(["add"]);
    const unknown = await plugboard(home, ["install", "cursor", "--group", "nope", "--config", config]);
    expect(unknown).toMatchObject({ code: 6, stderr: expect.stringContaining("nope") });
  });

  it("--http writes the address of the running hub for clients that accept a URL", async () => {
    const home = await makeClientHome({});
    const mcpServers = { it: fixture("echo"), more: fixture("echo") };
    await writeFile(join(home.dir, "config/mcp_server.json"), JSON.stringify({ mcpServers }));
    expect(await plugboard(home, ["install", "cursor", "--http"])).toMatchObject({ code: 4 });
    const hub = await start(home);
    const { code, stdout, stderr } = await plugboard(home, ["install", "claude-desktop", ...ALL.slice(1), "--http"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("does not support HTTP servers") });
    expect(stderr).toContain("warning: Cursor supports at most 40 tools, and the group has 44");
    expect(stdout.match(/^Installed in /gm)).toHaveLength(ALL.length - 1);
    for (const id of ALL.slice(1)) {
      const searches = CLIENTS.some((client) => client.id === id && client.searchesTools === true);
      const url = `${hub.url}/mcp${searches ? "?tools=all" : ""}`;
      expect([id, (await launched(id, home))?.url]).toEqual([id, url]);
    }
    const other = await plugboard(home, ["import", "-y", "--json"]);
    expect(JSON.parse(other.stdout)).toMatchObject({ added: [], known: [] });
  });

  it("a broken file or a foreign entry is rejected with its position, and the other clients are installed", async () => {
    const mine = JSON.stringify({ mcpServers: { plugboard: { command: "mine" } } });
    const files = { ".lmstudio/mcp.json": '{\n  "a": [ }', ".cursor/mcp.json": mine };
    const home = await makeClientHome(files);
    const { code, stdout, stderr } = await plugboard(home, ["install", "lmstudio", "cursor", "zed"]);
    expect(stderr).toMatch(/error: .*mcp\.json:2:10: not valid JSON\n {2}(?:fix|note): /);
    expect(stderr).toContain('already has another server named "plugboard"');
    expect({ code, stdout }).toEqual({ code: 7, stdout: expect.stringMatching(/^Installed in Zed: .*\n$/) });
    expect(await textsIn(home.user)).toMatchObject(files);
  });

  it("backups restore a file with its mode", async () => {
    const home = await makeClientHome(READABLE);
    const path = join(home.user, ".codex/config.toml");
    await chmod(path, 0o640);
    await plugboard(home, ["install", "codex"]);
    expect((await stat(path)).mode & 0o777).toBe(0o640);
    const list = JSON.parse((await plugboard(home, ["backup", "ls", "--json"])).stdout);
    expect(list).toEqual([{ client: "codex", when: expect.any(String), file: path, existed: true }]);
    await writeFile(path, "broken = [");
    const restored = await plugboard(home, ["backup", "restore", "codex", list[0].when]);
    expect(restored).toMatchObject({ code: 0, stdout: `Restored ~/.codex/config.toml from ${list[0].when}\n` });
    expect(await readFile(path, "utf8")).toBe(FILES[".codex/config.toml"]);
    expect(await plugboard(home, ["backup", "restore", "zed"])).toMatchObject({ code: 2 });
  });

  it("a kill at any moment leaves the old or the new file, and the next install succeeds", async () => {
    const home = await makeClientHome(READABLE);
    const path = join(home.user, ".cursor/mcp.json");
    const before = FILES[".cursor/mcp.json"] ?? "";
    const took = performance.now();
    await plugboard(home, ["install", "cursor"]);
    const wholeMs = performance.now() - took;
    const after = await readFile(path, "utf8");
    const kills = scaled(8, 200);
    for (let n = 0; n < kills; n++) {
      await writeFile(path, before);
      const { process: child, finished } = launch(home, ["install", "cursor"]);
      // Most of the time is spent loading; the file is written at the end.
      const timer = setTimeout(() => child.kill("SIGKILL"), wholeMs * (0.5 + (0.5 * n) / kills));
      await finished;
      clearTimeout(timer);
      expect([before, after]).toContain(await readFile(path, "utf8"));
    }
    await writeFile(path, before);
    expect(await plugboard(home, ["install", "cursor"])).toMatchObject({ code: 0 });
    expect(await readFile(path, "utf8")).toBe(after);
    expect(await readdir(dirname(path))).toEqual(["mcp.json"]);
  });

  it("--project writes to the project's file", async () => {
    const home = await makeClientHome({});
    const child = spawn(process.execPath, [BIN, "install", "claude-code", "--project"], {
      cwd: home.user,
      env: home.env,
    });
    await once(child, "close");
    expect(Object.keys(await textsIn(home.user))).toContain(".mcp.json");
    expect(await plugboard(home, ["install", "windsurf", "--project"])).toMatchObject({ code: 2 });
  });
});
