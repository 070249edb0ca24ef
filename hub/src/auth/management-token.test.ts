import crypto from "node:crypto";
import { chmod, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { HubError } from "../errors.ts";
import { RequestRates } from "./request-rates.ts";
import { ManagementToken, readManagementToken } from "./management-token.ts";

let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "plugboard-token-"));
});

afterEach(() => rm(dir, { recursive: true, force: true }));

const path = () => join(dir, "token");

const refusal = (run: () => void): HubError => {
  try {
    run();
  } catch (error) {
    return error as HubError;
  }
  throw new Error("Accepted");
};

describe("the token file", () => {
  it("T05 is created at the first start: 256 bits, a prefix for scanners, readable by its owner only", async () => {
    await ManagementToken.open(dir);
    expect(await readFile(path(), "utf8")).toMatch(/^pb_[A-Za-z0-9_-]{43}\n$/);
    expect((await stat(path())).mode & 0o777).toBe(0o600);
  });

  it("has the same mode under any umask", async () => {
    const before = process.umask(0o000);
    try {
      await ManagementToken.open(dir);
    } finally {
      process.umask(before);
    }
    expect((await stat(path())).mode & 0o777).toBe(0o600);
  });

  it("is unchanged at the next start", async () => {
    await ManagementToken.open(dir);
    const first = await readFile(path(), "utf8");
    const token = await ManagementToken.open(dir);
    expect(await readFile(path(), "utf8")).toBe(first);
    expect(() => token.require(`Bearer ${first.trim()}`, "here")).not.toThrow();
  });

  it("is created once if several hubs start at once", async () => {
    const tokens = await Promise.all(Array.from({ length: 8 }, () => ManagementToken.open(dir)));
    const known = await readManagementToken(dir);
    for (const token of tokens) expect(() => token.require(`Bearer ${known}`, "here")).not.toThrow();
  });

  it.each([0o640, 0o604, 0o644])("T13 of mode %o is refused, with the command that fixes it", async (mode) => {
    await ManagementToken.open(dir);
    await chmod(path(), mode);
    await expect(ManagementToken.open(dir)).rejects.toMatchObject({ hint: `chmod 600 '${path()}'` });
    await expect(readManagementToken(dir)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });

  it.each(["", "secret123\n", "pb_short", `pb_${"x".repeat(44)}`])("with the content %j is refused", async (text) => {
    await writeFile(path(), text, { mode: 0o600 });
    const error: HubError = await ManagementToken.open(dir).then(
      () => Promise.reject(new Error("Accepted")),
      (thrown: HubError) => thrown,
    );
    expect(error.hint).toContain(`rm '${path()}'`);
    if (text.trim() !== "") expect(JSON.stringify(error)).not.toContain(text.trim());
  });

  it("T17 is not read through a symbolic link", async () => {
    const elsewhere = join(dir, "elsewhere");
    await writeFile(elsewhere, `pb_${"x".repeat(43)}\n`, { mode: 0o600 });
    await symlink(elsewhere, path());
    await expect(ManagementToken.open(dir)).rejects.toMatchObject({ kind: "IoError" });
  });

  it("does not exist before the first start of a hub", async () => {
    expect(await readManagementToken(dir)).toBeUndefined();
  });
});

describe("checking a token", () => {
  const text = `pb_${"a".repeat(43)}`;

  it.each([`Bearer ${text}`, `bearer ${text}`, `BEARER  ${text}`])("accepts %s", (header) => {
    expect(() => new ManagementToken(text).require(header, "here")).not.toThrow();
  });

  it.each([
    undefined,
    "",
    "Bearer",
    "Bearer ",
    text,
    `Basic ${text}`,
    `Bearer ${text} `,
    `Bearer ${text}x`,
    `Bearer ${text.slice(0, -1)}`,
    `Bearer ${text.toUpperCase()}`,
    `Bearer ${text},Bearer ${text}`,
    `Bearer wrong ${text}`,
    "Bearer undefined",
    "Bearer [object Object]",
  ])("T04 refuses %j", (header) => {
    const error = refusal(() => new ManagementToken(text).require(header, "here"));
    expect(error).toMatchObject({ code: "UNAUTHENTICATED" });
    expect(JSON.stringify(error)).not.toContain(text);
  });

  it("T05 compares digests in constant time", () => {
    const compare = vi.spyOn(crypto, "timingSafeEqual");
    syncBuiltinESMExports();
    onTestFinished(() => {
      compare.mockRestore();
      syncBuiltinESMExports();
    });
    new ManagementToken(text).require(`Bearer ${text}`, "here");
    expect(refusal(() => new ManagementToken(text).require("Bearer short", "here")).code).toBe("UNAUTHENTICATED");
    expect(compare.mock.calls.map((sides) => sides.map(({ byteLength }) => byteLength))).toEqual([
      [32, 32],
      [32, 32],
    ]);
  });

  it("T05 the eleventh wrong token of a source within a minute is rate-limited; the right token never is", () => {
    const clock = { now: 0 };
    const token = new ManagementToken(text, new RequestRates({}, () => clock.now));
    const kinds = Array.from({ length: 11 }, () => refusal(() => token.require("Bearer wrong", "here")).kind);
    expect(kinds).toEqual([...Array<string>(10).fill("Unauthenticated"), "RateLimited"]);
    expect(() => token.require(`Bearer ${text}`, "here")).not.toThrow();
    expect(refusal(() => token.require("Bearer wrong", "elsewhere")).kind).toBe("Unauthenticated");
    clock.now = 5000;
    const { kind, retryAfterMs } = refusal(() => token.require("Bearer wrong", "here"));
    expect([kind, Math.round(retryAfterMs ?? 0)]).toEqual(["RateLimited", 1000]);
    clock.now = 6001;
    expect(refusal(() => token.require("Bearer wrong", "here")).kind).toBe("Unauthenticated");
  });

  it("a missing token does not count as a failure", () => {
    const token = new ManagementToken(text, new RequestRates({ wrong_credentials: { perSecond: 1, burst: 1 } }));
    for (let times = 0; times < 5; times++) {
      expect(refusal(() => token.require(undefined, "here")).kind).toBe("Unauthenticated");
    }
  });
});
