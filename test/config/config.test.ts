// Requirements on the config, through a real hub: refused entries and their messages (CF-7), variables that are expanded and
// never written back (CF-5), forms of a variable (CF-6), both spellings (CF-1, CF-2), preserved comments (CF-10).

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openManaged, type Answer, type ManagedHub } from "../support/api.ts";
import { fixture, makeHome, plugboard, type Home } from "../support/hub.ts";
import { callText } from "../support/in-process.ts";

const files = (folder: string) =>
  Promise.all(["mcp_server.json", "group.json"].map((name) => readFile(join(folder, name), "utf8").catch(() => "")));

const many = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));
const variables = (count: number) => Object.fromEntries(many(count, (n) => [`V${n}`, "x"]));

describe("CF-7 REST rejects invalid entries", () => {
  let managed: ManagedHub;

  beforeAll(async () => {
    managed = await openManaged({ taken: { command: "x", id: "taken-id", enabled: false } });
  });

  afterAll(async () => expect(await managed.end()).toEqual([]));

  const ok = { name: "new", command: "x", enabled: false };
  const INVALID = {
    status: 400,
    code: "VALIDATION_ERROR",
    kind: expect.stringMatching(/^Invalid(?:Argument|Config)$/),
  };
  const EXISTS = { status: 409, code: "CONFLICT", kind: "ServerAlreadyExists" };

  it.each<[string, entry: unknown, error: object, field: string, message: string | RegExp]>([
    ["no name", { ...ok, name: undefined }, INVALID, "name", "Name is required"],
    ["a name of blanks", { ...ok, name: " \t " }, INVALID, "name", "Name is required"],
    ["a name of 65", { ...ok, name: "n".repeat(65) }, INVALID, "name", "Name is longer than 64 characters"],
    ["a name with a dot", { ...ok, name: "a.b" }, INVALID, "name", /only contain letters, digits, _ and -/],
    ["a name that is taken", { ...ok, name: "taken" }, EXISTS, "name", /already exists/],
    ["a name that is another's id", { ...ok, name: "taken-id" }, EXISTS, "name", /already exists/],
    [
      "no package identifier",
      { name: "new", package: { type: "npm", identifier: " " }, transport: "stdio" },
      INVALID,
      "package.identifier",
      "Package identifier required",
    ],
    ["no transport", { name: "new" }, INVALID, "transport", "Transport required"],
    [
      "a description of 1025",
      { ...ok, description: "d".repeat(1025) },
      INVALID,
      "description",
      "Description is longer than 1024 characters",
    ],
    [
      "a description of two lines",
      { ...ok, description: "one\ntwo" },
      INVALID,
      "description",
      "Description must not contain control characters",
    ],
    ["51 arguments", { ...ok, args: many(51, String) }, INVALID, "args", "At most 50 arguments are allowed"],
    [
      "an argument of 513",
      { ...ok, args: ["a", "x".repeat(513)] },
      INVALID,
      "args.1",
      "Argument is longer than 512 characters",
    ],
    ["an argument with NUL", { ...ok, args: ["a\0"] }, INVALID, "args.0", "Argument must not contain a NUL character"],
    ["51 variables", { ...ok, env: variables(51) }, INVALID, "env", "At most 50 environment variables are allowed"],
    [
      "a variable with a dash",
      { ...ok, env: { "not-a-name": "x" } },
      INVALID,
      "env.not-a-name",
      "Variable name may only contain letters, digits and _",
    ],
    [
      "a value of 4097",
      { ...ok, env: { A: "x".repeat(4097) } },
      INVALID,
      "env.A",
      /longer than 4096|A variable must be text/,
    ],
    [
      "a required variable without a value",
      { ...ok, env: { A: { required: true } } },
      INVALID,
      "env.A",
      "Missing required credentials",
    ],
  ])("CF-7 CF-8 %s", async (_, entry, error, field, message) => {
    const before = await files(managed.paths.config);
    const { json } = await managed.ask("/servers", { method: "POST", body: entry });
    expect(json).toMatchObject({ ...error, field, message: expect.stringMatching(toPattern(message)) });
    expect(await files(managed.paths.config)).toEqual(before);
    expect(managed.hub.supervisor.servers.map(({ name }) => name)).toEqual(["taken"]);
  });

  it("T11 a variable is expanded in a URL only if the entry declares it", async () => {
    const entry = { name: "exf", enabled: false, url: "http://127.0.0.1:1/?k=${HOME}" };
    const refused = await managed.ask("/servers", { method: "POST", body: entry });
    expect(refused.json).toMatchObject({
      status: 400,
      field: "url",
      hint: expect.stringContaining('"allowEnv": ["HOME"]'),
    });
    const tried = await managed.ask("/servers/test", { method: "POST", body: entry });
    expect(tried.json).toMatchObject({ status: 400, field: "url" });
    const declared = await managed.ask("/servers", { method: "POST", body: { ...entry, allowEnv: ["HOME"] } });
    expect(declared.status).toBe(201);
    expect(declared.json).toMatchObject({ config: { allowEnv: ["HOME"] }, warnings: [] });
    const more = await managed.ask("/servers/exf", {
      method: "PATCH",
      body: { headers: { Authorization: "${PATH}" } },
      headers: { "content-type": "application/merge-patch+json" },
    });
    expect(more.json).toMatchObject({ status: 400, field: "headers.Authorization" });
    await managed.ask("/servers/exf", { method: "DELETE" });
  });

  it.each<[string, group: unknown, field: string, message: RegExp]>([
    ["a tool name of 129", { servers: [], tools: ["t".repeat(129)] }, "tools.0", /longer than 128/],
    ["an empty tool name", { servers: [], tools: ["ok", ""] }, "tools.1", /Tool name is required/],
  ])("CF-7 CF-8 a group with %s", async (_, body, field, message) => {
    const before = await files(managed.paths.config);
    const { json } = await managed.ask("/groups/work", { method: "PUT", body });
    expect(json).toMatchObject({ ...INVALID, field, message: expect.stringMatching(message) });
    expect(await files(managed.paths.config)).toEqual(before);
  });

  it("CF-7 an entry exactly at the limits is saved", async () => {
    const entry = {
      name: "n".repeat(64),
      command: "x",
      enabled: false,
      description: "d".repeat(1024),
      args: many(50, () => "x".repeat(512)),
      env: { ...variables(49), LONG: "x".repeat(4096) },
    };
    expect((await managed.ask("/servers", { method: "POST", body: entry })).status).toBe(201);
    const group = { servers: [entry.name], tools: ["ns:a/b".padEnd(128, "c")] };
    expect((await managed.ask("/groups/work", { method: "PUT", body: group })).status).toBe(200);
    for (const path of [`/servers/${entry.name}`, "/groups/work"]) {
      expect((await managed.ask(path, { method: "DELETE" })).status).toBe(204);
    }
  });
});

