// The audit log with a real SQLite file, which others tamper with.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@plugboard/shared/sqlite/driver";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { IdentityFile } from "../identity/identity-file.ts";
import { SqliteAudit } from "../identity/sqlite-audit.ts";
import { AuditLog } from "./audit.ts";

const LOCAL = { principal: "local", role: "admin" } as const;

let path: string;

beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), "plugboard-audit-"));
  path = join(folder, "identity.db");
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

async function open(now = Date.now): Promise<AuditLog> {
  const file = await IdentityFile.open(path);
  onTestFinished(() => file.close());
  const openStore = () => Promise.resolve(new SqliteAudit(file));
  return new AuditLog({ openStore, hasStore: () => true, now, onWarning: (text) => expect.unreachable(text) });
}

async function tamper(sql: string): Promise<void> {
  const db = await connect(path);
  db.exec(`DROP TRIGGER audit_unchanged; DROP TRIGGER audit_kept; ${sql}`);
  await db.close();
}

describe("T44 the audit log", () => {
  it("T41 any text of a caller is recorded, and the chain holds", async () => {
    const audit = await open();
    for (const object of ["a\0b", "\ud800", "é😀\n", "x".repeat(5000)])
      await audit.record({ by: LOCAL, action: "secret.set", object });
    expect(await audit.verify()).toMatchObject({ rows: 4, fault: undefined });
    expect((await audit.query({ limit: 9 })).at(-1)).toMatchObject({ object: "a\uFFFDb" });
  });

  it("is written before the effect, and says if that failed", async () => {
    const audit = await open();
    const seen: number[] = [];
    await audit.run([{ by: LOCAL, action: "token.create", object: "ci" }], async () => {
      seen.push((await audit.query({ limit: 10 })).length);
    });
    const failing = audit.run([{ by: LOCAL, action: "secret.set", object: "key" }], () =>
      Promise.reject(new Error("x")),
    );
    await expect(failing).rejects.toThrow("x");
    expect(seen).toEqual([1]);
    expect((await audit.query({ limit: 10 })).map(({ n, action, outcome }) => [n, action, outcome])).toEqual([
      [3, "secret.set", "failed"],
      [2, "secret.set", "allowed"],
      [1, "token.create", "allowed"],
    ]);
  });

  it("cannot be changed by statements alone", async () => {
    const audit = await open();
    await audit.record({ by: LOCAL, action: "token.create" });
    const db = await connect(path);
    onTestFinished(() => db.close());
    expect(() => db.exec("UPDATE audit SET principal = 'x'")).toThrow("append-only");
    expect(() => db.exec("DELETE FROM audit")).toThrow("append-only");
  });

  it.each<[sql: string, fault: object | undefined]>([
    ["", undefined],
    ["UPDATE audit SET object = 'other' WHERE n = 3", { n: 3, what: "changed" }],
    ["UPDATE audit SET at = at + 1 WHERE n = 1", { n: 1, what: "changed" }],
    ["UPDATE audit SET client = 'x' WHERE n = 5", { n: 5, what: "changed" }],
    ["UPDATE audit SET hash = (SELECT hash FROM audit WHERE n = 1) WHERE n = 2", { n: 2, what: "changed" }],
    ["DELETE FROM audit WHERE n = 2", { n: 2, what: "missing" }],
    ["DELETE FROM audit WHERE n = 5", { n: 5, what: "missing" }],
    ["DELETE FROM audit", { n: 1, what: "missing" }],
    ["UPDATE audit SET n = 9 WHERE n = 5", { n: 5, what: "missing" }],
    ["DELETE FROM audit WHERE n = 2; UPDATE audit SET n = n - 1 WHERE n > 2", { n: 2, what: "changed" }],
    ["INSERT INTO audit SELECT 0, at, principal, role, token, client, address, action, object, outcome, detail, request_id, hash FROM audit WHERE n = 1", { n: 0, what: "inserted" }], // prettier-ignore
    ["INSERT INTO audit SELECT 6, at, principal, role, token, client, address, action, object, outcome, detail, request_id, hash FROM audit WHERE n = 1", { n: 6, what: "changed" }], // prettier-ignore
  ])("is verified: %s", async (sql, fault) => {
    const audit = await open();
    for (const object of ["a", "b", "c", "d", "e"]) await audit.record({ by: LOCAL, action: "token.create", object });
    if (sql !== "") await tamper(sql);
    expect((await audit.verify()).fault).toEqual(fault);
  });

  it.each<[sql: string, noted: number | undefined]>([
    ["", 3],
    // What SQLite remembers of the rows that there were is removed, too.
    ["DELETE FROM audit WHERE n > 3; UPDATE sqlite_sequence SET seq = 3 WHERE name = 'audit'", 3],
    ["DELETE FROM audit WHERE n > 2; UPDATE sqlite_sequence SET seq = 2 WHERE name = 'audit'", undefined],
    ["DELETE FROM audit; UPDATE sqlite_sequence SET seq = 0 WHERE name = 'audit'", undefined],
  ])("is verified by a head that was noted, also if its end was cut off: %s", async (sql, noted) => {
    const audit = await open();
    for (const object of ["a", "b", "c"]) await audit.record({ by: LOCAL, action: "token.create", object });
    const head = await audit.head();
    for (const object of ["d", "e"]) await audit.record({ by: LOCAL, action: "token.create", object });
    if (sql !== "") await tamper(sql);
    expect(await audit.verify(head)).toMatchObject({ fault: undefined, noted });
  });

  it("knows a noted head that cannot be one", async () => {
    const audit = await open();
    await expect(audit.verify("abc")).rejects.toMatchObject({ kind: "InvalidArgument", field: "head" });
  });

  it("goes on with new numbers, so that removed rows stay missing", async () => {
    const audit = await open();
    for (const object of ["a", "b"]) await audit.record({ by: LOCAL, action: "token.create", object });
    await tamper("DELETE FROM audit WHERE n = 2");
    await audit.record({ by: LOCAL, action: "token.create", object: "c" });
    expect((await audit.verify()).fault).toEqual({ n: 2, what: "missing" });
  });

  it("has one refusal for each minute and source", async () => {
    let now = 0;
    const audit = await open(() => now);
    const refuse = (address: string) => audit.refused({ by: { principal: "unknown" }, address });
    for (const address of ["10.0.0.1", "10.0.0.1", "10.0.0.2"]) refuse(address);
    now = 60_000;
    refuse("10.0.0.1");
    const rows = async () => (await audit.query({ limit: 10 })).map(({ at, address }) => [at, address]);
    await expect.poll(rows).toHaveLength(3);
    expect(await rows()).toEqual([
      [60_000, "10.0.0.1"],
      [0, "10.0.0.2"],
      [0, "10.0.0.1"],
    ]);
  });

  it("is searched by principal, action and time", async () => {
    let now = 1000;
    const audit = await open(() => now++);
    await audit.record({ by: LOCAL, action: "token.create" });
    await audit.record({ by: { principal: "user:1" }, action: "token.revoke" });
    await audit.record({ by: LOCAL, action: "secret.set" });
    const found = async (query: object) => (await audit.query({ limit: 10, ...query })).map(({ n }) => n);
    expect(await found({ principal: "local" })).toEqual([3, 1]);
    expect(await found({ action: "token" })).toEqual([2, 1]);
    expect(await found({ action: "secret.set" })).toEqual([3]);
    expect(await found({ since: 1001, limit: 1 })).toEqual([3]);
    expect(await found({ before: 3 })).toEqual([2, 1]);
  });
});
