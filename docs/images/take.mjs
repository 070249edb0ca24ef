// Takes the screenshots of the documentation: runs a hub with real servers and some calls, and opens its web interface in
// Chromium. Run it with `npm run screenshots`; it needs the Debian package chromium and a built hub.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
const bin = join(here, "../../hub/bin/plugboard.js");
const require = createRequire(import.meta.url);
const CHROMIUM = "/usr/bin/chromium";
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"];

const SHOTS = [
  { file: "overview", path: "/", wait: "main h1" },
  { file: "overview-dark", path: "/", wait: "main h1", theme: "dark" },
  { file: "try", path: "/try/everything/get-sum?args=%7B%22a%22%3A2%2C%22b%22%3A3%7D", wait: "main h1", run: true },
  { file: "group", path: "/groups/work", wait: "main h1" },
  { file: "calls", path: "/calls", wait: "main h1" },
  { file: "server-phone", path: "/servers/memory", wait: "main h1", width: 390, height: 780 },
];

const home = await mkdtemp(join(tmpdir(), "plugboard-shots-"));
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
await writeConfig();
const hub = spawn(process.execPath, [bin, "up", "--port", `${port}`], {
  env: { ...process.env, PLUGBOARD_HOME: home },
  stdio: "ignore",
});
try {
  await ready();
  await makeCalls();
  await takeAll();
} finally {
  hub.kill();
  await once(hub, "exit");
  await rm(home, { recursive: true });
}

async function writeConfig() {
  await Promise.all([mkdir(join(home, "config")), mkdir(join(home, "notes"))]);
  const mcpServers = {
    everything: program("server-everything"),
    memory: program("server-memory"),
    notes: program("server-filesystem", join(home, "notes")),
    tickets: { ...program("server-memory"), env: { TICKETS_TOKEN: { secretRef: "tickets-token", required: true } } },
  };
  const work = {
    description: "Notes and memory, read only",
    servers: ["notes", "memory"],
    tools: ["!*:write_*", "!*:delete_*"],
  };
  await writeFile(join(home, "config/mcp_server.json"), JSON.stringify({ mcpServers }));
  await writeFile(join(home, "config/group.json"), JSON.stringify({ work }));
}

/** Paths are relative, so that the pictures show none of this machine. */
function program(name, ...args) {
  const entry = require.resolve(`@modelcontextprotocol/${name}/dist/index.js`);
  return { command: "node", args: [`${name}/dist/index.js`, ...args], cwd: dirname(dirname(dirname(entry))) };
}

async function ready() {
  for (;;) {
    const servers = await api("/servers?view=summary").catch(() => []);
    if (servers.filter(({ status }) => status === "running").length === 3) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A working day, in small: three clients and one call that fails. */
async function makeCalls() {
  const calls = [
    { client: "cursor", call: "everything/tools/get-sum", body: { arguments: { a: 2, b: 3 } } },
    { client: "cursor", call: "memory/tools/read_graph", body: {} },
    { client: "claude-code", call: "notes/tools/list_allowed_directories", body: {} },
    {
      client: "claude-code",
      call: "everything/tools/get-resource-reference",
      body: { arguments: { resourceType: "Text", resourceId: -1 } },
    },
    { client: "codex", call: "everything/tools/echo", body: { arguments: { message: "hello" } } },
    {
      client: "codex",
      call: "everything/tools/trigger-long-running-operation",
      body: { arguments: { duration: 0.3, steps: 3 } },
    },
  ];
  for (let round = 0; round < 6; round++) {
    for (const { call, ...request } of calls) await api(`/servers/${call}/call`, request);
  }
}

async function takeAll() {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  try {
    const page = await (await browser.newContext()).newPage();
    const { url: link } = await api("/ui/keys", { method: "POST" });
    await page.goto(link);
    await page.waitForSelector("main h1");
    for (const shot of SHOTS) await take(page, shot);
  } finally {
    await browser.close();
  }
}

async function take(page, { file, path, wait, theme = "light", width = 1280, height = 800, run = false }) {
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  await page.goto(`${url}/ui${path}`);
  await page.waitForSelector(wait);
  if (run) await page.getByRole("button", { name: /^Run/ }).click();
  await page.waitForLoadState("networkidle", { timeout: 2000 }).catch(() => undefined); // the event stream stays open
  await page.screenshot({ path: join(here, `${file}.png`) });
}

async function api(path, { client = "screenshots", body, method = body === undefined ? "GET" : "POST" } = {}) {
  const token = (await readFile(join(home, "data/token"), "utf8")).trim();
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "plugboard-client": client },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return response.json();
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: free } = server.address();
  server.close();
  await once(server, "close");
  return free;
}
