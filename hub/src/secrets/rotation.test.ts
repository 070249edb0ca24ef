// Key rotation: every secret stays readable, the old key decrypts nothing, and a rotation that cannot finish changes nothing.

import { mkdtemp, readFile, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { FileSecrets } from "./file-store.ts";
import { beginKeyChange } from "./key.ts";

let dir: string;
let folder: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-rotation-"));
  folder = join(dir, "secrets");
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const open = (key?: string) => new FileSecrets(dir, { key });
const NAMES = ["a", "b", "c"];
const keyText = () => readFile(join(folder, "master.key"), "utf8");
const readAll = (store: FileSecrets) => Promise.all(NAMES.map((name) => store.get(name)));
const contents = async () =>
  Promise.all((await readdir(folder)).map(async (name) => [name, await readFile(join(folder, name), "utf8")]));

async function fill(store: FileSecrets): Promise<void> {
  for (const name of NAMES) await store.set(name, `v-${name}`);
}

it("SE-1 all secrets are encrypted with the new key, in the same files; the old key decrypts none", async () => {
  const store = open();
  await fill(store);
  const [oldKey, before] = [await keyText(), await contents()];
  expect(await store.rotateKey()).toBe(3);
  expect(await keyText()).not.toBe(oldKey);
  const after = await contents();
  expect(after.map(([name]) => name)).toEqual(before.map(([name]) => name));
  for (const [index, [, text]] of after.entries()) expect(text).not.toBe(before[index]?.[1]);
  for (const reader of [store, open()]) expect(await readAll(reader)).toEqual(["v-a", "v-b", "v-c"]);
  await writeFile(join(folder, "master.key"), oldKey);
  for (const name of NAMES)
    await expect(open().get(name)).rejects.toMatchObject({ message: expect.stringContaining("another key") });
});

it("SE-1 a new key does not change when a secret was set", async () => {
  const store = open();
  await fill(store);
  const [file = ""] = (await readdir(folder)).filter((name) => name.endsWith(".key") && name.startsWith("mcp_"));
  await utimes(join(folder, file), 1_700_000_000, 1_700_000_000);
  const before = await store.times();
  expect([...before.values()]).toContain(1_700_000_000_000);
  await store.rotateKey();
  expect(await store.times()).toEqual(before);
});

it("SE-1 another open store reads and writes with the new key", async () => {
  const [one, other] = [open(), open()];
  await fill(one);
  expect(await other.get("a")).toBe("v-a");
  await one.rotateKey();
  expect(await readAll(other)).toEqual(["v-a", "v-b", "v-c"]);
  await other.set("b", "new");
  expect(await open().get("b")).toBe("new");
});

it("SE-1 secrets can be read, set and deleted during a rotation", async () => {
  const [one, other] = [open(), open()];
  await fill(one);
  const state = { rotating: true };
  const rotating = (async () => {
    for (let count = 0; count < 5; count++) await one.rotateKey();
    state.rotating = false;
  })();
  for (let round = 0; state.rotating; round++) {
    await other.set("b", `v-${round}`);
    expect(await readAll(other)).toEqual(["v-a", `v-${round}`, "v-c"]);
    await other.set("gone", "x");
    expect(await other.delete("gone")).toBe(true);
  }
  await rotating;
  expect(await open().list()).toEqual(NAMES);
});

it("SE-1 a second concurrent rotation fails with CONFLICT, and nothing is lost", async () => {
  const [one, other] = [open(), open()];
  await fill(one);
  const outcomes = await Promise.allSettled([one.rotateKey(), other.rotateKey()]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  for (const outcome of outcomes)
    if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ kind: "Locked", code: "CONFLICT" });
  expect(await readAll(open())).toEqual(["v-a", "v-b", "v-c"]);
  expect(await other.rotateKey()).toBe(3);
});

it("SE-1 an interrupted rotation is finished, and then the key is rotated again", async () => {
  await fill(open());
  await beginKeyChange(folder);
  const abandoned = await readFile(join(folder, "master.key.next"), "utf8");
  expect(await readAll(open())).toEqual(["v-a", "v-b", "v-c"]);
  await open().set("a", "under the new key");
  expect(await open().rotateKey()).toBe(3);
  expect(await keyText()).not.toBe(abandoned);
  expect(await readdir(folder)).not.toContain("master.key.next");
  expect(await readAll(open())).toEqual(["under the new key", "v-b", "v-c"]);
});

it.each([
  ["a key", "ab".repeat(32)],
  ["a passphrase", "correct horse"],
])("SE-1 %s from the environment cannot be rotated, and the error has a hint", async (_, key) => {
  await fill(open(key));
  const before = await contents();
  await expect(open(key).rotateKey()).rejects.toMatchObject({
    kind: "InvalidConfig",
    field: "PLUGBOARD_SECRET_KEY",
    hint: expect.stringContaining("plugboard secret set NAME"),
  });
  expect(await contents()).toEqual(before);
  // The hint works.
  await open("another").set("a", "again");
  expect(await open("another").get("a")).toBe("again");
});

it("SE-1 an unreadable secret prevents the rotation, and nothing is changed", async () => {
  await fill(open());
  await open("another key").set("theirs", "x");
  let before = await contents();
  await expect(open().rotateKey()).rejects.toMatchObject({ message: expect.stringContaining('"theirs"') });
  expect(await contents()).toEqual(before);
  expect(await open().delete("theirs")).toBe(true);
  const [file = ""] = (await readdir(folder)).filter((name) => name.startsWith("mcp_"));
  await writeFile(join(folder, file), "{}");
  before = await contents();
  await expect(open().rotateKey()).rejects.toMatchObject({ kind: "DatabaseError", detail: join(folder, file) });
  expect(await contents()).toEqual(before);
});

it("SE-1 a rotation without secrets creates nothing; a missing key is an error", async () => {
  expect(await open().rotateKey()).toBe(0);
  expect(await readdir(dir)).toEqual([]);
  await fill(open());
  await rm(join(folder, "master.key"));
  await expect(open().rotateKey()).rejects.toMatchObject({ message: expect.stringMatching(/is missing$/) });
});