function toPattern(message: string | RegExp): RegExp {
  return typeof message === "string" ? new RegExp(`^${message}$`) : message;
}

describe("CF-5 CF-6 variables", () => {
  let managed: ManagedHub;
  afterEach(async () => expect(await managed.end()).toEqual([]));

  const file = () => readFile(join(managed.paths.config, "mcp_server.json"), "utf8");

  it("CF-5 are expanded when a server starts, and no edit writes the values back", async () => {
    const { command, args } = fixture("echo");
    managed = await openManaged(
      {
        it: {
          command,
          args: [...args, "2025-${MONTH}-25"],
          env: { FROM_HUB: "${PLANTED}", OTHER: "${NONE:-fallback}" },
        },
        far: {
          url: "http://127.0.0.1:1/${PLANTED}",
          headers: { Authorization: "Bearer ${PLANTED}" },
          enabled: false,
        },
      },
      { variables: { PLANTED: "planted-5d0c", MONTH: "11" } },
    );
    const { hub, ask } = managed;
    await hub.start();
    const resolved = async () => [
      await callText(hub, "it", "env", { name: "FROM_HUB" }),
      await callText(hub, "it", "env", { name: "OTHER" }),
    ];
    expect(await resolved()).toEqual(["planted-5d0c", "fallback"]);
    expect(hub.supervisor.get("it").info?.version).toBe("2025-11-25");
    const edit = async (path: string, method: string, body?: unknown): Promise<Answer> => {
      const answer = await ask(path, { method, ...(body === undefined ? {} : { body }) });
      expect([path, answer.status]).toEqual([path, 200]);
      const text = await file();
      expect(text).not.toContain("planted-5d0c");
      expect(text).not.toContain('fallback"');
      expect(text.match(/\$\{PLANTED\}/g)).toHaveLength(3);
      expect(text).toContain("2025-${MONTH}-25");
      return answer;
    };
    for (const name of ["it", "far"]) {
      const { json } = await ask(`/servers/${name}`);
      expect(JSON.stringify(json)).not.toContain("planted-5d0c");
      await edit(`/servers/${name}`, "PUT", json.config);
      await edit(`/servers/${name}`, "PATCH", { description: "changed" });
    }
    await edit("/servers/it/disable", "POST");
    await edit("/servers/it/enable", "POST");
    await edit("/servers/it/restart", "POST");
    expect(await resolved()).toEqual(["planted-5d0c", "fallback"]);
  });

  it.each([
    ["env", { ...fixture("echo"), env: { A: "x${GONE}" } }, "env.A"],
    ["args", { ...fixture("echo", "${GONE}") }, "args.1"],
    ["url", { url: "http://127.0.0.1:1/${GONE}" }, "url"],
    ["headers", { url: "http://127.0.0.1:1/", headers: { "X-Key": "${GONE}" } }, "headers.X-Key"],
  ])("CF-5 LC-3 a missing variable in %s blocks the start and is named", async (_, entry, field) => {
    managed = await openManaged({ it: entry });
    const { json } = await managed.ask("/servers/it/start", { method: "POST" });
    expect(json).toMatchObject({ code: "VALIDATION_ERROR", message: "Missing required credentials", field });
    expect(json.detail).toContain("GONE");
    expect((await managed.ask("/servers/it")).json).toMatchObject({ status: "error", error: { field } });
  });

  it("CF-6 are strings, or objects with a value or a secret; a missing secret blocks the start", async () => {
    const env = {
      PLAIN: "a",
      VALUE: { value: "b" },
      MARKED: { value: "c", isSecret: true, required: true },
      STORED: { secretRef: "service", required: true },
      OPTIONAL: { required: false },
    };
    managed = await openManaged({ it: { ...fixture("echo"), env } });
    const start = () => managed.ask("/servers/it/start", { method: "POST" });
    const { json } = await start();
    expect(json).toMatchObject({ code: "VALIDATION_ERROR", message: "Missing required credentials" });
    expect(json).toMatchObject({ field: "env.STORED", detail: expect.stringContaining("service") });
    await managed.hub.secrets.set("service", "planted-77aa");
    expect((await start()).json.status).toBe("running");
    const seen = await Promise.all(Object.keys(env).map((name) => callText(managed.hub, "it", "env", { name })));
    expect(seen).toEqual(["a", "b", "c", "planted-77aa", ""]);
    expect(await file()).not.toContain("planted-77aa");
  });
});

