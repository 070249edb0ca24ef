import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Backups } from "./backups.ts";
import { installInto, restoreBackup, uninstallFrom } from "./change.ts";
import type { ClientFile } from "../file.ts";
import { entriesIn } from "../file.ts";
import { editorFor, entryLocation } from "../formats/format.ts";
import { toHubEntry, type HubLaunch } from "./hub-entry.ts";
import { CLIENTS, clientsNamed } from "../client-table.ts";

const OWN: HubLaunch = {
  command: "/usr/bin/node",
  args: ["/opt/bin/plugboard.js", "stdio"],
  env: { PLUGBOARD_HOME: "/h" },
};
const OTHER: HubLaunch = { ...OWN, args: ["/opt/bin/plugboard.js", "stdio", "--group", "work"] };

let folder: string;
let backups: Backups;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "plugboard-clients-"));
  backups = new Backups(join(folder, "data"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function fileOf(id: string, text?: string): Promise<ClientFile> {
  const [client] = clientsNamed([id]);
  if (client === undefined) throw new Error(id);
  const path = join(folder, "client", `file-of-${id}`);
  if (text !== undefined) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  return { client, scope: "user", path };
}

const use = (dryRun = false) => ({ backups, dryRun });
const install = (file: ClientFile, own = OWN, dryRun = false) =>
  installInto(file, toHubEntry(own, file.client), use(dryRun));
const read = (file: ClientFile) => readFile(file.path, "utf8");

const TEXTS: Readonly<Record<string, string>> = {
  jsonc: `{
  // what I have
  "theme": "dark", /* the best */
  "ROOT": {
    "a": { "command": "x", "args": ["1"] }, // first

    "b": { "url": "https://b" },
  },
  "last": [1, 2,],
}
`,
  toml: `# mine
model = "x"   # the model

[ROOT.a]
command = "x"
args = [
  "1", # one
  "[not.a.table]",
]

[ROOT.a.env]
A = '''
[ROOT.plugboard]
'''

# about b
[[list]]
when = 2026-01-01
`,
  yaml: `# mine
name: me
ROOT:
  # the first
  a:
    cmd: x   # one
    args: [ "1" ]

# after them
models: []
`,
};

const LIST = `# mine
name: me
mcpServers:
  # the first
  - name: a
    command: x   # one

models: [ ]  # none
`;

describe.each(CLIENTS.map((client) => [client.id, client] as const))("CF-11 the file of %s", (id, client) => {
  const text = client.list === true ? LIST : (TEXTS[client.format] ?? "").replaceAll("ROOT", client.root.join("."));

  it("gets the hub's entry and keeps every other line", async () => {
    const file = await fileOf(id, text);
    expect(await install(file)).toMatchObject({ kind: "added" });
    const written = (await read(file)).split("\n");
    for (const line of text.split("\n")) expect(written).toContain(line);
    const data = (await editorFor(client.format)).parse(await read(file), file.path);
    expect(entriesIn(data, client).find(([name]) => name === "plugboard")?.[1]).toMatchObject(toHubEntry(OWN, client));
  });

  it("is not written if nothing changes, is edited in place, and has its original text after uninstall", async () => {
    const file = await fileOf(id, text);
    await install(file);
    const first = await stat(file.path);
    expect(await install(file)).toMatchObject({ kind: "none" });
    expect((await stat(file.path)).ino).toBe(first.ino);
    expect(await install(file, OTHER)).toMatchObject({ kind: "replaced" });
    expect(await read(file)).toContain("work");
    expect(await uninstallFrom(file, use())).toMatchObject({ kind: "removed" });
    expect(await read(file)).toBe(text);
    expect(await uninstallFrom(file, use())).toMatchObject({ kind: "none" });
  });

  it("loses only the hub's entry if it was changed since", async () => {
    const file = await fileOf(id, text);
    await install(file);
    const comment = client.format === "jsonc" ? "// more\n" : "# more\n";
    await writeFile(file.path, comment + (await read(file)));
    await uninstallFrom(file, use());
    expect(await read(file)).toBe(comment + text);
  });

  it("is created as a private file if missing, and removed by uninstall", async () => {
    const file = await fileOf(id);
    await install(file);
    expect((await stat(file.path)).mode & 0o777).toBe(0o600);
    expect(await uninstallFrom(file, use())).toMatchObject({ kind: "removed" });
    await expect(stat(file.path)).rejects.toThrow("ENOENT");
  });

  it("is not changed by a dry run, or if another server has the hub's name", async () => {
    const file = await fileOf(id, text);
    expect(await install(file, OWN, true)).toMatchObject({ kind: "added" });
    expect(await read(file)).toBe(text);
    const editor = await editorFor(client.format);
    const taken = editor.set(text, entryLocation(client, "plugboard"), { command: "mine", cmd: "mine" });
    await writeFile(file.path, taken);
    for (const change of [() => install(file), () => uninstallFrom(file, use())])
      await expect(change()).rejects.toMatchObject({ kind: "ServerAlreadyExists", code: "CONFLICT" });
    expect(await read(file)).toBe(taken);
    expect(await backups.list(id)).toEqual([]);
  });

  it("is rejected with the position if it has a syntax error, and stays unchanged", async () => {
    const broken = client.format === "toml" ? "[a\n" : '{ "a": [ }\n';
    const file = await fileOf(id, broken);
    await expect(install(file)).rejects.toMatchObject({
      message: expect.stringMatching(/file-of-.*:\d+:\d+: not valid/),
    });
    expect(await read(file)).toBe(broken);
    expect(await readdir(dirname(file.path))).toEqual([`file-of-${id}`]);
  });
});

describe("CF-11 writing the file of a client", () => {
  const text = '{ "mcpServers": {} }';

  it("a symlink is kept, its target keeps its mode, and no temp file is left", async () => {
    const real = join(folder, "dotfiles", "mcp.json");
    await mkdir(dirname(real));
    await writeFile(real, text);
    await chmod(real, 0o640);
    const file = await fileOf("cursor");
    await mkdir(dirname(file.path));
    await symlink(real, file.path);
    await install(file);
    expect((await lstat(file.path)).isSymbolicLink()).toBe(true);
    expect((await stat(real)).mode & 0o777).toBe(0o640);
    expect(await readFile(real, "utf8")).toContain("plugboard");
    expect(await readdir(dirname(real))).toEqual(["mcp.json"]);
  });

  it("a byte order mark and Windows line ends are kept", async () => {
    const marked = '\uFEFF{\r\n  "mcpServers": {\r\n    "a": {}\r\n  }\r\n}\r\n';
    const file = await fileOf("cursor", marked);
    await install(file);
    expect((await read(file)).startsWith("\uFEFF{\r\n")).toBe(true);
    expect((await read(file)).replaceAll("\r\n", "")).not.toContain("\n");
    await uninstallFrom(file, use());
    expect(await read(file)).toBe(marked);
  });

  it("the previous text is backed up in a private file, and can be restored twice", async () => {
    const file = await fileOf("cursor", text);
    const { backup } = await install(file);
    const kept = await backups.list("cursor");
    expect(kept).toEqual([backup]);
    expect((await stat(join(folder, "data/backups/cursor", `${backup?.when}.json`))).mode & 0o777).toBe(0o600);
    const installed = await read(file);
    await restoreBackup(file, await backups.find("cursor", undefined), backups);
    expect(await read(file)).toBe(text);
    await restoreBackup(file, await backups.find("cursor", undefined), backups);
    expect(await read(file)).toBe(installed);
    await expect(backups.find("cursor", "1999")).rejects.toMatchObject({
      hint: expect.stringContaining("plugboard backup ls"),
    });
    await expect(backups.find("zed", undefined)).rejects.toMatchObject({ field: "client" });
  });

  it.each([
    ["cursor", "[]"],
    ["cursor", '{ "mcpServers": [] }'],
    ["codex", 'mcp_servers = { a = { command = "x" } }'],
    ["codex", "mcp_servers = 1"],
    ["goose", "extensions: []"],
    ["continue", "mcpServers: {}"],
  ])("%s: servers of the wrong type are rejected, not repaired: %s", async (id, odd) => {
    const file = await fileOf(id, odd);
    await expect(install(file)).rejects.toMatchObject({ kind: "InvalidConfig" });
    expect(await read(file)).toBe(odd);
  });

  it("one hundred backups are kept", async () => {
    for (let n = 0; n < 105; n++)
      await backups.add({ client: "zed", path: "/x", text: String(n), mode: 0o600, replacedBy: "" });
    const kept = await backups.list("zed");
    expect([kept.length, kept[0]?.text]).toEqual([100, "104"]);
  });
});

describe("CF-11 generated files", () => {
  const name = fc.stringMatching(/^[a-zA-Z][\w -]{0,8}$/).filter((key) => key !== "plugboard");
  const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string(), { maxLength: 3 }));
  const servers = fc.dictionary(name, fc.dictionary(name, value, { maxKeys: 3 }), { maxKeys: 3 });
  const layout = fc.constantFrom<string | number>(0, 2, 4, "\t");

  it.each(
    CLIENTS.filter(({ format }) => format === "jsonc")
      .slice(0, 1)
      .concat(clientsNamed(["codex", "goose", "continue"]))
      .map((client) => [client.format, client] as const),
  )("%s: install and uninstall keep the rest of the file", async (format, client) => {
    const editor = await editorFor(format);
    const library = format === "toml" ? await import("smol-toml") : await import("yaml");
    const location = entryLocation(client, "plugboard");
    const entry = toHubEntry(OWN, client);
    fc.assert(
      fc.property(servers, fc.dictionary(name, value, { maxKeys: 3 }), layout, (map, others, indent) => {
        const [root = ""] = client.root;
        const listed = client.list === true ? Object.entries(map).map(([key, each]) => ({ ...each, name: key })) : map;
        const data = { ...others, [root]: listed };
        const before = format === "jsonc" ? JSON.stringify(data, null, indent) : library.stringify(data);
        const between = editor.set(before, location, entry);
        expect(entriesIn(editor.parse(between, "f"), client).map(([key]) => key)).toContain("plugboard");
        const after = editor.remove(between, location);
        if (after === before) return;
        const [was, is] = [before, after].map((text) => editor.parse(text, "f"));
        // A missing map may be an empty one now.
        const bare = (found: unknown) =>
          JSON.stringify({ ...(found as object), [root]: Object.fromEntries(entriesIn(found, client)) });
        expect(bare(is)).toBe(bare(was));
      }),
      { numRuns: 150 },
    );
  });
});
