// The two files: what a load accepts, what it says about the rest, and what an edit leaves behind.

import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HubError } from "../errors.ts";
import { ConfigFiles } from "./file.ts";

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

  it.each(["", "  \n", "// nothing yet\n", "{}", `{"$schema": "s"}`, `{"mcpServers": {}}`])(
    "CF-3 %j declares nothing, without a warning",
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

  it("CF-5 leaves variables as they are", async () => {
    await servers(`{"mcpServers": {"a": {"command": "x", "env": {"K": "\${K}"}}}}`);
    expect((await files.load()).config.servers[0]?.env).toEqual({ K: { value: "${K}" } });
  });

  it("GR-2 keeps a group that names an unknown server", async () => {
    await servers(`{"mcpServers": {"a": {"command": "x"}}}`);
    await groups(`{"g": {"servers": ["a", "gone"]}, "h": {"servers": ["a"]}}`);
    const { config } = await files.load();
    expect(config.groups.map(({ name }) => name)).toEqual(["g", "h"]);
  });

  it("warns of a file that declares nothing, and of entries with power over the machine", async () => {
    await servers(`{"memory": {"command": "x"}}`);
    expect((await files.load()).warnings).toEqual(['mcp_server.json has no "mcpServers", so it declares no servers']);
    await servers(`{"mcpServers": {"d": {"command": "docker", "args": ["run", "--privileged", "i"]}}}`);
    expect((await files.load()).warnings).toEqual(['Server "d": --privileged gives the container the whole machine']);
  });

  const broken: [text: string, message: string | RegExp, field?: string][] = [
    [`{\n  "mcpServers": {\n    "a": }\n}`, "mcp_server.json is not valid JSON: Value expected at line 3, column 10"],
    [`{"mcpServers": {"a": {"command": "x"}}`, /Close brace expected at line 1, column 39/],
    [`{"mcpServers": {"a": 'x'}}`, /Invalid symbol at line 1, column 22/],
    [`[]`, "mcp_server.json must contain an object"],
    [`"x"`, "mcp_server.json must contain an object"],
    [`{"mcpServers": []}`, "mcp_server.json: mcpServers must be an object that maps names to servers", "mcpServers"],
    [`{"mcpServers": null}`, /must be an object that maps names/, "mcpServers"],
    [`{"mcpServers": {}, "servers": {}}`, "mcp_server.json has both mcpServers and servers: keep one", "servers"],
    [`{"mcpServers": {"x": 5}}`, 'Server "x": A server must be an object', "mcpServers.x"],
    [`{"mcpServers": {"x": {}}}`, 'Server "x": Transport required', "mcpServers.x.transport"],
    [`{"mcpServers": {"": {"command": "c"}}}`, 'Server "": Name is required', "mcpServers..name"],
    [
      `{"mcpServers": {"x": {"command": "c", "args": ["", "", "", 1]}}}`,
      'Server "x": args.3 must be text',
      "mcpServers.x.args.3",
    ],
    [`{"servers": {"x": {"command": ""}}}`, 'Server "x": Command is empty', "servers.x.command"],
    [`{"mcpServers": {"__proto__": {"command": "c"}}}`, /"__proto__" cannot be used as a name, at line 1, column 17/],
    [`{"mcpServers": {"x": {"command": "c", "env": {}, "env": {}}}}`, /"env" is given twice, at line 1, column 50/],
    [`{"mcpServers": {"x": {"command": "c", "config": 1e999}}}`, /number is too large/],
    [`${"[".repeat(65)}${"]".repeat(65)}`, /nested deeper than 64 levels at line 1, column 65/],
    ["[".repeat(100_000), /nested deeper than 64 levels/],
    [`{"a":`.repeat(100_000), /nested deeper than 64 levels/],
  ];
  it.each(broken)("CF-7 refuses broken file %#", async (text, message, field) => {
    await servers(text);
    const error = await refusal(files.load());
    expect(error.kind).toBe("InvalidConfig");
    expect(error.message).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
    if (field !== undefined) expect(error.field).toBe(field);
  });

  it.each([
    [`{"mcpServers": {"x": {"command": "c"}, "x": {"command": "d"}}}`, /"x" is given twice/],
    [`{"mcpServers": {"x": {"command": "c"}, "y": {"name": "x", "command": "d"}}}`, /^Server "x" already exists$/],
    [`{"mcpServers": {"x": {"command": "c"}, "y": {"id": "x", "command": "d"}}}`, /^Server "x" already exists$/],
  ])("CF-7 %s is a conflict", async (text, message) => {
    await servers(text);
    const error = await refusal(files.load());
    expect(error).toMatchObject({ kind: "ServerAlreadyExists", code: "CONFLICT" });
    expect(error.message).toMatch(message);
  });

  it("CF-7 names are case-sensitive", async () => {
    await servers(`{"mcpServers": {"x": {"command": "c"}, "X": {"command": "d"}}}`);
    expect((await files.load()).config.servers).toHaveLength(2);
  });

  it("CF-8 removes what a killed save left, also beside the real file of a link", async () => {
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

  it("SE-5 refuses a file that is too large, is no text, or is no file", async () => {
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

  it("CF-3 a file in place of the folder is named, and the folder that is meant", async () => {
    await servers("{}");
    const path = join(dir, "mcp_server.json");
    const { message, hint } = await refusal(new ConfigFiles(path).load());
    expect(message).toBe(`${path} is not a folder`);
    expect(hint?.endsWith(` ${dir}`)).toBe(true);
  });
});

describe("createServer", () => {
  it("CF-8 saves the entry as it was given, in a private file", async () => {
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

  it("CF-10 keeps comments, mode, byte order mark and a link", async () => {
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

  it("CF-7 a name or id that is taken is a conflict, and nothing changes", async () => {
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

  it.each(["{", `{"mcpServers": {"bad": {}}}`, `{"mcpServers": []}`])(
    "CF-8 never writes over a file that says %s",
    async (text) => {
      await servers(text);
      await refusal(files.createServer({ name: "a", command: "x" }));
      expect(await saved()).toBe(text);
    },
  );

  it("T52 refuses what only a person may write into the file", async () => {
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

  it("CF-10 an update touches only what differs", async () => {
    await files.updateServer("a", { command: "x", enabled: false });
    expect(await saved()).toBe(text.replace(`"enabled": true`, `"enabled": false`));
  });

  it("finds a server by its name, whatever its key, and keeps both", async () => {
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

  it("deletes, also an entry that is broken", async () => {
    await servers(`{"mcpServers": {"bad": {"args": 1}, "a": {"command": "x"}}}`);
    await files.deleteServer("bad");
    expect((await files.load()).config.servers.map(({ name }) => name)).toEqual(["a"]);
    await files.deleteServer("a");
    expect((await files.load()).config.servers).toEqual([]);
  });

  it("does not know servers that are not there", async () => {
    for (const name of ["none", "key", "__proto__", "constructor", ""]) {
      expect(await refusal(files.deleteServer(name))).toMatchObject({ kind: "ServerNotFound", code: "NOT_FOUND" });
    }
    expect(await refusal(files.updateServer("none", { command: "x" }))).toMatchObject({ kind: "ServerNotFound" });
    expect(await saved()).toBe(text);
  });

  it("CF-8 edits at once are made one after the other, and a failed one does not stop the next", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
    const edits = names.flatMap((name) => [
      files.createServer({ name, command: "x" }),
      files.createServer({ name, command: "y" }).catch((error: unknown) => error),
    ]);
    await Promise.all(edits);
    expect((await files.load()).config.servers.map(({ name }) => name)).toEqual(["a", "b", ...names]);
    expect(await readdir(dir)).toEqual(["mcp_server.json"]);
  });

  it("CF-10 an edit builds on what a person saved in the meantime", async () => {
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
