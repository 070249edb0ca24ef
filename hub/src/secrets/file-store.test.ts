// SE-1 on disk: file modes, encryption, and damaged files.

import {
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
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

/** The file of the secret with this name. */
async function fileOf(name: string): Promise<string> {
  for (const file of await recordFiles()) {
    const path = join(folder, file);
    if ((await readFile(path, "utf8")).includes(`"name":${JSON.stringify(name)}`)) return path;
  }
  throw new Error(`No file for ${name}`);
}

describe("on disk", () => {
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

  it("SE-1 T14 files contain no plain value, and file names no secret name", async () => {
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

  it("SE-1 replacing a secret uses a new nonce and the same file", async () => {
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

  it("reading creates no files", async () => {
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

  it("stores that are created concurrently share one key", async () => {
    for (let round = 0; round < 10; round++) {
      await rm(folder, { recursive: true, force: true });
      const names = ["a", "b", "c", "d", "e"];
      await Promise.all(names.map((name) => open().set(name, name)));
      for (const name of names) expect(await open().get(name)).toBe(name);
    }
  });
});

describe("permissions", () => {
  it.each([
    ["the folder", 0o750, "700", () => Promise.resolve(folder)],
    ["a secret", 0o644, "600", () => fileOf("a")],
    ["the key", 0o640, "600", () => Promise.resolve(join(folder, "master.key"))],
  ])("SE-1 T13 %s is an error with a hint", async (_what, mode, fixed, find) => {
    await open().set("a", VALUE);
    const path = await find();
    await chmod(path, mode);
    const error = await refusal(open().get("a"));
    expect(error).toMatchObject({ kind: "InvalidConfig", hint: `chmod ${fixed} '${path}'` });
    await chmod(path, Number.parseInt(fixed, 8));
    expect(await open().get("a")).toBe(VALUE);
  });

  it("T17 a symlink in place of a secret is not followed", async () => {
    await open().set("a", VALUE);
    const path = await fileOf("a");
    await rename(path, join(dir, "elsewhere"));
    await symlink(join(dir, "elsewhere"), path);
    expect(await refusal(open().get("a"))).toMatchObject({ kind: "IoError" });
  });

  it("a file in place of the folder is an error", async () => {
    await mkdir(join(dir, "data"));
    await writeFile(folder, "");
    expect(await refusal(open().list())).toMatchObject({ kind: "InvalidConfig" });
    expect(await refusal(open().set("a", "b"))).toMatchObject({ kind: "IoError" });
  });
});

describe("damage", () => {
  it("SE-1 T14 a flipped bit in any byte is an error of that secret only, and the file is unchanged", async () => {
    const store = open();
    await store.set("a", VALUE);
    await store.set("b", "fine");
    const path = await fileOf("a");
    const good = await readFile(path);
    // One bit of each byte, a different one from byte to byte.
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

  it("SE-1 a renamed record cannot be decrypted", async () => {
    const store = open();
    await store.set("weak", VALUE);
    const path = await fileOf("weak");
    await writeFile(path, (await readFile(path, "utf8")).replace('"weak"', '"strong"'), { mode: 0o600 });
    expect(await refusal(store.get("strong"))).toMatchObject({ kind: "DatabaseError" });
    expect(await refusal(store.get("weak"))).toMatchObject({ kind: "DatabaseError" });
  });

  it("SE-1 T14 a wrong key is an error, and the file is unchanged", async () => {
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

  it("a damaged key file is an error until it is repaired", async () => {
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

  it("T12 values omits only damaged secrets, and sees changes by another process", async () => {
    const store = open();
    await store.set("a", "first");
    await store.set("b", "second");
    await utimes(folder, 1, 1);
    expect((await store.values()).toSorted()).toEqual(["first", "second"]);
    await open().set("c", "third");
    expect((await store.values()).toSorted()).toEqual(["first", "second", "third"]);
    await writeFile(await fileOf("a"), "{}");
    await utimes(folder, 2, 2);
    expect(await store.values()).toHaveLength(2);
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
