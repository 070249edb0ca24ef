// No secret in any output: markers are planted wherever a secret can be, servers print all they know, every route and every
// command is used, and all output is searched for every marker in every encoding. Results of tools are not searched: they are
// passed to the caller unchanged.

import { randomBytes } from "node:crypto";
import { statSync, watch } from "node:fs";
import { chmod, lstat, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { request } from "node:http";
import { dirname, join, relative } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FileSecrets } from "../../hub/src/secrets/file-store.ts";
import { tokenOf } from "../support/client.ts";
import {
  fixture,
  launch,
  makeHome,
  plugboard,
  startHub,
  type Home,
  type Launched,
  type RunningHub,
} from "../support/hub.ts";
import { encodingsOf, Outputs } from "../support/leaks.ts";
import { processesWithMark } from "../support/processes.ts";
import { startRemote, type Remote } from "../support/remote.ts";
import { connect, http, modern } from "../support/rpc.ts";

const unique = () => randomBytes(6).toString("hex");
/** A marker with every character that some encoding escapes. */
const odd = (where: string) => `${where}"q\\/+%ü ${unique()}`;
/** A marker for places that allow only letters. */
const even = (where: string) => `${where}.Zq7-${unique()}`;

/** Planted at the place of the name, in the config and in the hub's environment. */
const planted = {
  env: odd("env"),
  marked: odd("marked"),
  stored: odd("stored"),
  connection: even("connection"),
  hubEnv: odd("hubEnv"),
  hubArg: odd("hubArg"),
  hubPath: even("hubPath"),
  hubHeader: even("hubHeader"),
  arg: odd("arg"),
  flag: odd("flag"),
  jsonArg: odd("jsonArg"),
  json: odd("json"),
  header: even("header"),
  oddHeader: even("oddHeader"),
  query: even("query"),
  userinfo: even("userinfo"),
  urlPath: randomBytes(18).toString("base64url"),
};

/** Secrets that the hub knows by their key, or only during a test of a server, or not at all. */
const passing = {
  toolArg: odd("toolArg"),
  toolResult: odd("toolResult"),
  unsaved: odd("unsaved"),
  unsavedHub: odd("unsavedHub"),
  fromCli: odd("fromCli"),
  brokenFile: odd("brokenFile"),
  wrongToken: even("wrongToken"),
  setByApi: odd("setByApi"),
  inClient: odd("inClient"),
  personal: odd("personal"),
  brokenClient: odd("brokenClient"),
};

const variables = {
  HUB_PLAIN: planted.hubEnv,
  HUB_ARG: planted.hubArg,
  HUB_PATH: planted.hubPath,
  HUB_TOKEN: planted.hubHeader,
  HUB_UNSAVED: passing.unsavedHub,
};

/** A server on stdio with every kind of secret. */
const leaky = (...args: string[]) => ({
  ...fixture(
    "leaky",
    ...args,
    "--api-key",
    planted.arg,
    `--token=${planted.flag}`,
    "--mode",
    "${HUB_ARG}",
    "--config",
    JSON.stringify({ apiKey: planted.jsonArg }),
  ),
  env: {
    API_KEY: planted.env,
    CODE: { value: planted.marked, isSecret: true },
    STORED: { secretRef: "stored" },
    MODE: "${HUB_PLAIN}",
    DB: `postgres://app:${planted.connection}@db/x`,
  },
  config: { deep: [{ password: planted.json }] },
});

const remote = (port: string, path: string) => ({
  url: `http://u:${planted.userinfo}@127.0.0.1:${port}${path}/\${HUB_PATH}/${planted.urlPath}?api_key=${planted.query}`,
  headers: {
    Authorization: `Bearer ${planted.header}`,
    "X-Other": planted.oddHeader,
    "X-Filled": "${HUB_TOKEN}",
  },
});

const serversAt = (port: string) => ({
  tells: leaky(),
  exits: leaky("--fail=exit"),
  refuses: leaky("--fail=refuse"),
  hangs: { ...leaky("--fail=hang"), timeouts: { start_ms: 3000 } },
  off: { ...leaky("--fail=exit"), enabled: false },
  missing: { ...fixture("leaky"), env: { API_KEY: planted.env, OTHER: "${NOT_SET}" } },
  absent: { command: "/no/such/program", args: ["--token", planted.flag] },
  remote: remote(port, "/mcp"),
  breaks: remote(port, "/gone"),
  refused: remote(port, "/refuse"),
  busy: remote(port, "/busy"),
});

const outputs = new Outputs();
/** The operations so far: every route, every command, and others. */
const done = new Set<string>();
let operations = 0;
let routes: string[] = [];
let server: Remote;
let home: Home;
let hub: RunningHub;
let token = "";
/** The modes of all paths seen in the hub's folders, including temporary files. */
const modes = new Map<string, string>();