describe("CF-1 CF-2 both spellings of an entry", () => {
  it.each([
    [{ command: "npx", args: ["-y", "p", "--a"] }, { package: { type: "npm", identifier: "p" }, args: ["--a"] }, "npx"],
    [{ command: "uvx", args: ["p", "--a"] }, { package: { type: "pypi", identifier: "p" }, args: ["--a"] }, "uvx"],
    [
      { command: "docker", args: ["run", "--rm", "-i", "i:1", "--a"] },
      { package: { type: "docker", identifier: "i:1" }, args: ["--a"] },
      "docker",
    ],
    [
      { command: "/opt/server", args: ["--a"] },
      { package: { type: "binary", identifier: "/opt/server" }, args: ["--a"] },
      "binary",
    ],
    [
      { url: "https://example.com/mcp" },
      { package: { type: "http", identifier: "x" }, transport: { type: "http", url: "https://example.com/mcp" } },
      "http",
    ],
  ])("CF-2 %j is read as %j", async (command, packaged, kind) => {
    const managed = await openManaged({});
    const { client } = managed;
    const first = await client.servers.create({ name: "first", ...command, env: { A: "1" }, enabled: false });
    const env_vars = { A: { value: "1" } };
    const second = await client.servers.create({
      transport: "stdio",
      ...packaged,
      name: "second",
      env_vars,
      enabled: false,
    });
    expect(await managed.end()).toEqual([]);
    const shown = ({ config, kind: of }: typeof first) => ({ ...config, id: "", name: "", of });
    expect(shown(first)).toEqual(shown(second));
    expect(second.kind).toBe(kind);
  });

  it("CF-1 every member of an entry is saved and shown", async () => {
    const entry = {
      id: "of-my-own",
      enabled: false,
      description: "One line",
      command: "/opt/server",
      args: ["--a"],
      env: { A: "1" },
      cwd: "/srv",
      source: { type: "official", name: "io.example/x", version: "1.2.3" },
      config: { any: ["json"] },
      timeouts: { start_ms: 1000, request_ms: 2000 },
      groups: ["hinted"],
    };
    const managed = await openManaged({});
    await managed.ask("/servers", { method: "POST", body: { name: "it", ...entry } });
    const [text = ""] = await files(managed.paths.config);
    const { json } = await managed.ask("/servers/of-my-own");
    expect(await managed.end()).toEqual([]);
    expect(JSON.parse(text).mcpServers.it).toEqual(entry);
    expect(json).toMatchObject({ config: entry, status: "disabled", groups: expect.arrayContaining(["hinted"]) });
  });
});

