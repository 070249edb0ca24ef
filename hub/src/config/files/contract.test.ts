// The contract of ConfigStore, run on each adapter.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openStores, usePostgres } from "../../../../test/support/pg-stores.ts";
import { PgConfig } from "../../database/pg-config.ts";
import { ConfigFiles } from "./config-files.ts";
import type { ConfigStore } from "./config-store.ts";
import { MemoryConfig } from "./memory-store.ts";

/** Opens a store, and the same one as another process would. */
interface Opened {
  readonly store: ConfigStore;
  readonly other: () => ConfigStore;
}

async function files(): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), "plugboard-config-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return { store: new ConfigFiles(folder), other: () => new ConfigFiles(folder) };
}

async function memory(): Promise<Opened> {
  const store = MemoryConfig.of({ mcpServers: {} });
  return { store, other: () => store };
}

const postgres = usePostgres();

async function database(): Promise<Opened> {
  const stores = await openStores(postgres?.() ?? expect.unreachable());
  onTestFinished(() => stores.close());
  return {
    store: new PgConfig(stores.db, stores.changes),
    other: () => new PgConfig(stores.db, stores.changes),
  };
}

const adapters: [name: string, open: () => Promise<Opened>][] = [
  ["files", files],
  ["memory", memory],
  ...(postgres === undefined ? [] : [["PostgreSQL", database] satisfies [string, () => Promise<Opened>]]),
];

describe.each(adapters)("SC-2 a store of the config: %s", (kind, open) => {
  const names = async (store: ConfigStore) => (await store.load()).config.servers.map(({ name }) => name);

  it("creates, replaces, renames and deletes servers", async () => {
    const { store, other } = await open();
    await store.createServer({ name: "a", command: "x", env: { K: "${K}" } });
    await store.createServer({ name: "b", url: "https://e.org/mcp" });
    expect(await names(other())).toEqual(["a", "b"]);
    expect(await other().readEntry("a")).toEqual({ command: "x", env: { K: "${K}" } });
    await other().updateServer("a", { name: "c", command: "y" });
    await store.deleteServer("b");
    expect(await names(store)).toEqual(["c"]);
    await expect(store.deleteServer("b")).rejects.toMatchObject({ kind: "ServerNotFound" });
    await expect(store.createServer({ name: "c", command: "z" })).rejects.toMatchObject({ code: "CONFLICT" });
  });

  it("sets and deletes groups, and the settings of the call log", async () => {
    const { store, other } = await open();
    await store.createServer({ name: "a", command: "x" });
    await store.setGroup("work", { servers: ["a"], tools: ["t"] });
    await store.setCallLog({ retention_days: 7 });
    const { config } = await other().load();
    expect(config.groups).toMatchObject([{ name: "work", servers: ["a"], tools: ["t"] }]);
    expect(config.callLog).toMatchObject({ retention_days: 7 });
    await other().deleteGroup("work");
    expect((await store.load()).config.groups).toEqual([]);
    await expect(store.deleteGroup("work")).rejects.toMatchObject({ kind: "GroupNotFound" });
  });

  it("keeps texts as they were written, with comments", async () => {
    const { store, other } = await open();
    const text = `{\n  // mine\n  "mcpServers": { "a": { "command": "x" } }\n}\n`;
    await store.replaceText("mcp_server", text);
    expect((await other().readTexts()).mcp_server).toBe(text);
    await other().createServer({ name: "b", command: "y" });
    expect((await store.readTexts()).mcp_server).toContain("// mine");
    expect(await names(store)).toEqual(["a", "b"]);
  });

  it("an edit of a revision that is not the stored one is a conflict and changes nothing", async () => {
    const { store, other } = await open();
    const { revision } = await store.load();
    await other().createServer({ name: "a", command: "x" }, { ifRevision: revision });
    const stale = store.createServer({ name: "b", command: "y" }, { ifRevision: revision });
    await expect(stale).rejects.toMatchObject({ kind: "Conflict", code: "CONFLICT" });
    expect(await names(store)).toEqual(["a"]);
    expect((await store.readTexts()).revision).toBe((await other().load()).revision);
    expect((await store.load()).revision).not.toBe(revision);
  });

  it("of concurrent edits of one revision exactly one is saved", async () => {
    const { store, other } = await open();
    const { revision } = await store.load();
    const stores = Array.from({ length: 6 }, other);
    const edits = stores.map((one, index) =>
      one.createServer({ name: `s${index}`, command: "x" }, { ifRevision: revision }).catch((error: unknown) => error),
    );
    const outcomes = await Promise.all(edits);
    expect(outcomes.filter((outcome) => outcome instanceof Error)).toHaveLength(5);
    expect(await names(store)).toHaveLength(1);
  });

  it("concurrent edits without a revision are all saved", async () => {
    const { store, other } = await open();
    await Promise.all(
      Array.from({ length: 12 }, (_, index) => other().createServer({ name: `s${index}`, command: "x" })),
    );
    expect(await names(store)).toHaveLength(12);
  });

  it("tells within a second what somebody else has changed, and not what it has changed itself", async () => {
    if (kind === "memory") return; // nobody else can change it
    const { store, other } = await open();
    await store.load();
    const seen: string[] = [];
    let onSeen = () => {};
    const next = () => new Promise<void>((resolve) => (onSeen = resolve));
    const stop = await store.watch(() => {
      void names(store).then((all) => {
        seen.push(all.join());
        onSeen();
      });
    });
    onTestFinished(stop);
    const told = next();
    await other().createServer({ name: "a", command: "x" });
    await told;
    expect(seen.at(-1)).toBe("a");
  });
});
