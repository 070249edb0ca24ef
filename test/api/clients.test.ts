// Other MCP clients: their files are read, changed and restored, and nothing in an answer is a credential of theirs.

import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import type { Client, ImportPlan } from "../../hub/src/api/schemas/client.ts";
import { fixture } from "../support/hub.ts";
import { OWN_SECRET, useOwnHub, type OwnHub } from "./own-hub.ts";
import { post } from "./planted-hub.ts";

const open = useOwnHub();
const CURSOR = ".cursor/mcp.json";
const CODEX = ".codex/config.toml";
/** Keeps its comment, its order and its credential. */
const CURSOR_TEXT = `{
  // mine
  "mcpServers": {
    "far": { "url": "https://far.example/mcp" },
    "tickets": { "command": "npx", "args": ["-y", "tickets", "--token", "${OWN_SECRET}"], "env": { "API_KEY": "${OWN_SECRET}" } }
  }
}
`;

async function write({ home }: OwnHub, path: string, text: string): Promise<string> {
  const file = join(home.dir, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
}

const FAR = { far: { url: "https://far.example/mcp", enabled: false } };

it("lists clients, their files, the hub's entry and servers that both have", async () => {
  const own = await open(FAR);
  const path = await write(own, CURSOR, CURSOR_TEXT);
  await write(own, CODEX, "[mcp_servers.time\ncommand = 1");
  const clients: Client[] = (await own.ask("/clients")).json;
  expect(clients.find(({ id }) => id === "cursor")).toMatchObject({
    title: "Cursor",
    installed: true,
    path,
    scope: "user",
    hub: null,
    servers: 2,
    duplicates: ["far"],
    error: null,
    tool_limit: 40,
    deep_link: expect.stringMatching(/^cursor:\/\//),
  });
  expect(clients.find(({ id }) => id === "codex")).toMatchObject({
    installed: true,
    error: { kind: "InvalidConfig", message: expect.stringMatching(/config\.toml:1:\d+: not valid TOML/) },
  });
  expect(clients.find(({ id }) => id === "claude-code")).toMatchObject({ installed: false, hub: null, servers: 0 });
});

it("a plan shows the change without credentials, an install makes exactly it, an uninstall undoes it", async () => {
  const own = await open(FAR);
  const path = await write(own, CURSOR, CURSOR_TEXT);
  const plan = (await own.ask("/clients/cursor/plan", post({ group: "default" }))).json;
  expect(plan).toMatchObject({ path, change: "added", summary: "Adds the hub to Cursor; 2 other servers stay" });
  expect(plan.before).toBe(CURSOR_TEXT.replaceAll(OWN_SECRET, "***"));
  expect(await readFile(path, "utf8")).toBe(CURSOR_TEXT);
  const installed = (await own.ask("/clients/cursor/install", post({ group: "default" }))).json;
  expect(installed).toMatchObject({ path, changed: true, removed: [], backup: expect.stringMatching(/^cursor@/) });
  const written = await readFile(path, "utf8");
  expect(written.replaceAll(OWN_SECRET, "***")).toBe(plan.after);
  expect(written).toContain("// mine");
  const [cursor] = ((await own.ask("/clients")).json as Client[]).filter(({ id }) => id === "cursor");
  expect(cursor?.hub).toEqual({ entry: "plugboard", group: "default", transport: "stdio" });
  const again = (await own.ask("/clients/cursor/install", post({ group: "default" }))).json;
  expect(again).toMatchObject({ changed: false, backup: null });
  const removed = (await own.ask("/clients/cursor/install", { method: "DELETE" })).json;
  expect(removed).toMatchObject({ changed: true });
  expect(await readFile(path, "utf8")).toBe(CURSOR_TEXT);
});

it("a client can get the address of the hub, and lose the servers that the hub has; a backup restores its file", async () => {
  const own = await open(FAR);
  const path = await write(own, CURSOR, CURSOR_TEXT);
  const input = { transport: "http", takeover: true };
  expect((await own.ask("/clients/cursor/plan", post(input))).json.removed).toEqual(["far"]);
  const { backup, removed } = (await own.ask("/clients/cursor/install", post(input))).json;
  expect(removed).toEqual(["far"]);
  const text = await readFile(path, "utf8");
  expect(text).toContain(`"url": "${own.url}/mcp"`);
  expect(text).not.toContain("far.example");
  expect((await own.ask("/clients/backups")).json).toEqual([
    { id: backup, client: "cursor", path, at: expect.any(String), bytes: Buffer.byteLength(CURSOR_TEXT) },
  ]);
  expect(((await own.ask("/clients")).json as Client[]).find(({ id }) => id === "cursor")?.hub).toMatchObject({
    transport: "http",
    group: "default",
  });
  const restored = await own.client.machine.restoreBackup(backup);
  expect(restored).toMatchObject({ path, changed: true });
  expect(await readFile(path, "utf8")).toBe(CURSOR_TEXT);
  expect(await own.client.machine.listBackups()).toHaveLength(2);
});

it("refuses broken files, unknown groups, clients and backups, and changes nothing", async () => {
  const own = await open({});
  const path = await write(own, CURSOR, "{ broken");
  const refused = async (route: string, body: object) => (await own.ask(route, post(body))).json;
  expect(await refused("/clients/cursor/install", {})).toMatchObject({ status: 400, kind: "InvalidConfig" });
  expect(await refused("/clients/cursor/install", { group: "none" })).toMatchObject({ status: 404 });
  expect(await refused("/clients/cursr/install", {})).toMatchObject({
    status: 400,
    hint: expect.stringContaining("cursor"),
  });
  expect(await refused("/clients/claude-desktop/plan", { transport: "http" })).toMatchObject({
    status: 400,
    field: "http",
  });
  expect(await refused("/clients/backups/cursor@never/restore", {})).toMatchObject({ status: 400 });
  expect(await refused("/clients/cursor/plan", { folder: "relative" })).toMatchObject({ status: 400, field: "folder" });
  expect(await readFile(path, "utf8")).toBe("{ broken");
});

it("a new file is private, and a project has its own", async () => {
  const own = await open({});
  await own.ask("/clients/cursor/install", post({}));
  expect((await stat(join(own.home.dir, CURSOR))).mode & 0o777).toBe(0o600);
  const folder = join(own.home.dir, "project");
  await mkdir(folder);
  const { path } = await own.client.machine.install("cursor", { folder });
  expect(path).toBe(join(folder, CURSOR));
});

it("plans an import from another hub with notes on what it cannot translate", async () => {
  const own = await open({});
  const servers = [{ name: "it", command: "npx", args: ["-y", "it"], isolation: { enabled: true } }];
  await write(own, ".mcpproxy/mcp_config.json", JSON.stringify({ mcpServers: servers, api_key: "k-secret" }));
  const plan: ImportPlan = (await own.ask("/clients/import")).json;
  expect(plan.servers).toMatchObject([{ client: "mcpproxy-go", name: "it", state: "new" }]);
  expect(plan.servers[0]?.notes.join()).toContain('"isolation": ');
  expect(plan.notes).toEqual([{ client: "mcpproxy-go", text: expect.stringContaining("API key is not taken over") }]);
  expect(JSON.stringify(plan)).not.toContain("k-secret");
});

it("plans an import without credentials, and imports what is chosen", async () => {
  const own = await open({ ...FAR, memory: fixture("echo") });
  const path = await write(own, CURSOR, CURSOR_TEXT.replace('"tickets":', '"memory":'));
  await write(own, CODEX, '[mcp_servers.files]\ncommand = "npx"\nargs = ["-y", "files", "/tmp"]\nenabled = false\n');
  const { servers, broken }: ImportPlan = (await own.ask("/clients/import")).json;
  expect(broken).toEqual([]);
  expect(servers.map(({ client, name, as, state, secrets }) => [client, name, as, state, secrets])).toEqual([
    ["cursor", "memory", "memory-2", "conflict", 1],
    ["codex", "files", "files", "new", 0],
    ["cursor", "far", "far", "same", 0],
  ]);
  expect(servers[0]).toMatchObject({ path, kind: "npx", command_line: "npx -y tickets --token ***" });
  expect(servers[1]).toMatchObject({ enabled_by_default: false });
  const result = (
    await own.ask(
      "/clients/import",
      post({
        servers: [
          { client: "cursor", name: "memory", as: "tickets" },
          { client: "cursor", name: "far" },
          { client: "cursor", name: "gone" },
        ],
      }),
    )
  ).json;
  expect(result).toMatchObject({
    added: ["tickets"],
    skipped: [
      { client: "cursor", name: "gone", reason: "It is not in the file of the client" },
      { client: "cursor", name: "far", reason: "The hub has it as far" },
    ],
  });
  expect(await own.entries()).toMatchObject({ tickets: { env: { API_KEY: { secretRef: "tickets-API_KEY" } } } });
  expect(await own.hub.secrets.get("tickets-API_KEY")).toBe(OWN_SECRET);
  expect(await readFile(path, "utf8")).toContain('"memory"');
});
