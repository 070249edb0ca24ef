// Access tokens with a real database and a fake clock.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { IdentityFile } from "../identity/identity-file.ts";
import { SqliteTokens } from "../identity/sqlite-tokens.ts";
import { AccessTokens, type NewToken } from "./access-tokens.ts";

const DAY_MS = 86_400_000;
const CI: NewToken = {
  name: "ci",
  principal: "ci",
  role: "user",
  groups: ["dev"],
  readOnly: true,
  expiresAt: undefined,
};

let path: string;

beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), "plugboard-identity-"));
  path = join(folder, "identity.db");
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

afterEach(() => {
  vi.useRealTimers();
});

function open(): AccessTokens {
  const opened = IdentityFile.open(path);
  const tokens = new AccessTokens({
    hasStore: () => true,
    openStore: async () => new SqliteTokens(await opened),
    users: { rightsOf: () => ({ role: "admin", teams: new Set(), email: undefined }), onChange: () => undefined },
    onWarning: (message) => expect.unreachable(message),
  });
  onTestFinished(async () => {
    await tokens.close();
    await (await opened).close();
  });
  return tokens;
}

describe("AU-3 access tokens", () => {
  it("a token gives the rights that it was made with, also after a restart", async () => {
    const first = open();
    const { token, stored } = await first.make(CI, "local");
    const rights = { id: stored.id, principal: "ci", role: "user", groups: new Set(["dev"]), readOnly: true };
    expect(first.find(token)).toMatchObject(rights);
    const second = open();
    await second.reload();
    expect(second.find(token)).toMatchObject(rights);
  });

  it("A19 is nowhere in the file", async () => {
    const tokens = open();
    const { token } = await tokens.make(CI, "local");
    await tokens.close();
    const bytes = (await readFile(path, "latin1")) + (await readFile(`${path}-wal`, "latin1"));
    expect(bytes).toContain(token.slice(0, 8));
    expect(bytes).not.toContain(token.slice(8, 40));
  });

  it("A18 a revoked token ends what it holds open, in every process", async () => {
    const [one, other] = [open(), open()];
    const { token } = await one.make(CI, "local");
    await other.reload();
    const ended = new Promise<void>((resolve) => other.find(token)?.onceEnded(() => resolve()));
    const grant = one.find(token);
    await one.revoke("ci", "local");
    expect(grant?.hasEnded).toBe(true);
    expect(one.find(token)).toBeUndefined();
    await ended;
    expect(other.find(token)).toBeUndefined();
    expect(await other.list()).toEqual([]);
  });

  it("ends at its time, without a request", async () => {
    // Without the intervals, of which there are millions in 40 days.
    vi.useFakeTimers({ now: 0, toFake: ["setTimeout", "clearTimeout", "Date"] });
    const tokens = open();
    const { token } = await tokens.make({ ...CI, expiresAt: 40 * DAY_MS }, "local");
    const grant = tokens.find(token);
    vi.advanceTimersByTime(40 * DAY_MS - 1);
    expect(grant?.hasEnded).toBe(false);
    vi.advanceTimersByTime(1);
    expect(grant?.hasEnded).toBe(true);
    expect(tokens.find(token)).toBeUndefined();
  });

  it("the last use is listed, and kept", async () => {
    const first = open();
    const { token } = await first.make(CI, "local");
    expect(await first.list()).toMatchObject([{ usedAt: undefined, usedFrom: undefined }]);
    first.find(token, "10.0.0.1");
    expect(await first.list()).toMatchObject([{ usedAt: expect.any(Number), usedFrom: "10.0.0.1" }]);
    await first.close();
    expect(await open().list()).toMatchObject([{ usedAt: expect.any(Number), usedFrom: "10.0.0.1" }]);
  });

  it("a name is free again after the token was revoked or has expired", async () => {
    const tokens = open();
    await tokens.make(CI, "local");
    await expect(tokens.make(CI, "local")).rejects.toMatchObject({ kind: "Conflict", field: "name" });
    await tokens.revoke("ci", "local");
    await tokens.make({ ...CI, expiresAt: Date.now() + 5 }, "local");
    await expect.poll(() => tokens.list()).toEqual([]);
    await tokens.make(CI, "local");
  });

  it.each<[given: Partial<NewToken>, field: string]>([
    [{ name: "" }, "name"],
    [{ name: "a\nb" }, "name"],
    [{ name: "x".repeat(65) }, "name"],
    [{ name: "\u202Eevil" }, "name"],
    [{ groups: [] }, "groups"],
    [{ expiresAt: 1 }, "expires_at"],
    [{ expiresAt: Number.NaN }, "expires_at"],
  ])("refuses %j", async (given, field) => {
    await expect(open().make({ ...CI, ...given }, "local")).rejects.toMatchObject({ kind: "InvalidArgument", field });
  });

  it("an unknown token, and one with a typing error, are none", async () => {
    const tokens = open();
    const { token } = await tokens.make(CI, "local");
    expect(tokens.find(token.slice(0, -1))).toBeUndefined();
    expect(tokens.find("pbt_")).toBeUndefined();
    await expect(tokens.revoke("unknown", "local")).rejects.toMatchObject({ kind: "TokenNotFound" });
  });
});
