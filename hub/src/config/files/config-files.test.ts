// Loading and editing the two config files.

import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HubError } from "../../errors.ts";
import { ConfigFiles } from "./config-files.ts";

let dir: string;
let files: ConfigFiles;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-config-"));
  files = new ConfigFiles(dir);
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

const servers = (text: string | Buffer) => writeFile(join(dir, "mcp_server.json"), text);
const groups = (text: string) => writeFile(join(dir, "group.json"), text);
const saved = () => readFile(join(dir, "mcp_server.json"), "utf8");

const withKey = (env: unknown) => ({ name: "a", command: "x", env_vars: { KEY: env } });

describe("load", () => {
  it("CF-3 missing files are an empty config", async () => {
    const empty = { config: { servers: [], groups: [] }, present: { servers: false, groups: false }, warnings: [] };
    expect(await files.load()).toMatchObject(empty);
    expect(await new ConfigFiles(join(dir, "none", "such")).load()).toMatchObject(empty);
  });

  it.each(["", "  \n"])("%j is an empty config with a warning", async (text) => {
    await servers(text);
    const { config, warnings } = await files.load();
    expect(config.servers).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/^mcp_server\.json is empty/)]);
  });

  it.each(["// nothing yet\n", "{}", `{"$schema": "s"}`, `{"mcpServers": {}}`])(
    "CF-3 %j is an empty config without a warning",
    async (text) => {
      await servers(text);
      expect(await files.load()).toMatchObject({ config: { servers: [] }, present: { servers: true }, warnings: [] });
    },
  );

  it("CF-1 reads comments, trailing commas, a byte order mark and Windows lines", async () => {
    await servers(`\uFEFF// mine\r\n{\r\n  "mcpServers": { /* one */ "a": { "command": "x", }, },\r\n}\r\n`);
    await groups(`{ "work": { "servers": ["a"] } } // end`);
    const { config, warnings } = await files.load();
    expect(config.servers.map(({ name }) => name)).toEqual(["a"]);
    expect(config.groups).toEqual([{ name: "work", servers: ["a"], tools: [] }]);
    expect(warnings).toEqual([]);
  });

  it("CF-1 reads VS Code's servers", async () => {
    await servers(`{"inputs": [], "servers": {"a": {"type": "http", "url": "http://e.org"}}}`);
    expect((await files.load()).config.servers[0]).toMatchObject({ name: "a", transport: { type: "http" } });
  });

  it("CF-5 does not expand variables", async () => {
    await servers(`{"mcpServers": {"a": {"command": "x", "env": {"K": "\${K}"}}}}`);
    expect((await files.load()).config.servers[0]?.env).toEqual({ K: { value: "${K}" } });
  });

  it("GR-2 keeps a group that names an unknown server", async () => {
    await servers(`{"mcpServers": {"a": {"command": "x"}}}`);
    await groups(`{"g": {"servers": ["a", "gone"]}, "h": {"servers": ["a"]}}`);
    const { config } = await files.load();
    expect(config.groups.map(({ name }) => name)).toEqual(["g", "h"]);
  });

  it("warns about a file without servers, and about entries with access to the host", async () => {
    await servers(`{"memory": {"command": "x"}}`);
    expect((await files.load()).warnings).toEqual(['mcp_server.json has no "mcpServers", so it declares no servers']);
    await servers(`{"mcpServers": {"d": {"command": "docker", "args": ["run", "--privileged", "i"]}}}`);
    expect((await files.load()).warnings).toEqual([
      'Server "d": --privileged gives the container full control of the host',
    ]);
  });

  const broken: [text: string, message: RegExp, field?: string][] = [
    [
      `{\n  "mcpServers": {\n    "a": }\n}`,
      /^\/.*\/mcp_server\.json is not valid JSON: Value expected at line 3, column 10$/,
    ],
    [`{"mcpServers": {"a": {"command": "x"}}`, /Close brace expected at line 1, column 39/],
    [`{"mcpServers": {"a": 'x'}}`, /Invalid symbol at line 1, column 22/],
    [`[]`, /mcp_server.json must contain an object$/],
    [`"x"`, /mcp_server.json must contain an object$/],
    [`{"mcpServers": []}`, /mcp_server.json: mcpServers must be an object that maps names to servers$/, "mcpServers"],
    [`{"mcpServers": null}`, /must be an object that maps names/, "mcpServers"],
    [`{"mcpServers": {}, "servers": {}}`, /mcp_server.json has both mcpServers and servers: keep one$/, "servers"],
    [`{"mcpServers": {}, "mcpServers": {}}`, /duplicate key "mcpServers"/],
    [`${"[".repeat(65)}${"]".repeat(65)}`, /nested deeper than 64 levels at line 1, column 65/],
    ["[".repeat(100_000), /nested deeper than 64 levels/],
    [`{"a":`.repeat(100_000), /nested deeper than 64 levels/],
  ];
  it.each(broken)("CF-7 CF-8 rejects a file that cannot be parsed %#", async (text, message, field) => {
    await servers(text);
    const error = await refusal(files.load());
    expect(error.kind).toBe("InvalidConfig");
    expect(error.message).toMatch(message);
    if (field !== undefined) expect(error.field).toBe(field);
  });

  const invalid: [entries: string, name: string, message: string | RegExp, field?: string][] = [
    [`"x": 5`, "x", 'Server "x": A server must be an object', "mcpServers.x"],
    [`"x": {}`, "x", 'Server "x": Transport required', "mcpServers.x.transport"],
    [`"": {"command": "c"}`, "server", 'Server "": Name is required', "mcpServers..name"],
    [`"x": {"command": "c", "args": ["", 1]}`, "x", 'Server "x": args.1 must be text', "mcpServers.x.args.1"],
    [`"x": {"command": ""}`, "x", 'Server "x": Command is empty', "mcpServers.x.command"],
    [`"__proto__": {"command": "c"}`, "server", /"__proto__" is a reserved name, at line 1, column 50/],
    [`"x": {"command": "c", "env": {}, "env": {}}`, "x", /duplicate key "env", at line 1, column 83/],
    [`"x": {"command": "c", "config": 1e999}`, "x", /number too large/],
    [`"x": {"command": "c", "source": {"Other": 1}}`, "x", /Source type must be/, "mcpServers.x.source.type"],
    [`"x": {"command": "c"}, "x": {"command": "d"}`, "x", /duplicate key "x"/],
    [`"y": {"name": "good", "command": "d"}`, "y", 'Server "good" already exists', "mcpServers.y.name"],
    [`"y": {"id": "good", "command": "d"}`, "y", 'Server "good" already exists', "mcpServers.y.id"],
  ];
  it.each(invalid)("CF-8 %s invalidates only that server", async (entries, name, message, field) => {
    await servers(`{"mcpServers": {"good": {"command": "g"},        ${entries}}}`);
    const { config } = await files.load();
    expect(config.servers).toMatchObject([
      { name: "good" },
      { name, invalid: { message: expect.stringMatching(message) } },
    ]);
    expect(config.servers[0]).not.toHaveProperty("invalid");
    if (field !== undefined) expect(config.servers[1]?.invalid?.field).toBe(field);
    // Other servers can be changed, and the invalid one can be removed by its name.
    const before = await saved();
    await files.updateServer("good", { command: "h" });
    expect(await saved()).toBe(before.replace('"g"', '"h"'));
    await files.createServer({ name: "new", command: "n" });
    await files.deleteServer("new");
    expect((await saved()).replaceAll(" ", "")).toBe(before.replace('"g"', '"h"').replaceAll(" ", ""));
    await files.deleteServer(name);
    expect((await files.load()).config.servers).toMatchObject([{ name: "good" }]);
    expect((await files.load()).config.servers).toHaveLength(1);
  });

  it("CF-8 an invalid server is repaired in place", async () => {
    await servers(`{"mcpServers": {"x": {"command": 5}, /* mine */ "x": {"command": "d"}, "b": {}}}`);
    await files.updateServer("x", { command: "c" });
    expect(await saved()).toBe(`{"mcpServers": {"x": {"command": "c"}, /* mine */  "b": {}}}`);
    expect((await files.load()).config.servers).toMatchObject([{ name: "x" }, { name: "b", invalid: {} }]);
  });

  it("CF-1 names that only other clients allow are converted, and the file keeps them", async () => {
    const text = `{"mcpServers": {
  "My Server": {"command": "a"},
  "my.server 2.0": {"command": "b", "env": {"http_proxy": "x"}, "source": {"Manual": null}},
  "My-Server": {"command": "c"},
  "Überall": {"command": "d"},
  "日本": {"command": "e"},
  "k": {"name": "own name", "command": "f"}
}}`;
    await servers(text);
    await groups(`{"g": {"servers": ["My Server", "My-Server"]}}`);
    const { config, warnings } = await files.load();
    expect(config.servers.filter((server) => server.invalid !== undefined)).toEqual([]);
    expect(config.servers.map(({ name }) => name)).toEqual([
      "My-Server-2",
      "my-server-2-0",
      "My-Server",
      "Uberall",
      "server",
      "own-name",
    ]);
    expect(config.groups).toMatchObject([{ servers: ["My-Server-2", "My-Server"] }]);
    expect(warnings[0]).toBe(
      'Server "My Server" is named "My-Server-2" here: names may only contain letters, digits, _ and -',
    );
    await files.updateServer("My-Server-2", { name: "My-Server-2", command: "a2" });
    await files.updateServer("own-name", { name: "own-name", command: "f2" });
    expect(await saved()).toBe(text.replace('"a"', '"a2"').replace('"f"', '"f2"'));
    expect(await refusal(files.createServer({ name: "own-name", command: "x" }))).toMatchObject({ code: "CONFLICT" });
    await files.deleteServer("server");
    expect(await saved()).not.toContain("日本");
  });

  it("CF-7 names are case-sensitive", async () => {
    await servers(`{"mcpServers": {"x": {"command": "c"}, "X": {"command": "d"}}}`);
    expect((await files.load()).config.servers).toHaveLength(2);
  });

  it("CF-8 removes temp files of a killed save, also beside the target of a symlink", async () => {
    const temp = `.mcp_server.json.4194305.${"0".repeat(16)}.tmp`;
    await mkdir(join(dir, "real"));
    await writeFile(join(dir, "real", "group.json"), "{}");
    await symlink("real/group.json", join(dir, "group.json"));
    await writeFile(join(dir, temp), "");
    await writeFile(join(dir, "real", temp), "");
    await files.load();
    expect((await readdir(dir)).toSorted()).toEqual(["group.json", "real"]);
    expect(await readdir(join(dir, "real"))).toEqual(["group.json"]);
  });

  it("SE-5 rejects a file that is too large, not UTF-8, or not a regular file", async () => {
    await servers(" ".repeat(4 * 1024 * 1024));
    expect((await files.load()).config.servers).toEqual([]);
    await servers(" ".repeat(4 * 1024 * 1024 + 1));
    expect((await refusal(files.load())).message).toBe("mcp_server.json is larger than 4 MiB");
    await servers(Buffer.from([0xff, 0xfe, 0x7b, 0x00]));
    expect((await refusal(files.load())).message).toBe("mcp_server.json is not UTF-8 text");
    await rm(join(dir, "mcp_server.json"));
    await mkdir(join(dir, "mcp_server.json"));
    expect((await refusal(files.load())).message).toMatch(/is not a file$/);
    await rm(join(dir, "mcp_server.json"), { recursive: true });
    await symlink("mcp_server.json", join(dir, "mcp_server.json"));
    expect((await refusal(files.load())).message).toMatch(/^Cannot read /);
  });

  it("CF-3 a file given as the config folder is an error that suggests its folder", async () => {
    await servers("{}");
    const path = join(dir, "mcp_server.json");
    const { message, hint } = await refusal(new ConfigFiles(path).load());
    expect(message).toBe(`${path} is not a folder`);
    expect(hint?.endsWith(` ${dir}`)).toBe(true);
  });
});

