// The contract of SecretStore, run on each implementation.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { KEY, openStores, usePostgres } from "../../../test/support/pg-stores.ts";
import { PgSecrets } from "../database/pg-secrets.ts";
import { FileSecrets } from "./file-store.ts";
import { MemorySecrets } from "./memory-store.ts";
import type { SecretStore } from "./store.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-secrets-"));
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

const postgres = usePostgres();

async function database(): Promise<SecretStore> {
  const { db, changes, close } = await openStores(postgres?.() ?? expect.unreachable());
  onTestFinished(close);
  return new PgSecrets(db, changes, { key: KEY });
}

const adapters: [name: string, create: () => SecretStore | Promise<SecretStore>][] = [
  ["MemorySecrets", () => new MemorySecrets()],
  ["FileSecrets", () => new FileSecrets(dir)],
  ["FileSecrets with a key", () => new FileSecrets(dir, { key: "ab".repeat(32) })],
  ["FileSecrets with a passphrase", () => new FileSecrets(dir, { key: "correct horse" })],
  ...(postgres === undefined ? [] : [["PgSecrets", database] satisfies [string, () => Promise<SecretStore>]]),
];

describe.each(adapters)("%s", (_name, create) => {
  it("SE-1 stores, replaces, lists and deletes", async () => {
    const store = await create();
    expect(await store.list()).toEqual([]);
    expect(await store.get("a")).toBeUndefined();
    expect(await store.delete("a")).toBe(false);
    await store.set("b", "2");
    await store.set("a", "1");
    await store.set("a", "one");
    expect(await store.get("a")).toBe("one");
    expect(await store.list()).toEqual(["a", "b"]);
    expect(await store.delete("a")).toBe(true);
    expect(await store.delete("a")).toBe(false);
    expect(await store.get("a")).toBeUndefined();
    expect(await store.list()).toEqual(["b"]);
  });

  it("T12 values returns the current values only", async () => {
    const store = await create();
    expect(await store.values?.()).toEqual([]);
    await store.set("a", "first");
    await store.set("b", "second");
    expect((await store.values?.())?.toSorted()).toEqual(["first", "second"]);
    await store.set("a", "third");
    await store.delete("b");
    expect(await store.values?.()).toEqual(["third"]);
  });

  it("SE-1 any text can be a value", async () => {
    const store = await create();
    await store.set("empty", "");
    expect(await store.get("empty")).toBe("");
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), async (value) => {
        await store.set("k", value);
        expect(await store.get("k")).toBe(value);
      }),
      { numRuns: 20 },
    );
  });

  it("T16 T19 any printable text can be a name", async () => {
    const store = await create();
    const names = ["__proto__", "constructor", "../x", "..%2f", "C:\\x", "CON", "a/b", "ü 😀", "x".repeat(256)];
    for (const name of names) await store.set(name, `v-${name}`);
    for (const name of names) expect(await store.get(name)).toBe(`v-${name}`);
    expect(await store.list()).toEqual(names.toSorted());
    expect(await store.get("toString")).toBeUndefined();
  });

  it.each([
    ["", "v"],
    ["x".repeat(257), "v"],
    ["a\nb", "v"],
    ["a\0b", "v"],
    ["a", "v\0"],
    ["a", "x".repeat(64 * 1024 + 1)],
  ])("SE-5 rejects invalid input %#", async (name, value) => {
    const store = await create();
    await expect(store.set(name, value)).rejects.toMatchObject({ kind: "InvalidArgument" });
    expect(await store.list()).toEqual([]);
  });

  it("serializes concurrent changes", async () => {
    const store = await create();
    const names = Array.from({ length: 30 }, (_, index) => `s${index % 10}`);
    await Promise.all(names.map((name, index) => store.set(name, String(index))));
    expect(await store.list()).toEqual([...new Set(names)].toSorted());
    expect(await store.get("s3")).toBe("23");
    const deleted = await Promise.all([store.delete("s3"), store.delete("s3")]);
    expect(deleted).toEqual([true, false]);
  });
});
