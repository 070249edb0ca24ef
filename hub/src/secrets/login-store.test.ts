import { copyFile, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { KEY as MASTER_KEY, openStores, usePostgres } from "../../../test/support/pg-stores.ts";
import { PgLogins } from "../database/pg-logins.ts";
import { FileSecrets } from "./file-store.ts";
import { LoginFiles } from "./login-files.ts";
import type { LoginRecord, LoginStore } from "./login-store.ts";
import { MemoryLogins } from "./memory-logins.ts";

const KEY = { server: "linear", principal: "local" };

function recordOf(generation: number): LoginRecord {
  return {
    v: 1,
    ...KEY,
    url: "https://mcp.example/mcp",
    issuer: "https://as.example",
    client: {
      id: "client",
      secret: "client-secret-planted",
      method: "none",
      how: "registered",
      issuer: "https://as.example",
    },
    access: `access-planted-${generation}`,
    type: "Bearer",
    receivedAt: 1,
    refresh: "refresh-planted",
    requested: [],
    generation,
  };
}

let folder = "";
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "logins-"))));
afterEach(() => rm(folder, { recursive: true }));

const postgres = usePostgres();

async function database(): Promise<LoginStore> {
  const { db, close } = await openStores(postgres?.() ?? expect.unreachable());
  onTestFinished(close);
  return new PgLogins(db, MASTER_KEY);
}

describe.each<[string, () => LoginStore | Promise<LoginStore>]>([
  ["files", () => new LoginFiles(folder)],
  ["memory", () => new MemoryLogins()],
  ...(postgres === undefined ? [] : [["PostgreSQL", database] satisfies [string, () => Promise<LoginStore>]]),
])("AU-1 SE-1 a store of logins: %s", (_, open) => {
  it("A21 keeps, replaces and deletes a record per server and principal", async () => {
    const store = await open();
    expect(await store.read(KEY)).toBeUndefined();
    await store.edit(KEY, (slot) => slot.write(recordOf(1)));
    await store.edit(KEY, (slot) => slot.write(recordOf(2)));
    expect(await store.read(KEY)).toEqual(recordOf(2));
    expect(await store.read({ ...KEY, principal: "alice" })).toBeUndefined();
    expect(await store.read({ ...KEY, server: "other" })).toBeUndefined();
    expect([await store.principals(KEY.server), await store.principals("other")]).toEqual([[KEY.principal], []]);
    await store.edit(KEY, (slot) => slot.delete());
    expect(await store.read(KEY)).toBeUndefined();
  });

  it("A15 edits one after the other", async () => {
    const store = await open();
    const edits = Array.from({ length: 8 }, () =>
      store.edit(KEY, async (slot) => {
        const generation = (await slot.read())?.generation ?? 0;
        await slot.write(recordOf(generation + 1));
      }),
    );
    await Promise.all(edits);
    expect((await store.read(KEY))?.generation).toBe(8);
  });

  it("an edit that fails leaves the record as it was, and the next one goes on", async () => {
    const store = await open();
    await store.edit(KEY, (slot) => slot.write(recordOf(1)));
    await expect(store.edit(KEY, () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    expect(await store.edit(KEY, (slot) => slot.read())).toEqual(recordOf(1));
  });
});

describe("AU-1 SE-1 logins as files", () => {
  const secretsFolder = () => join(folder, "secrets");
  const files = async () => (await readdir(secretsFolder())).filter((name) => name.endsWith(".oauth"));

  it("A19 are encrypted, private, and named after nothing that a person wrote", async () => {
    const store = new LoginFiles(folder);
    await store.edit(KEY, (slot) => slot.write(recordOf(1)));
    const [name = ""] = await files();
    expect(name).toMatch(/^mcp_[0-9a-f-]{36}\.oauth$/);
    const path = join(secretsFolder(), name);
    expect(await readFile(path, "utf8")).not.toMatch(/planted|mcp\.example/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["principal", { ...KEY, principal: "alice" }],
    ["server", { ...KEY, server: "other" }],
  ])("A21 cannot be used for another %s, also if the file is copied", async (_, other) => {
    const store = new LoginFiles(folder);
    await store.edit(other, (slot) => slot.write({ ...recordOf(1), ...other, access: "access-of-the-other" }));
    const [theirs = ""] = await files();
    await store.edit(KEY, (slot) => slot.write(recordOf(1)));
    const own = (await files()).find((name) => name !== theirs) ?? "";
    await copyFile(join(secretsFolder(), own), join(secretsFolder(), theirs));
    await expect(store.read(other)).rejects.toMatchObject({ kind: "DatabaseError" });
    expect(await store.read(KEY)).toEqual(recordOf(1));
  });

  it("are no secrets of the user, and use the same key", async () => {
    await new LoginFiles(folder).edit(KEY, (slot) => slot.write(recordOf(1)));
    const secrets = new FileSecrets(folder);
    expect(await secrets.list()).toEqual([]);
    await secrets.set("token", "value");
    expect(await secrets.get("token")).toBe("value");
    expect(await new LoginFiles(folder).read(KEY)).toEqual(recordOf(1));
  });

  it("are encrypted with the new key when the key is rotated", async () => {
    const store = new LoginFiles(folder);
    await store.edit(KEY, (slot) => slot.write(recordOf(1)));
    const [name = ""] = await files();
    const before = await readFile(join(secretsFolder(), name), "utf8");
    expect(await new FileSecrets(folder).rotateKey()).toBe(0);
    expect(await readFile(join(secretsFolder(), name), "utf8")).not.toBe(before);
    expect(await store.read(KEY)).toEqual(recordOf(1));
  });

  it("a damaged one is a clear error that says how to log in again", async () => {
    const store = new LoginFiles(folder);
    await store.edit(KEY, (slot) => slot.write(recordOf(1)));
    const [name = ""] = await files();
    await writeFile(join(secretsFolder(), name), "{}", { mode: 0o600 });
    await expect(store.read(KEY)).rejects.toMatchObject({
      kind: "DatabaseError",
      hint: expect.stringContaining("plugboard auth linear"),
    });
  });
});