const known = () => ({ ...planted, managementToken: token });
const allMarkers = () => ({ ...known(), ...passing });

/** One operation. Its output is searched, unless it is the result of a tool. */
async function operation(name: string, run: () => Promise<readonly string[]>, { own = false } = {}): Promise<void> {
  operations++;
  done.add(name);
  const shown = await run();
  if (!own) outputs.add(name, ...shown);
}

interface Asked {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly own?: boolean;
}

/** The route as in the OpenAPI document, and the path to request. */
async function rest(template: string, path: string, { body, headers = {}, own = false }: Asked = {}): Promise<void> {
  const [method = "GET"] = template.split(" ");
  await operation(
    template,
    async () => {
      const answer = await http(`${hub.url}/api/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      expect([template, answer.status >= 500 && answer.body.includes('"INTERNAL"')]).toEqual([template, false]);
      return [JSON.stringify(answer.headers), answer.body];
    },
    { own },
  );
}

/** A command with text output and with --json. */
async function cli(
  words: readonly string[],
  { own = false, stdin, at = home, env = {} }: { own?: boolean; stdin?: string; at?: Home; env?: object } = {},
): Promise<void> {
  const run = async (all: readonly string[]) => {
    const { stdout, stderr } = await plugboard(at, all, {
      env: { ...env },
      ...(stdin === undefined ? {} : { stdin }),
    });
    return [stdout, stderr];
  };
  const name = `plugboard ${words[0] ?? ""}`.trim();
  await Promise.all([
    operation(name, () => run(words), { own }),
    operation(`${name} --json`, () => run(["--json", ...words]), { own }),
  ]);
}

async function readAll(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.map((entry) => join(entry.parentPath, entry.name));
}

async function noteModes(): Promise<void> {
  for (const path of await readAll(home.dir)) {
    const info = await lstat(path).catch(() => undefined); // a temporary file may have been removed
    if (info !== undefined) note(path, info.mode);
  }
}

function note(path: string, mode: number): void {
  modes.set(relative(home.dir, path), (mode & 0o777).toString(8));
}

/** All events from now on, as bytes. */
function listen(): { stop: () => void } {
  const headers = { authorization: `Bearer ${token}` };
  const outgoing = request(`${hub.url}/api/v1/events`, { headers, agent: false }, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("error", () => undefined);
    response.on("close", () => outputs.add("GET /events", JSON.stringify(response.headers), Buffer.concat(chunks)));
  });
  outgoing.on("error", () => undefined);
  outgoing.end();
  operations++;
  done.add("GET /events");
  return { stop: () => outgoing.destroy() };
}

const SKIPPED = /^config\/mcp_server\.json$|^data\/token$|^user\//;
const started: Launched[] = [];

beforeAll(async () => {
  server = await startRemote("leaky-http");
  home = await makeHome(serversAt(server.port), { desk: { servers: ["tells", "remote"], tools: [] } });
  await new FileSecrets(join(home.dir, "data")).set("stored", planted.stored);
  for (const path of await readAll(join(home.dir, "config"))) await chmod(path, 0o600);
  const watcher = watch(home.dir, { recursive: true }, (_, name) => {
    const info = name === null ? undefined : statSync(join(home.dir, name), { throwIfNoEntry: false });
    if (name !== null && info !== undefined) note(join(home.dir, name), info.mode);
  });
  try {
    hub = await startHub(
      { ...home, env: { ...home.env, ...variables, HOME: join(home.dir, "user") } },
      { umask: "000" },
    );
    token = await tokenOf(home);
    const events = listen();
    for (const words of [
      ["logs", "-f"],
      ["calls", "-f"],
    ])
      started.push(launch(home, words));
    await useMcp();
    await useRest();
    await useAdmin();
    await useCommands();
    await useClients();
    await noteModes();
    await outputs.addFiles(home.dir, "while it runs", SKIPPED);
    for (const { process: child } of started) child.kill("SIGINT");
    for (const { finished } of started) {
      const { stdout, stderr } = await finished;
      outputs.add("plugboard -f", stdout, stderr);
    }
    events.stop();
    expect(await hub.stop()).toBe(0);
    outputs.add("plugboard up", hub.stdout(), hub.stderr());
    await useCommandsAlone();
    await noteModes();
    await outputs.addFiles(home.dir, "at the end", SKIPPED);
  } finally {
    watcher.close();
  }
}, 900_000);

afterAll(async () => {
  for (const { process: child } of started) child.kill("SIGKILL");
  await hub?.kill();
  await server?.stop();
  if (home !== undefined) expect(processesWithMark(home.mark)).toEqual([]);
  await home?.remove();
});

const credentials = { text: "x", password: passing.toolArg, deep: [{ access_token: passing.toolResult }] };

async function useMcp(): Promise<void> {
  const client = await connect(`${hub.url}/mcp`);
  outputs.add("initialize", JSON.stringify(client.hello));
  const ask = async (name: string, args: unknown) =>
    JSON.stringify(await client.request("tools/call", { name, arguments: args }));
  /** Requires that the result of a tool contains the secret: it is passed on unchanged. */
  const call = (name: string, args: unknown, told: string) =>
    operation(`tools/call ${name}`, async () => {
      expect([name, (await ask(name, args)).includes(told)]).toEqual([name, true]);
      return [];
    });
  const inside = (marker: string) => JSON.stringify(marker).slice(1, -1);
  for (const [of, marker] of [
    ["tells", planted.stored],
    ["remote", planted.hubPath],
  ] as const) {
    for (const tool of ["tell", "tell_failing", "tell_error"]) await call(`${of}__${tool}`, {}, inside(marker));
    await call(`${of}__repeat`, credentials, inside(passing.toolArg));
    for (const secret of Object.values(known()))
      await call(`${of}__repeat`, { text: `with ${secret} in it`, [secret]: 1 }, inside(secret));
  }
  await operation("tools/call breaks__tell", async () => [await ask("breaks__tell", {})]);
  await operation("tools/list", async () => [JSON.stringify(await client.request("tools/list"))]);
  await operation("tools/list, modern", async () => [(await modern(`${hub.url}/mcp/desk`, "tools/list")).body]);
  await operation("tools/call tells__crash", async () => {
    const answer = await ask("tells__crash", {});
    expect(answer).toContain("exited with code 9");
    // The server restarts automatically; its result belongs to the caller.
    await ask("tells__tell", {});
    return [answer];
  });
}

async function useRest(): Promise<void> {
  const names = Object.keys(serversAt(server.port));
  await rest("GET /status", "/status");
  await rest("GET /servers", "/servers");
  await rest("POST /servers/{id}/start", "/servers/tells/start");
  for (const name of names) {
    await rest("GET /servers/{id}", `/servers/${name}`);
    await rest("GET /servers/{id}/logs", `/servers/${name}/logs?tail=100000`);
    await rest("GET /servers/{id}/tools", `/servers/${name}/tools`);
    await rest("GET /servers/{id}/tools/{tool}", `/servers/${name}/tools/tell`);
    await rest("GET /servers/{id}/prompts", `/servers/${name}/prompts`);
    await rest("GET /servers/{id}/resource-templates", `/servers/${name}/resource-templates`);
    await rest("GET /servers/{id}/history", `/servers/${name}/history`);
    await rest("GET /servers/{id}/usage", `/servers/${name}/usage`);
  }
  for (const name of ["exits", "refuses", "missing", "absent", "refused", "busy"]) {
    await rest("POST /servers/{id}/start", `/servers/${name}/start`);
    await rest("POST /servers/{id}/test", `/servers/${name}/test`);
  }
  await rest("POST /servers/{id}/test", "/servers/tells/test");
  const unsaved = {
    ...fixture("leaky", "--fail=exit", "--password", passing.unsaved, "${HUB_UNSAVED}"),
    env: { API_KEY: passing.unsaved, LEVEL: "${HUB_UNSAVED}" },
  };
  await rest("POST /servers/test", "/servers/test", { body: unsaved });
  await rest("POST /servers/test", "/servers/test", {
    body: { ...unsaved, args: unsaved.args.with(1, "--fail=refuse") },
  });
  await rest("POST /servers/test", "/servers/test", {
    body: { url: `http://${passing.wrongToken}@127.0.0.1:${server.port}/refuse?key=${passing.wrongToken}` },
  });
  const pasted = { text: JSON.stringify({ mcpServers: { pasted: unsaved } }) };
  await rest("POST /servers/parse", "/servers/parse", { body: pasted, own: true });
  await rest("POST /servers", "/servers", { body: { name: "made", ...unsaved } });
  await rest("POST /servers", "/servers", { body: { name: "made", ...unsaved } });
  await rest("POST /servers", "/servers", { body: { name: "b\0d", ...unsaved } });
  await rest("POST /servers", "/servers", {
    body: { name: "bad", ...unsaved, args: [`--token=${passing.unsaved}\0`] },
  });
  await rest("POST /servers", "/servers", { body: `{"name": "bad", "env": {"API_KEY": "${planted.env}` });
  await rest("PUT /servers/{id}", "/servers/made", { body: { name: "made", ...unsaved, description: "new" } });
  await rest("PATCH /servers/{id}", "/servers/made", { body: { env: { API_KEY: passing.setByApi }, enabled: false } });
  await rest("PATCH /servers/{id}", "/servers/made", { body: { env: { "no name": passing.setByApi } } });
  await rest("POST /servers/{id}/enable", "/servers/made/enable");
  await rest("POST /servers/{id}/enable", "/servers/off/enable");
  await rest("POST /servers/{id}/disable", "/servers/made/disable");
  await rest("DELETE /servers/{id}", "/servers/made");
  await rest("POST /servers/{id}/stop", "/servers/remote/stop");
  await rest("POST /servers/{id}/restart", "/servers/remote/restart");
  await rest("POST /servers/{id}/update", "/servers/tells/update");
  await rest("POST /servers/{id}/update/preview", "/servers/tells/update/preview");
  await rest("POST /servers/{id}/update/rollback", "/servers/tells/update/rollback");
  await rest("GET /server-approvals", "/server-approvals");
  await rest("GET /servers/{id}/approval", "/servers/tells/approval");
  await rest("POST /servers/{id}/approve", "/servers/tells/approve", { body: {} });
  await rest("GET /calls/approvals", "/calls/approvals");
  await rest("POST /calls/approvals/{id}/approve", "/calls/approvals/none/approve");
  await rest("POST /calls/approvals/{id}/deny", "/calls/approvals/none/deny");
  await rest("POST /servers/{id}/tools/{tool}/call", "/servers/tells/tools/tell_error/call", { body: {}, own: true });
  await rest("POST /servers/{id}/tools/{tool}/call", "/servers/busy/tools/tell/call", { body: {} });
  await rest("GET /groups", "/groups");
  await rest("GET /groups/{name}", "/groups/desk");
  await rest("GET /groups/{name}/tools", "/groups/desk/tools");
  await rest("GET /groups/{name}/tools/{tool}", "/groups/desk/tools/tells__tell");
  await rest("GET /tools", "/tools?view=index");
  await rest("POST /groups/preview", "/groups/preview", { body: { servers: ["tells", planted.env] } });
  await rest("PUT /groups/{name}", "/groups/more", { body: { servers: ["tells"], tools: [] } });
  await rest("PUT /groups/{name}", "/groups/more", { body: { servers: [planted.env] } });
  await rest("POST /groups/{name}/tools/{tool}/call", "/groups/desk/tools/tells:tell/call", { body: {}, own: true });
  const uri = { uri: "test://static" };
  await rest("POST /groups/{name}/resources/read", "/groups/more/resources/read", { body: uri, own: true });
  await rest("POST /groups/{name}/prompts/{prompt}/get", "/groups/more/prompts/greet/get", { body: {}, own: true });
  await rest("DELETE /groups/{name}", "/groups/more");
  await rest("POST /groups", "/groups", { body: { name: "made", servers: ["tells"], tools: [] } });
  await rest("DELETE /groups/{name}", "/groups/made");
  await rest("PUT /secrets/{name}", "/secrets/other", { body: { value: passing.setByApi } });
  await rest("PUT /secrets/{name}", "/secrets/other", { body: { value: `\0${passing.setByApi}` } });
  await rest("GET /secrets", "/secrets");
  await rest("GET /secrets/missing", "/secrets/missing");
  await rest("POST /secrets/rotate-key", "/secrets/rotate-key");
  await rest("DELETE /secrets/{name}", "/secrets/other?force=true");
  for (const query of ["", "?success=false", "?server=tells&limit=1000", "?tool=tell", "?slower_than_ms=0", "?x=1"])
    await rest("GET /calls", `/calls${query}`);
  await rest("GET /calls", "/calls?fields=summary&limit=1000");
  await rest("GET /calls/count", "/calls/count?q=x");
  await rest("GET /calls/export", "/calls/export?format=ndjson");
  await rest("GET /calls/export", "/calls/export?format=csv");
  await rest("GET /calls/active", "/calls/active");
  await rest("DELETE /calls/active/{id}", "/calls/active/none");
  await rest("DELETE /calls", "/calls?before=0");
  await rest("GET /calls/{id}", "/calls/1");
  await rest("GET /calls/{id}/neighbours", "/calls/1/neighbours");
  await rest("GET /stats/series", "/stats/series?by=tool");
  await rest("GET /logs", "/logs?tail=1000");
  await rest("GET /sessions", "/sessions");
  await rest("DELETE /sessions/{id}", "/sessions/none");
  await rest("GET /metrics/latency", "/metrics/latency?server=tells");
  await rest("GET /stats", "/stats?server=tells");
  const secretClient = { client_id: "c", client_secret: passing.setByApi };
  for (const name of ["remote", "refused", "tells"]) {
    await rest("POST /servers/{id}/login", `/servers/${name}/login`, { body: secretClient });
    await rest("POST /servers/{id}/login/refresh", `/servers/${name}/login/refresh`);
    await rest("DELETE /servers/{id}/login", `/servers/${name}/login`);
  }
  const callback = `http://localhost/oauth/callback?state=x&code=${passing.wrongToken}`;
  const foreign = { refresh_token: passing.setByApi };
  await rest("POST /servers/{id}/login/import", "/servers/tells/login/import", { body: foreign });
  await rest("GET /logins", "/logins");
  await rest("GET /logins/{login}", "/logins/none");
  await rest("POST /logins/{login}/callback", "/logins/none/callback", { body: { url: callback } });
  await rest("DELETE /logins/{login}", "/logins/none");
  await useUserFiles();
  await useRegistries();
  await useSessions();
  await rest("GET /config", "/config");
  await rest("GET /config/export", "/config/export");
  for (const file of ["mcp_server", "group"]) await rest("GET /config/files/{file}", `/config/files/${file}`);
  const text = JSON.stringify({ mcpServers: { bad: { ...unsaved, args: [passing.unsaved, 7] } } });
  await rest("PUT /config/files/{file}", "/config/files/mcp_server?only=validate", { body: { text } });
  await rest("PUT /config/files/{file}", "/config/files/mcp_server?only=validate", { body: { text: text.slice(1) } });
  const wrong = { ...unsaved, args: [passing.unsaved, 7], env: { API_KEY: { value: passing.unsaved, required: 1 } } };
  await rest("POST /config/validate", "/config/validate", { body: { mcpServers: { wrong, right: unsaved } } });
  await reloadBroken();
  await rest("GET /openapi.json", "/openapi.json");
  routes = await readRoutes();
  await rest("GET /status", "/status", { headers: { authorization: `Bearer ${passing.wrongToken}` } });
  await rest("GET /status", `/status?token=${token}`, { headers: { authorization: "" } });
  for (const path of ["/metrics", "/livez", "/readyz", "/healthz", "/", `/nothing/${token}`]) {
    await operation(path, async () => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await http(`${hub.url}${path}`, { method: "GET", headers });
      // The URL contains the token, but the response must not repeat it.
      return [JSON.stringify(answer.headers), answer.body];
    });
  }
}

