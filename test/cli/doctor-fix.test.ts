// `plugboard doctor --fix` repairs what it safely can, reports each repair and changes nothing else. Without --fix it changes
// nothing.

import { createHash } from "node:crypto";
import { chmod, lstat, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { openHome, startHubIn } from "../support/cli.ts";
import { fixture, plugboard, type Home } from "../support/hub.ts";
import { noTerminal, onTerminal } from "../support/terminal.ts";

let home: Home;

const at = (path: string) => join(home.dir, path);
const temp = (name: string, pid: number) => `.${name}.${pid}.0123456789abcdef.tmp`;

/** Every file and folder of a home: its permissions and a digest of its content. */
async function tree(): Promise<Record<string, string>> {
  const names = await readdir(home.dir, { recursive: true });
  const entries = names.toSorted().map(async (name): Promise<[string, string]> => {
    const info = await lstat(at(name));
    const rights = (info.mode & 0o777).toString(8);
    if (!info.isFile()) return [name, rights];
    const bytes = await readFile(at(name));
    return [name, `${rights} ${createHash("sha256").update(bytes).digest("hex")}`];
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** A home whose hub was killed, and the pid of that hub. Its record is left behind. */
async function killed(context: TestContext): Promise<number> {
  home = await openHome(context, { it: { ...fixture("echo"), env: { API_KEY: "plain-text-key" } } });
  await plugboard(home, ["secret", "set", "service"], { stdin: "stored-4711" });
  const hub = await startHubIn(context, home);
  await hub.kill();
  return hub.process.pid ?? 0;
}

describe("doctor --fix", () => {
  it("T11 declares the variables that the entries use and keeps the rest of the file", async (context) => {
    home = await openHome(context, {});
    const text =
      '{"mcpServers": {\n  // mine\n  "t": { "url": "http://127.0.0.1:1/", "headers": { "A": "${T_KEY:-x}" } }\n}}\n';
    await writeFile(at("config/mcp_server.json"), text, { mode: 0o600 });
    const looked = await plugboard(home, ["doctor"]);
    expect(looked.stdout).toContain('add to its entry "allowEnv": ["T_KEY"]');
    const { stdout } = await plugboard(home, ["doctor", "--fix"]);
    expect(stdout).toMatch(/^fixed +config: t now declares T_KEY$/m);
    const after = await readFile(at("config/mcp_server.json"), "utf8");
    expect(after).toBe(text.replace('"${T_KEY:-x}" } }', '"${T_KEY:-x}" }, "allowEnv": ["T_KEY"] }'));
  });

  it("SE-1 repairs permissions, leftover files and the call log, reports each repair, and a second run finds nothing", async (context) => {
    const gone = await killed(context);
    const open: [path: string, wrong: number][] = [
      ["config/mcp_server.json", 0o644],
      ["data/secrets", 0o755],
      ["data/secrets/master.key", 0o644],
      ["data/token", 0o640],
      ["data/calls.db", 0o604],
      ["state/log.jsonl", 0o666],
    ];
    await writeFile(at("data/calls.db"), "nonsense ".repeat(1000));
    // A killed hub leaves these files, from which the log could be recovered.
    for (const side of ["-wal", "-shm"]) await rm(at(`data/calls.db${side}`), { force: true });
    for (const [path, wrong] of open) await chmod(at(path), wrong);
    const left = [
      "config/mcp_server.json.lock",
      "data/secrets.lock",
      `config/${temp("group.json", gone)}`,
      `data/secrets/${temp("mcp_x.key", gone)}`,
      `state/${temp("hub.json", gone)}`,
    ];
    const holder = JSON.stringify({ pid: gone, nonce: "n" });
    for (const path of left) await writeFile(at(path), holder, { mode: 0o600 });
    // A record whose process id has been reused by another program: this one.
    const reused = { pid: process.pid, url: "http://127.0.0.1:1", config: "/elsewhere", started_at: "2026-01-01" };
    await writeFile(at("state/hub-01234567.json"), JSON.stringify(reused), { mode: 0o600 });
    const stale = ["state/hub.json", "state/hub-01234567.json"];
    // Files that do not belong to the hub, or to a writer that is alive.
    const kept = [`config/${temp("group.json", process.pid)}`, "config/notes.tmp", "data/mine.lock"];
    for (const path of kept) await writeFile(at(path), String(process.pid), { mode: 0o644 });

    const before = await tree();
    const looked = await plugboard(home, ["doctor"]);
    expect(looked.code).toBe(1);
    for (const [path] of open) expect(looked.stdout).toContain(at(path));
    // The other record is recognised as stale only once the token can be read.
    for (const path of [...left, "state/hub.json"]) expect(looked.stdout).toContain(at(path));
    expect(looked.stdout).toContain("    fix: plugboard doctor --fix\n");
    expect(await tree()).toEqual(before);

    const { code, stdout, stderr } = await plugboard(home, ["doctor", "--fix"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^No problems$/m);
    for (const [path] of open.filter(([name]) => name !== "data/calls.db"))
      expect(stdout).toMatch(new RegExp(`^fixed +\\S.*: made ${at(path)} private \\(0[67]00\\)$`, "m"));
    for (const path of [...left, ...stale])
      expect(stdout).toMatch(new RegExp(`^fixed +(?:files|hub): removed ${at(path)}, left by a `, "m"));
    expect(stdout).toMatch(/^fixed +call log: The database .* is damaged: it was renamed to calls\.db\.corrupt-/m);
    expect(stdout).not.toContain("stored-4711");

    const after = await tree();
    const aside = Object.keys(after).filter((name) => /^data\/calls\.db\.corrupt-\d+T\d+Z$/.test(name));
    expect(aside).toHaveLength(1);
    expect(after[aside[0] ?? ""]?.slice(4)).toBe(before["data/calls.db"]?.slice(4));
    // The killed hub may have left temporary files of its own.
    const isLeft = (name: string) =>
      [...left, ...stale].includes(name) || (/\/\.[^/]+\.tmp$/.test(name) && !kept.includes(name));
    const untouched = (name: string) => !isLeft(name) && !name.startsWith("data/calls.db");
    const wanted = Object.fromEntries(
      Object.entries(before)
        .filter(([name]) => untouched(name))
        .map(([name, value]) => {
          const isOpen = open.some(([path]) => path === name);
          return [name, isOpen ? value.replace(/^\d+/, name === "data/secrets" ? "700" : "600") : value];
        }),
    );
    expect(Object.fromEntries(Object.entries(after).filter(([name]) => untouched(name)))).toEqual(wanted);
    for (const path of kept) expect(after[path]).toBe(before[path]);

    const again = await plugboard(home, ["doctor", "--fix", "--json"]);
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ ok: true, problems: 0, warnings: 0, fixed: [], failed: [] });
    expect(await tree()).toEqual(after);
    expect((await plugboard(home, ["secret", "ls"])).stdout).toMatch(/^service +-$/m);
  });

  it("a start removes the temporary files of killed writers in every folder and reports damaged state files", async (context) => {
    const gone = await killed(context);
    const left = [
      "config/" + temp("group.json", gone),
      "data/" + temp("eras.json", gone),
      "data/" + temp("token", gone),
      "data/secrets/" + temp("mcp_x.key", gone),
      "data/sessions/" + temp("127.0.0.1-1.ndjson", gone),
      "data/listings/" + temp("it.json", gone),
      "state/" + temp("hub.json", gone),
    ];
    const kept = "data/" + temp("eras.json", process.pid);
    for (const path of [...left, kept]) {
      await mkdir(dirname(at(path)), { recursive: true, mode: 0o700 });
      await writeFile(at(path), "{}", { mode: 0o600 });
    }
    await writeFile(at("data/eras.json"), '{"half');
    const hub = await startHubIn(context, home);
    const names = await readdir(home.dir, { recursive: true });
    // The running hub may have temporary files of its own.
    expect(names.filter((name) => [...left, kept].includes(name))).toEqual([kept]);
    const said = `${at("data/eras.json")} is damaged and is replaced`;
    expect(hub.stderr()).toContain(said);
    const { warnings } = JSON.parse((await plugboard(home, ["status", "--json"])).stdout);
    expect(warnings).toEqual([expect.stringContaining(said)]);
    await hub.stop();
    expect(await readFile(at("state/log.jsonl"), "utf8")).toContain("eras.json is damaged");
  });

  it("does not touch a running hub or its log", async (context) => {
    home = await openHome(context, { it: fixture("echo") });
    await startHubIn(context, home);
    await chmod(at("data/token"), 0o644);
    const note = await readFile(at("state/hub.json"), "utf8");
    const { code, stdout } = await plugboard(home, ["doctor", "--fix", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).fixed).toEqual([{ name: "secrets", message: `made ${at("data/token")} private (0600)` }]);
    expect(await readFile(at("state/hub.json"), "utf8")).toBe(note);
    expect((await plugboard(home, ["call", "it.add", "a=1", "b=2"])).stdout).toBe("3\n");
  });

  it("reports what it could not repair and exits 1", async (context) => {
    home = await openHome(context, { it: fixture("echo") });
    await plugboard(home, ["secret", "set", "service"], { stdin: "x" });
    // A folder cannot be removed as a file, not even by root.
    await mkdir(at(`data/secrets/${temp("mcp_x.key", 999_999_999)}`));
    const { code, stdout, stderr } = await plugboard(home, ["doctor", "--fix"]);
    expect(stderr).toMatch(/^warning: not fixed: files: .*mcp_x\.key.* was left by a process that has exited: /);
    expect(stdout).toMatch(/^! +files: .*mcp_x/m);
    expect(code).toBe(1);
  });

  const BROKEN = '{\n  "mcpServers": {\n    "a": {"command" "node"}\n  }\n}\n';

  it("an invalid JSON config without a terminal: the position is printed and the file is unchanged", async (context) => {
    home = await openHome(context);
    await writeFile(at("config/mcp_server.json"), BROKEN, { mode: 0o600 });
    const { code, stdout } = await plugboard(home, ["doctor", "--fix"], { env: { EDITOR: "false" } });
    expect(code).toBe(1);
    expect(stdout).toContain(`    note: Fix ${at("config/mcp_server.json")}:3:21;`);
    expect(await readFile(at("config/mcp_server.json"), "utf8")).toBe(BROKEN);
  });

  it.skipIf(noTerminal !== undefined)(
    `an invalid JSON config on a terminal: the editor opens at the position${noTerminal ?? ""}`,
    async (context) => {
      home = await openHome(context);
      await writeFile(at("config/mcp_server.json"), BROKEN, { mode: 0o600 });
      // An editor with a known name that prints its arguments and, if asked to, corrects the file.
      await writeFile(at("nano"), `#!/bin/sh\necho "args: $*"\n[ "$1" = fixed ] && echo '{}' > "$3"\nexit 0\n`);
      await chmod(at("nano"), 0o755);
      const idle = await onTerminal(home, ["doctor", "--fix"], { columns: 300, env: { EDITOR: `${at("nano")} idle` } });
      expect(idle.screen).toContain(`args: idle +3,21 ${at("config/mcp_server.json")}`);
      expect(idle.code).toBe(1);
      const done = await onTerminal(home, ["doctor", "--fix"], {
        columns: 300,
        env: { EDITOR: `${at("nano")} fixed` },
      });
      expect(done.screen).toMatch(/fixed\S* +config: .*mcp_server\.json was fixed in the editor/);
      expect(done.code).toBe(0);
    },
  );
});