const SERVERS = `{
  // all my servers
  "mcpServers": {
    "one": { "command": "x", "enabled": false /* for now */ },
    // the second
    "two": {
      "command": "y", // the program
      "enabled": false
    }
  }
}
`;
const GROUPS = `{
  // all my groups
  "work": { "servers": ["one"] /* more to come */ },
  "home": { "servers": ["two"] } // mine
}
`;

/** `gone`: comments that may be removed together with the edited text. */
interface Edit {
  readonly name: string;
  readonly run: (context: { readonly home: Home; readonly managed: ManagedHub | undefined }) => Promise<void>;
  readonly gone?: readonly string[];
}

const api = (method: string, path: string, body?: unknown): Edit["run"] => {
  return async ({ managed }) => {
    const answer = await managed?.ask(path, { method, ...(body === undefined ? {} : { body }) });
    expect(answer?.status).toBeLessThan(300);
  };
};
const command = (...args: string[]): Edit["run"] => {
  return async ({ home }) => expect(await plugboard(home, args)).toMatchObject({ code: 0 });
};

const EDITS: readonly Edit[] = [
  { name: "POST /servers", run: api("POST", "/servers", { name: "new", command: "z", enabled: false }) },
  { name: "PUT /servers/two", run: api("PUT", "/servers/two", { command: "z", enabled: false }) },
  { name: "PATCH /servers/two", run: api("PATCH", "/servers/two", { description: "Two" }) },
  { name: "DELETE /servers/one", run: api("DELETE", "/servers/one"), gone: ["for now"] },
  { name: "POST /servers/one/disable", run: api("POST", "/servers/one/disable") },
  { name: "PUT /groups/new", run: api("PUT", "/groups/new", { servers: ["one"] }) },
  { name: "PUT /groups/work", run: api("PUT", "/groups/work", { servers: ["one", "two"] }) },
  { name: "DELETE /groups/work", run: api("DELETE", "/groups/work"), gone: ["more to come"] },
  { name: "plugboard add", run: command("add", "new", "--disabled", "--", "z") },
  { name: "plugboard edit", run: command("edit", "two", '{"description": "Two"}') },
  { name: "plugboard rm", run: command("rm", "one"), gone: ["for now"] },
  { name: "plugboard disable", run: command("disable", "one") },
  { name: "plugboard group add", run: command("group", "add", "new", "--servers", "one") },
  { name: "plugboard group set", run: command("group", "set", "work", "--servers", "one,two") },
  { name: "plugboard group rm", run: command("group", "rm", "work"), gone: ["more to come"] },
];

describe("CF-10 an edit is written to the files and keeps their comments", () => {
  it.each(EDITS)("CF-10 $name", async ({ name, run, gone = [] }) => {
    const byApi = !name.startsWith("plugboard");
    const managed = byApi ? await openManaged(undefined) : undefined;
    const home = managed?.home ?? (await makeHome(undefined));
    const folder = join(home.dir, "config");
    await writeFile(join(folder, "mcp_server.json"), SERVERS);
    await writeFile(join(folder, "group.json"), GROUPS);
    await managed?.hub.configuration.reload();
    await run({ home, managed });
    const after = (await files(folder)).join("");
    await (managed === undefined ? home.remove() : managed.end());
    const comments = [
      "all my servers",
      "for now",
      "the second",
      "the program",
      "all my groups",
      "more to come",
      "mine",
    ];
    expect(comments.filter((comment) => !after.includes(comment))).toEqual(gone);
    // Disabling a disabled server changes nothing.
    if (!name.includes("disable")) expect(after).not.toBe(SERVERS + GROUPS);
  });
});
