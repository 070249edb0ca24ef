// A new key: every secret stays readable, the old key opens nothing, and nothing is changed where it could not be finished.

import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
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

it("SE-1 all are encrypted anew, in the same files; the old key opens none", async () => {
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

it("SE-1 another store goes on: it reads and writes with the new key", async () => {
  const [one, other] = [open(), open()];
  await fill(one);
  expect(await other.get("a")).toBe("v-a");
  await one.rotateKey();
  expect(await readAll(other)).toEqual(["v-a", "v-b", "v-c"]);
  await other.set("b", "new");
  expect(await open().get("b")).toBe("new");
});

it("SE-1 reading, setting and deleting while the key changes", async () => {
  const [one, other] = [open(), open()];
  await fill(one);
  const state = { rotating: true };
  const rotating = (async () => {
    for (let count = 0; count < 5; count++) await one.rotateKey();
    state.rotating = false;
  })();
  for (let turn = 0; state.rotating; turn++) {
    await other.set("b", `v-${turn}`);
    expect(await readAll(other)).toEqual(["v-a", `v-${turn}`, "v-c"]);
    await other.set("gone", "x");
    expect(await other.delete("gone")).toBe(true);
  }
  await rotating;
  expect(await open().list()).toEqual(NAMES);
});

it("SE-1 of two at once the second is refused with CONFLICT, and nothing is lost", async () => {
  const [one, other] = [open(), open()];
  await fill(one);
  const outcomes = await Promise.allSettled([one.rotateKey(), other.rotateKey()]);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  for (const outcome of outcomes)
    if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ kind: "StaleConfig", code: "CONFLICT" });
  expect(await readAll(open())).toEqual(["v-a", "v-b", "v-c"]);
  expect(await other.rotateKey()).toBe(3);
});

it("SE-1 one that was interrupted is finished, and then its key is changed too", async () => {
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
])("SE-1 %s that is given is changed where it is given: refused, with the way out", async (_, key) => {
  await fill(open(key));
  const before = await contents();
  await expect(open(key).rotateKey()).rejects.toMatchObject({
    kind: "InvalidConfig",
    field: "PLUGBOARD_SECRET_KEY",
    hint: expect.stringContaining("plugboard secret set NAME"),
  });
  expect(await contents()).toEqual(before);
  // What it says does help.
  await open("another").set("a", "again");
  expect(await open("another").get("a")).toBe("again");
});

it("SE-1 where a secret cannot be read, nothing is changed", async () => {
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

it("SE-1 without secrets there is nothing to do, and nothing is made; without the key it says so", async () => {
  expect(await open().rotateKey()).toBe(0);
  expect(await readdir(dir)).toEqual([]);
  await fill(open());
  await rm(join(folder, "master.key"));
  await expect(open().rotateKey()).rejects.toMatchObject({ message: expect.stringMatching(/is missing$/) });
});