describe("createServer", () => {
  it("CF-8 saves the entry as given, in a private file", async () => {
    const server = await files.createServer({
      name: " git ",
      command: "npx",
      args: ["-y", "p"],
      env: { K: "${K:-x}" },
      extra: 1,
    });
    expect(server).toMatchObject({ name: "git", transport: { launcher: "npx" } });
    expect(await saved()).toBe(`{
  "mcpServers": {
    "git": {
      "command": "npx",
      "args": ["-y", "p"],
      "env": {
        "K": "\${K:-x}"
      },
      "extra": 1
    }
  }
}
`);
    expect((await stat(join(dir, "mcp_server.json"))).mode & 0o777).toBe(0o600);
    expect((await files.load()).config.servers).toEqual([server]);
  });

  it("T13 a file that others can read becomes private when a credential is added", async () => {
    const path = join(dir, "mcp_server.json");
    const mode = async () => (await stat(path)).mode & 0o777;
    await servers("{}");
    await chmod(path, 0o644);
    await files.createServer({ name: "plain", command: "x", env: { API_KEY: "${API_KEY}", REF: { secretRef: "r" } } });
    expect(await mode()).toBe(0o644);
    expect((await files.load()).warnings).toEqual([]);
    await files.createServer({
      name: "open",
      url: "http://e.org",
      headers: { Authorization: "Bearer s3cr3t-0f-m1ne" },
    });
    expect(await mode()).toBe(0o600);
    expect((await files.load()).warnings).toEqual([]);
    await chmod(path, 0o640);
    expect((await files.load()).warnings).toEqual([
      `${path} contains credentials (open) and can be read by other users. Run chmod 600 '${path}'`,
    ]);
  });

  it("CF-10 keeps comments, mode, byte order mark and a symlink", async () => {
    const real = join(dir, "real.json");
    const text = `\uFEFF// mine\n{\n  "servers": {\n    "a": { "command": "x" }, // note\n  },\n}\n`;
    await writeFile(real, text);
    await chmod(real, 0o640);
    await symlink("real.json", join(dir, "mcp_server.json"));
    await files.createServer({ name: "b", url: "http://e.org" });
    expect(await readFile(real, "utf8")).toBe(
      text.replace("// note\n", `// note\n    "b": {\n      "url": "http://e.org"\n    },\n`),
    );
    expect((await stat(real)).mode & 0o777).toBe(0o640);
  });

  it.each([
    ["no name", { command: "x" }, "Name is required"],
    ["a blank name", { name: " ", command: "x" }, "Name is required"],
    ["a null name", { name: null, command: "x" }, "Name is required"],
    ["no transport", { name: "a" }, "Transport required"],
    ["nothing", undefined, "A server must be an object"],
  ])("MC-NT3 %s is VALIDATION_ERROR, and nothing is saved", async (_what, entry, message) => {
    const error = await refusal(files.createServer(entry));
    expect(error).toMatchObject({ code: "VALIDATION_ERROR", message });
    expect(await readdir(dir)).toEqual([]);
  });

  it("MC-NT4 a required variable without a value blocks the save", async () => {
    for (const env of [{ required: true }, { required: true, value: "" }, { required: true, value: null }]) {
      expect(await refusal(files.createServer(withKey(env)))).toMatchObject({
        code: "VALIDATION_ERROR",
        message: "Missing required credentials",
        field: "env.KEY",
      });
    }
    expect(await readdir(dir)).toEqual([]);
    await files.createServer(withKey({ required: true, secretRef: "s" }));
    await files.updateServer("a", withKey({ required: true, value: "${KEY}" }));
    expect(await refusal(files.updateServer("a", withKey({ required: true })))).toMatchObject({ field: "env.KEY" });
  });

  it("CF-7 a duplicate name or id is a conflict, and nothing changes", async () => {
    await files.createServer({ name: "a", id: "one", command: "x" });
    const before = await saved();
    for (const [entry, field] of [
      [{ name: "a" }, "name"],
      [{ name: "b", id: "a" }, "id"],
      [{ name: "one" }, "name"],
    ] as const) {
      const error = await refusal(files.createServer({ ...entry, command: "y" }));
      expect(error).toMatchObject({ code: "CONFLICT", kind: "ServerAlreadyExists", field });
    }
    expect(await saved()).toBe(before);
  });

  it.each(["{", `{"mcpServers": []}`])("CF-8 does not overwrite the invalid file %s", async (text) => {
    await servers(text);
    await refusal(files.createServer({ name: "a", command: "x" }));
    expect(await saved()).toBe(text);
  });

  it("T52 rejects settings that may only be written by hand", async () => {
    for (const name of ["LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "BASH_ENV", "NPM_CONFIG_REGISTRY"]) {
      const error = await refusal(files.createServer({ name: "a", command: "x", env: { [name]: "v" } }));
      expect(error).toMatchObject({ code: "VALIDATION_ERROR", field: `env.${name}` });
    }
    await servers(`{"mcpServers": {"a": {"command": "x", "env": {"NODE_OPTIONS": "v"}}}}`);
    await files.updateServer("a", { command: "x", env: { NODE_OPTIONS: "v" }, enabled: false });
    await refusal(files.updateServer("a", { command: "x", env: { NODE_OPTIONS: "v", LD_PRELOAD: "w" } }));
  });
});

describe("updateServer and deleteServer", () => {
  const text = `{
  "mcpServers": {
    // first
    "a": {
      "command": "x", // why
      "enabled": true
    },
    "key": { "name": "b", "command": "y" }
  }
}
`;
  beforeEach(() => servers(text));

  it("CF-10 an update changes only fields that differ", async () => {
    await files.updateServer("a", { command: "x", enabled: false });
    expect(await saved()).toBe(text.replace(`"enabled": true`, `"enabled": false`));
  });

  it("finds a server by its name if the key differs, and keeps both", async () => {
    await files.updateServer("b", { command: "z" });
    expect(await saved()).toBe(text.replace(`"y"`, `"z"`));
  });

  it("renames in place, unless the name is taken", async () => {
    await files.updateServer("a", { name: "c", command: "x", enabled: true });
    expect(await saved()).toBe(text.replace(`"a"`, `"c"`));
    for (const name of ["b", "key"]) {
      const error = await refusal(files.updateServer("c", { name, command: "x" }));
      expect(error).toMatchObject({ code: "CONFLICT", message: `Server "${name}" already exists`, field: "name" });
    }
  });

  it("deletes valid and invalid entries", async () => {
    await servers(`{"mcpServers": {"bad": {"args": 1}, "a": {"command": "x"}}}`);
    await files.deleteServer("bad");
    expect((await files.load()).config.servers.map(({ name }) => name)).toEqual(["a"]);
    await files.deleteServer("a");
    expect((await files.load()).config.servers).toEqual([]);
  });

  it("an unknown server is not found", async () => {
    for (const name of ["none", "key", "__proto__", "constructor", ""]) {
      expect(await refusal(files.deleteServer(name))).toMatchObject({ kind: "ServerNotFound", code: "NOT_FOUND" });
    }
    expect(await refusal(files.updateServer("none", { command: "x" }))).toMatchObject({ kind: "ServerNotFound" });
    expect(await saved()).toBe(text);
  });

  it("CF-8 concurrent edits are serialized, and a failed one does not stop the next", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
    const edits = names.flatMap((name) => [
      files.createServer({ name, command: "x" }),
      files.createServer({ name, command: "y" }).catch((error: unknown) => error),
    ]);
    await Promise.all(edits);
    expect((await files.load()).config.servers.map(({ name }) => name)).toEqual(["a", "b", ...names]);
    expect(await readdir(dir)).toEqual(["mcp_server.json"]);
  });

  it("CF-10 an edit keeps changes that a user saved in the meantime", async () => {
    await files.updateServer("a", { command: "x2" });
    await servers(`{"mcpServers": {"mine": {"command": "m"}}}`);
    await files.createServer({ name: "n", command: "x" });
    expect((await files.load()).config.servers.map(({ name }) => name)).toEqual(["mine", "n"]);
  });
});

async function refusal(promise: Promise<unknown>): Promise<HubError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof HubError) return error;
  throw new Error("No HubError was thrown", { cause: error });
}
