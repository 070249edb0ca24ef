// SE-1 on the disk: modes, no plain text, and what damage does.

import { chmod, mkdir, mkdtemp, readFile, readdir, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HubError } from "../errors.ts";
import { FileSecrets } from "./file-store.ts";

const VALUE = "sk-MARKER-1234567890";

let dir: string;
let folder: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-secrets-"));
  folder = join(dir, "data", "secrets");
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

const open = (key?: string) => new FileSecrets(join(dir, "data"), { key });
const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
const recordFiles = async () => (await readdir(folder)).filter((name) => name.startsWith("mcp_"));

/** The file of the secret of this name. */
async function fileOf(name: string): Promise<string> {
  for (const file of await recordFiles()) {
    const path = join(folder, file);
    if ((await readFile(path, "utf8")).includes(`"name":${JSON.stringify(name)}`)) return path;
  }
  throw new Error(`No file for ${name}`);
}

describe("on the disk", () => {
  it.each([0o000, 0o022, 0o077, 0o277])("SE-1 T13 folder 0700 and files 0600 under umask %o", async (umask) => {
    const before = process.umask(umask);
    try {
      await open().set("a", VALUE);
      await open("a passphrase").set("b", VALUE);
    } finally {
      process.umask(before);
    }
    expect(await modeOf(folder)).toBe(0o700);
    const names = await readdir(folder);
    expect(names).toHaveLength(4);
    for (const name of names) expect(await modeOf(join(folder, name))).toBe(0o600);
  });

  it("SE-1 T14 holds no plain value, and no name in a file name", async () => {
    await open().set("my-api-key", VALUE);
    const names = await readdir(folder);
    expect(names.filter((name) => /^mcp_[0-9a-f-]{36}\.key$/.test(name))).toHaveLength(1);
    for (const name of names) {
      const bytes = await readFile(join(folder, name));
      for (const encoding of ["utf8", "base64", "hex"] as const) {
        expect(bytes.includes(Buffer.from(VALUE).toString(encoding))).toBe(false);
      }
      expect(name).not.toContain("api");
    }
  });

  it("SE-1 uses a new nonce each time, and the same file", async () => {
    await open().set("a", VALUE);
    const path = await fileOf("a");
    const first = await readFile(path, "utf8");
    await open().set("a", VALUE);
    expect(await fileOf("a")).toBe(path);
    expect(await readFile(path, "utf8")).not.toBe(first);
    expect([...first.matchAll(/"(\w+)":/g)].map(([, key]) => key)).toEqual([
      "v",
      "name",
      "keyId",
      "nonce",
      "tag",
      "data",
    ]);
  });

  it("looking makes nothing", async () => {
    expect(await open().list()).toEqual([]);
    expect(await open("phrase").get("a")).toBeUndefined();
    expect(await readdir(dir)).toEqual([]);
  });

  it("SE-1 survives a restart, with each kind of key", async () => {
    for (const key of [undefined, "0f".repeat(32), Buffer.alloc(32, 7).toString("base64"), "correct horse"]) {
      await open(key).set(`by ${String(key)}`, VALUE);
      expect(await open(key).get(`by ${String(key)}`)).toBe(VALUE);
    }
  });

  it("stores that begin at once share one key", async () => {
    for (let round = 0; round < 10; round++) {
      await rm(folder, { recursive: true, force: true });
      const names = ["a", "b", "c", "d", "e"];
      await Promise.all(names.map((name) => open().set(name, name)));
      for (const name of names) expect(await open().get(name)).toBe(name);
    }
  });
});

describe("open to others", () => {
  it.each([
    ["the folder", 0o750, "700", () => Promise.resolve(folder)],
    ["a secret", 0o644, "600", () => fileOf("a")],
    ["the key", 0o640, "600", () => Promise.resolve(join(folder, "master.key"))],
  ])("SE-1 T13 %s is refused, with the way out", async (_what, mode, fixed, find) => {
    await open().set("a", VALUE);
    const path = await find();
    await chmod(path, mode);
    const error = await refusal(open().get("a"));
    expect(error).toMatchObject({ kind: "InvalidConfig", hint: `chmod ${fixed} '${path}'` });
    await chmod(path, Number.parseInt(fixed, 8));
    expect(await open().get("a")).toBe(VALUE);
  });

  it("T17 a link in place of a secret is not followed", async () => {
    await open().set("a", VALUE);
    const path = await fileOf("a");
    await rename(path, join(dir, "elsewhere"));
    await symlink(join(dir, "elsewhere"), path);
    expect(await refusal(open().get("a"))).toMatchObject({ kind: "IoError" });
  });

  it("refuses a file in place of the folder", async () => {
    await mkdir(join(dir, "data"));
    await writeFile(folder, "");
    expect(await refusal(open().list())).toMatchObject({ kind: "InvalidConfig" });
    expect(await refusal(open().set("a", "b"))).toMatchObject({ kind: "IoError" });
  });
});

