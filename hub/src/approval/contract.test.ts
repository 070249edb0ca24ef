// The contract of ApprovalStore, run on each adapter that several hubs can use.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openStores, usePostgres } from "../../../test/support/pg-stores.ts";
import { PgApprovals } from "../database/pg-approvals.ts";
import { ApprovalFiles } from "./approval-files.ts";
import type { ApprovalStore } from "./approval-store.ts";

type Opener = () => ApprovalStore;

async function files(): Promise<Opener> {
  const parent = await mkdtemp(join(tmpdir(), "plugboard-approvals-"));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  return () => new ApprovalFiles(join(parent, "approvals"));
}

const postgres = usePostgres();

async function database(): Promise<Opener> {
  const { db, changes, close } = await openStores(postgres?.() ?? expect.unreachable());
  onTestFinished(close);
  return () => new PgApprovals(db, changes);
}

const record = (digest: string) => ({ run: { digest, by: "local", at: 1 } });

const adapters: [name: string, create: () => Promise<Opener>][] = [
  ["files", files],
  ...(postgres === undefined ? [] : [["PostgreSQL", database] satisfies [string, () => Promise<Opener>]]),
];

describe.each(adapters)("SC-2 a store of approvals: %s", (_, create) => {
  it("keeps, replaces and removes records; of two writers one gets a conflict", async () => {
    const open = await create();
    const [store, other] = [open(), open()];
    expect(await store.load()).toEqual({ approvals: new Map(), isNew: true });
    const first = await store.save("a", record("1"), undefined);
    await expect(other.save("a", record("2"), undefined)).rejects.toMatchObject({ kind: "Conflict" });
    const second = await other.save("a", record("2"), first);
    await expect(store.save("a", record("3"), first)).rejects.toMatchObject({ kind: "Conflict" });
    const { approvals, isNew } = await store.load();
    expect([isNew, approvals.get("a")]).toEqual([false, { state: "kept", record: record("2"), version: second }]);
    await store.remove("a");
    expect((await other.load()).approvals.size).toBe(0);
  });

  it("tells what another process has changed", async () => {
    const open = await create();
    const store = open();
    await store.load();
    let onChange = () => {};
    const told = new Promise<void>((resolve) => (onChange = resolve));
    onTestFinished(await store.watch(() => onChange()));
    await open().save("a", record("1"), undefined);
    await told;
    expect([...(await store.load()).approvals.keys()]).toEqual(["a"]);
  });
});