async function readRoutes(): Promise<string[]> {
  const { body } = await http(`${hub.url}/api/v1/openapi.json`, {
    method: "GET",
    headers: { authorization: `Bearer ${token}` },
  });
  const { paths } = JSON.parse(body) as { paths: Record<string, object> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/^\/api\/v1/, "")}`),
  );
}

/** Invalid config files: the errors must not quote their content. */
async function reloadBroken(): Promise<void> {
  const path = join(home.dir, "config/mcp_server.json");
  const good = await readFile(path, "utf8");
  const secret = JSON.stringify(passing.brokenFile);
  for (const broken of [
    `{"mcpServers": {"a": {"command": "x", "env": {"API_KEY": ${secret}`,
    `{"mcpServers": {"a": {"command": "x", "env": {"API_KEY": ${secret} ${secret}}}}}`,
    `{"mcpServers": {"a": {"command": "x", "env": {"api key": ${secret}}}}}`,
    `{"mcpServers": {"a": {"command": "x", "args": [${secret}, {"token": ${secret}}]}}}`,
    `{"mcpServers": {"a": {"url": "nowhere://u:${encodeURIComponent(passing.brokenFile)}@x"}}}`,
    `{"mcpServers": {"a": {"command": "x", "env": {"API_KEY": {"value": ${secret}, "required": ${secret}}}}}}`,
    `{"mcpServers": {"a": {"command": "x", "cwd": 1, "headers": {"Authorization": ${secret}}}}}`,
  ]) {
    await writeFile(path, broken);
    await rest("POST /config/reload", "/config/reload");
    await operation("plugboard config validate", async () => {
      const { stdout, stderr, code } = await plugboard(home, ["config", "validate"]);
      expect([broken, code]).toEqual([broken, 2]);
      return [stdout, stderr];
    });
  }
  await cli(["doctor"]);
  await cli(["cluster", "init", "--print"]);
  await writeFile(path, good);
  await rest("POST /config/reload", "/config/reload");
}

async function useAdmin(): Promise<void> {
  const admin = new Client({ name: "agent", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await admin.connect(new StreamableHTTPClientTransport(new URL(`${hub.url}/mcp/@admin`), { requestInit }));
  const run = (name: string, args: Record<string, unknown>, own = false) =>
    operation(`@admin ${name}`, async () => [JSON.stringify(await admin.callTool({ name, arguments: args }))], { own });
  const config = { name: "agents", ...fixture("leaky", "--fail=exit"), env: { API_KEY: passing.unsaved } };
  await operation("@admin tools/list", async () => [JSON.stringify(await admin.listTools())]);
  await run("list_mcp_servers", {});
  await run("get_mcp_server", { id: "tells" });
  await run("test_mcp_server", { config });
  await run("create_mcp_server", { config });
  await run("update_mcp_server", { id: "agents", config: { ...config, enabled: false } });
  await run("start_mcp_server", { id: "exits" });
  await run("stop_mcp_server", { id: "exits" });
  await run("list_mcp_tools", { server_name: "tells" });
  await run("call_mcp_tool", { server_name: "tells", tool_name: "tell_error", arguments: {} }, true);
  await run("call_mcp_tool", { server_name: "busy", tool_name: "tell", arguments: credentials });
  await run("get_mcp_latency_metrics", {});
  await run("delete_mcp_server", { id: "agents" });
  await admin.close();
}

async function useCommands(): Promise<void> {
  await cli([]);
  for (const words of [["ls"], ["status"], ["tools"], ["tools", "tells"], ["stats"], ["stats", "tells"], ["calls"]])
    await cli(words);
  for (const name of ["tells", "hangs", "off", "remote", "refused"]) await cli(["get", name]);
  await cli(["auth"]);
  for (const words of [["remote"], ["show", "refused"], ["refresh", "refused"], ["logout", "tells"]])
    await cli(["auth", ...words, "--no-browser"]);
  for (const name of ["exits", "missing", "busy"]) await cli(["test", name]);
  await cli(["start", "refuses"]);
  await cli(["restart", "remote"]);
  await cli(["update", "tells"]);
  await cli(["update"]);
  await cli(["stop", "remote"]);
  await cli(["enable", "off"]);
  await cli(["disable", "off"]);
  await cli(["logs"]);
  await cli(["logs", "tells", "-n", "100000"]);
  await cli(["calls", "--failed", "-n", "1000"]);
  await cli(["call", "tells.tell"], { own: true });
  await cli(["call", "tells.repeat", JSON.stringify(credentials)], { own: true });
  await cli(["call", "busy.tell"]);
  await cli(["call", "exits.tell", `password=${passing.toolArg}`]);
  await cli(["read", "test://static"], { own: true });
  await cli(["prompt", "tells.greet", "who=me"], { own: true });
  await cli(["ps"]);
  await cli(["group", "ls"]);
  await cli(["group", "get", "desk"]);
  await cli(["secret", "set", "more"], { stdin: `${passing.setByApi}\n` });
  await cli(["secret", "ls"]);
  await cli(["secret", "rm", "more"]);
  for (const what of ["path", "show", "validate", "schema"]) await cli(["config", what]);
  await cli(["token", "ls"]);
  await cli(["user", "ls"]);
  await cli(["audit"]);
  await cli(["audit", "verify"]);
  await cli(["grant", "ls"]);
  await cli(["approve", "AAAA-AAAA"]);
  await cli(["approvals"]);
  await cli(["pins"]);
  await cli(["pins", "tells"]);
  await cli(["service", "status"]);
  await cli(["settings"]);
  await cli(["doctor"]);
  await cli(["open"]);
  await cli(["version"]);
  await cli(["completion", "bash"]);
  await cli(["chat", "sources"], { env: { PLUGBOARD_CHAT_HOME: join(home.dir, "chat") } });
  const variable = `API_KEY=${passing.fromCli}`;
  await cli(["add", "-e", variable, "new", "--", ...Object.values(fixture("leaky", "--fail=exit")).flat()]);
  await cli(["add", "--no-test", "--disabled", "-e", variable, "new", "--", "node", "--token", passing.fromCli]);
  await cli([
    "add",
    `http://u:${passing.wrongToken}@127.0.0.1:${server.port}/refuse?token=${passing.wrongToken}`,
    "url",
  ]);
  await cli(["add", "-H", passing.fromCli, "http://127.0.0.1:1/", "url"]);
  await cli(["edit", "new", '{"description": "Changed"}']);
  await cli(["rm", "new"]);
  await cli(["status"], { env: { PLUGBOARD_URL: hub.url, PLUGBOARD_TOKEN: passing.wrongToken } });
}

/** Config files of other clients, in the home of the user who runs the hub, and checks of the installation. */
async function useUserFiles(): Promise<void> {
  const program = { command: "node", env: { API_KEY: passing.inClient } };
  await mkdir(join(home.dir, "user/.cursor"), { recursive: true, mode: 0o700 });
  await writeFile(join(home.dir, "user/.cursor/mcp.json"), JSON.stringify({ mcpServers: { program } }), {
    mode: 0o600,
  });
  await rest("GET /clients", "/clients");
  await rest("GET /clients/import", "/clients/import");
  await rest("POST /clients/import", "/clients/import", { body: { servers: [{ client: "cursor", name: "none" }] } });
  await rest("POST /clients/{client}/plan", "/clients/cursor/plan", { body: {} });
  // A client without a file, so that no backup repeats the user's secret.
  await rest("POST /clients/{client}/install", "/clients/windsurf/install", { body: {} });
  await rest("DELETE /clients/{client}/install", "/clients/windsurf/install");
  await rest("GET /clients/backups", "/clients/backups");
  await rest("POST /clients/backups/{id}/restore", "/clients/backups/none/restore");
  await rest("POST /tokens", "/tokens", { body: { name: "ci" } });
  await rest("GET /tokens", "/tokens");
  await rest("DELETE /tokens/{id}", "/tokens/ci");
  await rest("GET /me", "/me");
  await rest("GET /users", "/users");
  await rest("GET /users/{id}", "/users/nobody@example.com");
  await rest("PATCH /users/{id}", "/users/nobody@example.com", { body: { role: "operator" } });
  await rest("DELETE /users/{id}", "/users/nobody@example.com");
  await rest("GET /audit", "/audit");
  await rest("GET /audit/verify", "/audit/verify");
  await rest("GET /grants", "/grants");
  await rest("POST /grants", "/grants", { body: { name: "ci", groups: ["default"] } });
  await rest("DELETE /grants/{id}", "/grants/none");
  await rest("GET /oauth/requests/{code}", "/oauth/requests/AAAA-AAAA");
  await rest("POST /oauth/requests/{code}/approve", "/oauth/requests/AAAA-AAAA/approve");
  await rest("GET /connections", "/connections");
  await rest("PUT /connections/secrets/{name}", "/connections/secrets/mine", { body: { value: passing.personal } });
  await rest("DELETE /connections/secrets/{name}", "/connections/secrets/mine");
  await rest("GET /settings", "/settings");
  await rest("PATCH /settings", "/settings", { body: { call_log: { retention_days: 30 } } });
  await rest("GET /servers/{id}/chat", "/servers/tells/chat");
  await rest("PATCH /servers/{id}/chat", "/servers/tells/chat", { body: { redact: [] } });
  await rest("GET /doctor", "/doctor");
  await rest("POST /doctor/fix", "/doctor/fix", { body: { checks: [] } });
}

/** Without a request to another machine. */
async function useRegistries(): Promise<void> {
  await rest("GET /registries", "/registries");
  await rest("GET /registry/servers", "/registry/servers?registry=curated&q=git");
  await rest("GET /registry/servers/{name}", "/registry/servers/none?registry=curated");
  const values = { API_KEY: passing.setByApi };
  await rest("POST /registry/servers", "/registry/servers", { body: { name: "none", registry: "curated", values } });
  await cli(["search", "git", "--registry", "curated"]);
  await cli(["info", "none", "--registry", "curated"]);
  await cli(["add", "registry:none", "--registry", "curated", "--set", `API_KEY=${passing.fromCli}`]);
  await cli(["registry", "ls"]);
}

/** Sessions of browsers. A key is in the answer of the caller who made it, and nowhere else. */
async function useSessions(): Promise<void> {
  await rest("POST /ui/keys", "/ui/keys", { own: true });
  await rest("POST /ui/session", "/ui/session", { body: { key: passing.wrongToken } });
  await rest("GET /ui/session", "/ui/session");
  await rest("DELETE /ui/session", "/ui/session");
  await rest("GET /ui/sessions", "/ui/sessions");
  await rest("DELETE /ui/sessions", "/ui/sessions");
  await rest("DELETE /ui/sessions/{id}", "/ui/sessions/none");
  await rest("GET /ui/providers", "/ui/providers");
  await rest("POST /ui/sign-ins", "/ui/sign-ins", { body: { provider: "none" } });
}

/** Reads and changes config files of other clients. Backups are copies of the user's file, so they are not searched. */
async function useClients(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "plugboard-clients-"));
  const env = { HOME: folder };
  const url = `http://u:${encodeURIComponent(passing.inClient)}@127.0.0.1:${server.port}/?api_key=${encodeURIComponent(passing.inClient)}`;
  const file = async (path: string, text: string) => {
    await mkdir(join(folder, dirname(path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  await file(
    ".cursor/mcp.json",
    JSON.stringify({
      mcpServers: {
        program: { command: "node", env: { API_KEY: passing.inClient }, disabled: true },
        address: { url, headers: { Authorization: `Bearer ${passing.inClient}` }, disabled: true },
      },
    }),
  );
  await file(
    ".gemini/settings.json",
    `{"mcpServers": {"a": {"env": {"API_KEY": ${JSON.stringify(passing.brokenClient)} }`,
  );
  try {
    await cli(["clients"], { env });
    await cli(["import", "--dry-run"], { env });
    await cli(["import", "-y"], { env });
    for (const name of ["program", "address"]) await cli(["get", name], { env });
    await cli(["install", "zed", "gemini"], { env });
    await cli(["uninstall", "zed", "gemini"], { env });
    await cli(["backup", "ls"], { env });
    await cli(["backup", "restore", "zed"], { env });
    await cli(["doctor"], { env });
  } finally {
    for (const name of ["program", "address"]) await cli(["rm", name]);
    await rm(folder, { recursive: true });
  }
}

/** Commands without a running hub, and a hub in the background. */
async function useCommandsAlone(): Promise<void> {
  const env = variables;
  for (const words of [["ls"], ["get", "tells"], ["tools", "tells"], ["test", "exits"], ["config", "show"], ["doctor"]])
    await cli(words, { env });
  await cli(["call", "refuses.tell"], { env });
  await cli(["call", "tells.tell"], { env, own: true });
  const hello = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  const message = { jsonrpc: "2.0", id: 1, method: "initialize", params: hello };
  await cli(["stdio"], { env, stdin: `${JSON.stringify(message)}\n` });
  const inTurn = async (words: string[]) =>
    operation(`plugboard ${words[0]}`, async () => {
      const { stdout, stderr } = await plugboard(home, words, { env });
      return [stdout, stderr];
    });
  await inTurn(["start", "--port", "0"]);
  await inTurn(["status"]);
  await inTurn(["logs"]);
  await inTurn(["restart", "--port", "0"]);
  await noteModes();
  await inTurn(["stop"]);
  await inTurn(["up", "--port", "none"]);
}

describe("SE-1 T12 secrets", () => {
  it("every REST route is requested", () => {
    expect(routes.length).toBeGreaterThan(30);
    expect(routes.filter((route) => !done.has(route))).toEqual([]);
  });

  it("every command is run", async () => {
    const { stdout } = await plugboard(home, ["--help"]);
    const commands = [...stdout.matchAll(/^ {2}([a-z]+)(?:\|[a-z]+)? (?:\[|<).*$/gm)].map(([, name]) => name ?? "");
    expect(commands.length).toBeGreaterThan(20);
    expect(commands.filter((name) => name !== "help" && !done.has(`plugboard ${name}`))).toEqual([]);
  });

  it("appear in no output, in no encoding", () => {
    const markers = allMarkers();
    const forms = Object.values(markers).reduce((sum, marker) => sum + encodingsOf(marker).size, 0);
    const count = Object.keys(markers).length;
    process.stderr.write(`${operations} operations, ${count} markers, ${forms} forms, ${outputs.bytes} bytes\n`);
    expect(outputs.hits(markers)).toEqual([]);
    expect([operations > 200, outputs.bytes > 1_000_000]).toEqual([true, true]);
  });

  it("are found by the search in the files that may contain them", async () => {
    const found = new Outputs();
    await found.addFiles(home.dir, "", /^(?!config\/mcp_server\.json)/);
    const kept = found.hits({ env: planted.env, query: planted.query, connection: planted.connection });
    expect(kept.length).toBeGreaterThanOrEqual(3);
    const calls = new Outputs();
    await calls.addFiles(home.dir, "", /^(?!data\/calls)/);
    expect(calls.hits({ mask: '"***"', tool: "tell_error" }).length).toBeGreaterThanOrEqual(2);
  });

  it("T13 files are 0600 and folders 0700 with any umask: databases, logs, token, temporary files", () => {
    // The config folder and its original files belong to the user.
    const others = [...modes].filter(([path]) => !/^(?:|config|config\/(?:mcp_server|group)\.json)$/.test(path));
    expect(others.filter(([, mode]) => mode !== "600" && mode !== "700")).toEqual([]);
    const seen = others.map(([path]) => path);
    expect(seen).toEqual(
      expect.arrayContaining([
        "data",
        "data/token",
        "data/calls.db",
        "data/calls.db-wal",
        "data/calls.db-shm",
        "data/calls.journals",
        "data/secrets",
        "state",
        "state/log.jsonl",
        "state/hub.json",
        "state/hub.log",
      ]),
    );
    expect(modes.get("config/mcp_server.json")).toBe("600");
  });
});