describe("damage", () => {
  it("SE-1 T14 a flipped bit in any byte is an error for that secret alone, and the file stays as it is", async () => {
    const store = open();
    await store.set("a", VALUE);
    await store.set("b", "fine");
    const path = await fileOf("a");
    const good = await readFile(path);
    // Of each byte one, another one from byte to byte.
    for (const byte of good.keys()) {
      const bit = byte * 8 + (byte % 8);
      const bad = Buffer.from(good);
      bad.writeUInt8(bad.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      await writeFile(path, bad);
      const error = await refusal(store.get("a"));
      expect(["DatabaseError", "InvalidConfig"]).toContain(error.kind);
      expect(error.message).toMatch(/^Secret "a" (cannot be decrypted|was encrypted with another key)/);
      expect(await store.get("b")).toBe("fine");
      expect((await readFile(path)).equals(bad)).toBe(true);
    }
    await writeFile(path, good);
    expect(await store.get("a")).toBe(VALUE);
  });

  it("SE-1 T14 two swapped files both fail", async () => {
    const store = open();
    await store.set("a", "1");
    await store.set("b", "2");
    const [a, b] = [await fileOf("a"), await fileOf("b")];
    await rename(a, join(dir, "x"));
    await rename(b, a);
    await rename(join(dir, "x"), b);
    for (const name of ["a", "b"]) expect(await refusal(store.get(name))).toMatchObject({ kind: "DatabaseError" });
  });

  it("SE-1 a record given another name does not open", async () => {
    const store = open();
    await store.set("weak", VALUE);
    const path = await fileOf("weak");
    await writeFile(path, (await readFile(path, "utf8")).replace('"weak"', '"strong"'), { mode: 0o600 });
    expect(await refusal(store.get("strong"))).toMatchObject({ kind: "DatabaseError" });
    expect(await refusal(store.get("weak"))).toMatchObject({ kind: "DatabaseError" });
  });

  it("SE-1 T14 a wrong key is a clear error, and the file is untouched", async () => {
    await open("key one").set("a", VALUE);
    const before = await readFile(await fileOf("a"));
    for (const key of ["key two", "ab".repeat(32)]) {
      const error = await refusal(open(key).get("a"));
      expect(error).toMatchObject({ kind: "InvalidConfig", message: 'Secret "a" was encrypted with another key' });
      expect(JSON.stringify(error)).not.toContain(key);
    }
    expect((await readFile(await fileOf("a"))).equals(before)).toBe(true);
    expect(await open("key one").get("a")).toBe(VALUE);
  });

  it("SE-1 a lost key is not silently replaced", async () => {
    await open().set("a", VALUE);
    await rename(join(folder, "master.key"), join(dir, "backup"));
    expect(await refusal(open().get("a"))).toMatchObject({ message: expect.stringMatching(/is missing$/) as unknown });
    expect(await refusal(open().set("b", "2"))).toMatchObject({
      message: expect.stringMatching(/is missing$/) as unknown,
    });
    await rename(join(dir, "backup"), join(folder, "master.key"));
    expect(await open().get("a")).toBe(VALUE);
  });

  it("says so where the key file is damaged, and works again once it is repaired", async () => {
    await open().set("a", VALUE);
    const path = join(folder, "master.key");
    const good = await readFile(path, "utf8");
    const store = open();
    for (const bad of ["", good.slice(2), `x${good.slice(1)}`]) {
      await writeFile(path, bad);
      expect(await refusal(store.get("a"))).toMatchObject({ kind: "InvalidConfig", message: `${path} is damaged` });
    }
    await writeFile(path, good);
    expect(await store.get("a")).toBe(VALUE);
  });

  it("a damaged secret can be set again", async () => {
    const store = open();
    await store.set("a", VALUE);
    const path = await fileOf("a");
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replace(/"data":"./, '"data":"_'), { mode: 0o600 });
    expect(await refusal(store.get("a"))).toMatchObject({ kind: "DatabaseError" });
    await store.set("a", "new");
    expect(await store.get("a")).toBe("new");
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
