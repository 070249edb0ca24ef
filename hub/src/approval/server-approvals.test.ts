import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { normalizeServer } from "../config/parse/normalize.ts";
import type { ServerConfig } from "../config/schema/types.ts";
import type { JsonObject } from "../lib/json/json.ts";
import { ApprovalFiles } from "./approval-files.ts";
import type { ApprovalStore } from "./approval-store.ts";
import { ServerApprovals, type ToolChanges } from "./server-approvals.ts";
import { MemoryApprovals } from "./memory-approvals.ts";

const IMPORTED = { source: { type: "import", client: "cursor" } };
const entry = (more: object = {}, name = "it"): ServerConfig =>
  normalizeServer(name, { command: "node", args: ["server.js"], env: { KEY: "1" }, ...more });
const imported = (more: object = {}) => entry({ ...IMPORTED, ...more });
const tool = (name: string, description = "The tool"): JsonObject => ({ name, description, inputSchema: {} });
const [A, B, CHANGED] = [tool("a"), tool("b"), tool("a", "Another tool")];

describe("approvals", () => {
  let folder: string;
  let reported: ToolChanges[];
  let changed: string[][];
  let warnings: string[];
  let opened: ServerApprovals[];
  const open = async (store: ApprovalStore = new ApprovalFiles(folder)) => {
    const approvals = new ServerApprovals({
      store,
      onToolChanges: (_, changes) => reported.push(changes),
      onChange: (servers) => changed.push([...servers]),
      onWarning: (message) => warnings.push(message),
      now: () => 1,
    });
    await approvals.load();
    opened.push(approvals);
    return approvals;
  };
  const approve = (approvals: ServerApprovals, server: ServerConfig, tools?: readonly JsonObject[], names?: string[]) =>
    approvals.approve(server, { by: "user:me", tools, names });

  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), "plugboard-approvals-")), "approvals");
    [reported, changed, warnings, opened] = [[], [], [], []];
  });

  afterEach(async () => {
    await Promise.all(opened.map((approvals) => approvals.close()));
    await rm(join(folder, ".."), { recursive: true, force: true });
  });

  it("F44 RG-2 approvals that cannot be read for a moment stay in force, and are read again", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const store = new MemoryApprovals();
    let changedOnDisk = () => {};
    let failures = 0;
    const approvals = await open({
      load: () => (failures-- > 0 ? Promise.reject(new Error("EMFILE")) : store.load()),
      save: (...args) => store.save(...args),
      remove: (server) => store.remove(server),
      watch: async (onChange) => {
        changedOnDisk = onChange;
        return () => undefined;
      },
    });
    await approvals.watch();
    await approve(approvals, imported());
    const other = await open(store);
    await approve(other, entry(IMPORTED, "second"));
    failures = 3;
    changedOnDisk();
    await vi.advanceTimersByTimeAsync(2500);
    expect(approvals.refusal(imported())).toBeUndefined();
    expect(approvals.refusal(entry(IMPORTED, "second"))).toMatchObject({ kind: "ApprovalRequired" });
    await vi.advanceTimersByTimeAsync(1000);
    expect(approvals.refusal(entry(IMPORTED, "second"))).toBeUndefined();
    expect(warnings).toHaveLength(1);
  });

  it("RG-2 an entry written by hand is approved, one from elsewhere is not", async () => {
    const approvals = await open();
    expect(approvals.refusal(entry())).toBeUndefined();
    expect(approvals.refusal(imported())).toMatchObject({
      code: "CONFLICT",
      kind: "ApprovalRequired",
      hint: "plugboard approve it",
    });
    await approve(approvals, imported());
    expect(approvals.refusal(imported())).toBeUndefined();
    expect(changed).toEqual([["it"]]);
  });

  it.each<[string, object, boolean]>([
    ["the command", { command: "deno" }, true],
    ["an argument", { args: ["server.js", "--all"] }, true],
    ["the folder", { cwd: "/tmp" }, true],
    ["one more variable", { env: { KEY: "1", MORE: "2" } }, true],
    ["which secret it gets", { env: { KEY: { secretRef: "OTHER" } } }, true],
    ["a variable that runs other code", { env: { KEY: "1", NODE_OPTIONS: "--require /x.js" } }, true],
    ["variables of the hub", { allowEnv: ["HOME"] }, true],
    [
      "another address in place of a command",
      { command: undefined, args: undefined, env: {}, url: "https://e.org/mcp" },
      true,
    ],
    ["the value of a variable", { env: { KEY: "2" } }, false],
    ["the description", { description: "Another" }, false],
    ["timeouts and limits", { timeouts: { start_ms: 5 }, resilience: { restart: false } }, false],
  ])("RG-2 T09 %s changes on disk: approval void %s", async (_, change, isVoid) => {
    const approvals = await open();
    await approve(approvals, imported());
    const now = imported(change);
    expect(approvals.refusal(now)?.kind).toBe(isVoid ? "ApprovalRequired" : undefined);
    await approve(approvals, now);
    expect(approvals.refusal(now)).toBeUndefined();
  });

  it("the value of a variable that runs other code counts", async () => {
    const approvals = await open();
    const before = imported({ env: { NODE_OPTIONS: "--require /a.js" } });
    await approve(approvals, before);
    expect(approvals.refusal(before)).toBeUndefined();
    expect(approvals.refusal(imported({ env: { NODE_OPTIONS: "--require /b.js" } }))).toBeDefined();
  });

  it.each<[string, object, string[]]>([
    ["an entry written by hand is warned about", {}, []],
    ["an imported one is blocked", IMPORTED, ["a", "c"]],
    ["a setting wins", { pins: "block" }, ["a", "c"]],
    ["off", { pins: "off" }, []],
  ])("SE-6 changed and new tools: %s", async (_, given, withheld) => {
    const approvals = await open();
    const server = entry(given);
    if ("source" in given) await approve(approvals, server);
    approvals.listed(server, [A, B]);
    expect(approvals.withheld(server, [A, B])).toBeUndefined();
    const now = [CHANGED, B, tool("c")];
    approvals.listed(server, now);
    expect([...(approvals.withheld(server, now)?.keys() ?? [])]).toEqual(withheld);
    const isOff = "pins" in given && given.pins === "off";
    expect(reported.map(({ changes }) => Object.fromEntries(changes))).toEqual(
      isOff ? [] : [{ a: "changed", c: "added" }],
    );
    approvals.listed(server, [...now]);
    expect(reported).toHaveLength(isOff ? 0 : 1);
  });

  it("SE-6 some tools can be approved, or all; both survive a restart", async () => {
    const server = imported();
    const approvals = await open();
    await approve(approvals, server);
    approvals.listed(server, [A, B]);
    const now = [CHANGED, B, tool("c")];
    await approve(approvals, server, now, ["c"]);
    await approvals.close();
    const again = await open();
    expect(Object.fromEntries(again.withheld(server, now) ?? [])).toEqual({ a: "changed" });
    await expect(approve(again, server, now, ["none"])).rejects.toMatchObject({ kind: "ToolNotFound" });
    await approve(again, server, now);
    expect(again.withheld(server, now)).toBeUndefined();
    expect((await open()).withheld(server, now)).toBeUndefined();
  });

  it("what another program lists is pinned after its approval, and not compared with the tools of the one before", async () => {
    const approvals = await open();
    await approve(approvals, imported());
    approvals.listed(imported(), [A]);
    const next = imported({ args: ["v2.js"] });
    await approve(approvals, next, [A]);
    approvals.listed(next, [CHANGED]);
    expect(approvals.withheld(next, [CHANGED])).toBeUndefined();
    expect(approvals.withheld(next, [A])?.get("a")).toBe("changed");
  });

  it.each<[string, (text: string) => string]>([
    ["cut", (text) => text.slice(0, -10)],
    ["empty", () => ""],
    ["no JSON", () => "{"],
    ["of another server", (text) => text.replace('"server":"it"', '"server":"at"')],
    ["changed by hand", (text) => text.replace("The tool", "The Tool")],
    ["without its tools", (text) => text.replace(/"pins":.*\]/, '"pins":[]')],
    ["of a later version", (text) => text.replace('"version":1', '"version":2')],
  ])("SE-6 a damaged file fails closed: %s", async (_, damage) => {
    const approvals = await open();
    await approve(approvals, imported());
    approvals.listed(imported(), [A]);
    await approvals.close();
    const [file = ""] = await readdir(folder);
    const text = await readFile(join(folder, file), "utf8");
    await writeFile(join(folder, file), damage(text));
    const again = await open();
    expect(again.refusal(imported())).toMatchObject({
      kind: "ApprovalRequired",
      detail: expect.stringContaining(join(folder, file)),
      hint: "plugboard approve it",
    });
    // Also where changes only cause warnings: nothing is known to compare with.
    expect(again.withheld(entry(), [A])?.get("a")).toBe("unknown");
    again.listed(entry(), [A]);
    expect(again.withheld(entry(), [A])?.get("a")).toBe("unknown");
    // The way out.
    await approve(again, imported());
    expect((await open()).refusal(imported())).toBeUndefined();
  });

  it("a missing file does not: the entry needs its approval, and tools are pinned anew", async () => {
    const approvals = await open();
    expect(approvals.refusal(entry())).toBeUndefined();
    expect(approvals.withheld(entry(), [A])).toBeUndefined();
    expect(warnings).toEqual([]);
  });

  it("a folder that cannot be read fails closed", async () => {
    await writeFile(folder, "");
    const approvals = await open();
    expect(approvals.refusal(imported())?.kind).toBe("ApprovalRequired");
    expect(approvals.withheld(entry(), [A])?.get("a")).toBe("unknown");
    expect(warnings).toHaveLength(1);
  });

  it("servers that ran before there were approvals stay approved, others do not", async () => {
    const [ran, never] = [imported(), normalizeServer("never", { command: "x", ...IMPORTED })];
    const approvals = await open();
    await approvals.adopt([ran, never], async ({ name }) => name === "it");
    expect(approvals.refusal(ran)).toBeUndefined();
    expect(approvals.refusal(never)).toBeDefined();
    // Only once: the folder is there from now on.
    const again = await open();
    await again.adopt([ran, never], async () => true);
    expect(again.refusal(never)).toBeDefined();
  });

  it("two processes do not overwrite each other's approvals, and see them", async () => {
    const [one, two] = [await open(), await open()];
    await two.watch();
    await approve(one, imported());
    await expect.poll(() => two.refusal(imported())).toBeUndefined();
    const stale = await open();
    await approve(one, imported(), [A]);
    await expect(approve(stale, imported(), [A, B])).rejects.toMatchObject({ kind: "Conflict" });
    // What is stored is in force, and a second look can be approved.
    await approve(stale, imported(), [A, B]);
  });

  it("names that differ in case only have files of their own", async () => {
    const approvals = await open();
    await approve(approvals, entry(IMPORTED, "Git"));
    await approve(approvals, entry({ ...IMPORTED, command: "other" }, "git"));
    expect(new Set((await readdir(folder)).map((name) => name.toLowerCase())).size).toBe(2);
    const again = await open();
    expect(again.refusal(entry(IMPORTED, "Git"))).toBeUndefined();
  });

  it("a removed server is forgotten", async () => {
    const approvals = await open(new MemoryApprovals());
    await approve(approvals, imported());
    approvals.removed("it");
    await approvals.close();
    expect(approvals.refusal(imported())).toBeDefined();
  });
});
