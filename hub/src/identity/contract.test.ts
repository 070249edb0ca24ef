// The contracts of the stores of tokens, users, audit and logins of clients, run on SQLite and PostgreSQL.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openStores, usePostgres } from "../../../test/support/pg-stores.ts";
import type { AuditRow, AuditStore } from "../auth/audit-store.ts";
import type { ClientLogin, IssuerStore } from "../auth/issuer/issuer-store.ts";
import type { StoredToken, TokenStore } from "../auth/token-store.ts";
import type { StoredUser, UserStore } from "../auth/user-store.ts";
import { PgAudit } from "../database/pg-audit.ts";
import { PgIssuer } from "../database/pg-issuer.ts";
import { PgTokens } from "../database/pg-tokens.ts";
import { PgUsers } from "../database/pg-users.ts";
import { IdentityFile } from "./identity-file.ts";
import { SqliteAudit } from "./sqlite-audit.ts";
import { SqliteIssuer } from "./sqlite-issuer.ts";
import { SqliteTokens } from "./sqlite-tokens.ts";
import { SqliteUsers } from "./sqlite-users.ts";

const NOW = 1_800_000_000_000;
const DAY_MS = 86_400_000;

interface Stores {
  readonly tokens: TokenStore;
  readonly users: UserStore;
  readonly audit: AuditStore;
  readonly issuer: IssuerStore;
}

/** Opens the stores as one process after the other would. */
type Opener = () => Promise<Stores>;

async function sqlite(): Promise<Opener> {
  const folder = await mkdtemp(join(tmpdir(), "plugboard-identity-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return async () => {
    const file = await IdentityFile.open(join(folder, "identity.db"));
    onTestFinished(() => file.close());
    const now = () => NOW;
    return {
      tokens: new SqliteTokens(file, { now }),
      users: new SqliteUsers(file),
      audit: new SqliteAudit(file),
      issuer: new SqliteIssuer(file, { now }),
    };
  };
}

const postgres = usePostgres();

async function database(): Promise<Opener> {
  const server = postgres?.() ?? expect.unreachable();
  const name = await server.createDatabase();
  return async () => {
    const { db, changes, close } = await openStores(server, name);
    onTestFinished(close);
    const now = () => NOW;
    return {
      tokens: new PgTokens(db, changes, { now }),
      users: new PgUsers(db, changes),
      audit: new PgAudit(db),
      issuer: new PgIssuer(db, { now }),
    };
  };
}

const token = (changes: Partial<StoredToken> = {}): StoredToken => ({
  id: "t1",
  digest: "digest-1",
  start: "plug_abc",
  name: "ci",
  principal: "service:ci",
  role: "user",
  groups: ["dev"],
  readOnly: true,
  createdAt: NOW - 2,
  createdBy: "local",
  expiresAt: undefined,
  usedAt: undefined,
  usedFrom: undefined,
  ...changes,
});

const user = (changes: Partial<StoredUser> = {}): StoredUser => ({
  id: "u1",
  issuer: "https://idp.example",
  subject: "s1",
  email: "ada@example.org",
  emailVerified: true,
  name: "Ada",
  givenRole: undefined,
  claimedRole: "admin",
  claimedTeams: ["core", "ops"],
  createdAt: NOW,
  seenAt: NOW,
  disabledAt: undefined,
  ...changes,
});

const login = (changes: Partial<ClientLogin> = {}): ClientLogin => ({
  id: "l1",
  client: "c1",
  clientName: "Cursor",
  redirectHost: "127.0.0.1",
  principal: "user:u1",
  groups: ["dev"],
  readOnly: false,
  createdAt: NOW,
  expiresAt: NOW + DAY_MS,
  usedAt: undefined,
  ...changes,
});

const act = (changes: Partial<AuditRow> = {}): Omit<AuditRow, "n" | "hash"> => ({
  at: NOW,
  principal: "local",
  role: "admin",
  token: undefined,
  client: undefined,
  address: "127.0.0.1",
  action: "secret.set",
  object: "key",
  outcome: "allowed",
  detail: undefined,
  requestId: "r",
  ...changes,
});

const adapters: [name: string, create: () => Promise<Opener>][] = [
  ["SQLite", sqlite],
  ...(postgres === undefined ? [] : [["PostgreSQL", database] satisfies [string, () => Promise<Opener>]]),
];

describe.each(adapters)("SC-2 stores of who may use the hub: %s", (_, create) => {
  it("keeps tokens, oldest first, with all that they have", async () => {
    const open = await create();
    const { tokens } = await open();
    const issued = token({
      id: "t2",
      digest: "d2",
      createdAt: NOW - 1,
      groups: "*",
      readOnly: false,
      expiresAt: NOW + 5,
      issued: { login: "l1", client: "c1" },
    });
    await tokens.add(issued);
    await tokens.add(token());
    await tokens.used([{ id: "t1", at: NOW + 7, from: "10.0.0.1" }]);
    await tokens.used([{ id: "t1", at: NOW + 3, from: undefined }]);
    expect(await (await open()).tokens.list()).toEqual([token({ usedAt: NOW + 7, usedFrom: "10.0.0.1" }), issued]);
  });

  it("the name of a valid token is taken, that of a revoked or expired one is free", async () => {
    const open = await create();
    const { tokens } = await open();
    await tokens.add(token());
    const same = token({ id: "t2", digest: "d2" });
    await expect((await open()).tokens.add(same)).rejects.toMatchObject({ kind: "Conflict", field: "name" });
    expect(await tokens.revoke("t1", "local")).toBe(true);
    expect(await tokens.revoke("t1", "local")).toBe(false);
    await tokens.add({ ...same, expiresAt: NOW - 1 });
    await tokens.add(token({ id: "t3", digest: "d3" }));
    expect((await tokens.list()).map(({ id }) => id)).toEqual(["t3"]);
  });

  it("tells when another process has changed tokens or users, until they are listed", async () => {
    const open = await create();
    const [{ tokens, users }, other] = [await open(), await open()];
    await Promise.all([tokens.list(), users.list()]);
    const told = (watch: (onChange: () => void) => () => void) =>
      new Promise<void>((resolve) => onTestFinished(watch(resolve)));
    const both = [told((onChange) => tokens.watch(onChange)), told((onChange) => users.watch(onChange))];
    await other.tokens.add(token());
    await other.users.save(user(), () => user());
    await Promise.all(both);
    expect(await tokens.list()).toHaveLength(1);
    expect(await users.list()).toHaveLength(1);
  });

  it("changes a user as it is stored at the moment, or adds one", async () => {
    const open = await create();
    const { users } = await open();
    expect(
      await users.save(user(), (known) => {
        expect(known).toBeUndefined();
        return user();
      }),
    ).toEqual(user());
    const changes = Array.from({ length: 5 }, async () =>
      (await open()).users.save(user(), (known) => ({ ...(known ?? user()), seenAt: (known?.seenAt ?? 0) + 1 })),
    );
    await Promise.all(changes);
    expect(await users.list()).toEqual([user({ seenAt: NOW + 5 })]);
    expect(await users.remove("u1")).toBe(true);
    expect(await users.remove("u1")).toBe(false);
    const failed = users.save(user(), () => {
      throw new TypeError("no");
    });
    await expect(failed).rejects.toThrow();
    expect(await users.list()).toEqual([]);
  });

  it("chains the audit log without gaps, also when several write", async () => {
    const open = await create();
    const stores = await Promise.all([open(), open(), open()]);
    const appends = stores.flatMap((store, index) =>
      Array.from({ length: 4 }, (__, n) => store.audit.append(act({ object: `o${index} ${n}` }))),
    );
    await Promise.all(appends);
    const { audit } = stores[0];
    const rows = await audit.query({ limit: 100 });
    expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 12 }, (__, index) => 12 - index));
    const head = rows[0]?.hash ?? "";
    expect(await audit.verify(rows[4]?.hash)).toEqual({ rows: 12, head, fault: undefined, noted: 8 });
  });

  it("finds rows of the audit log by person, action, time and page", async () => {
    const { audit } = await (await create())();
    await audit.append(act());
    await audit.append(act({ action: "secret.delete", principal: "user:u1", at: NOW + 10, role: undefined }));
    await audit.append(act({ action: "secrets.other", outcome: "failed", detail: "IoError" }));
    const found = async (query: object) => (await audit.query({ limit: 10, ...query })).map(({ n }) => n);
    expect(await found({ action: "secret" })).toEqual([2, 1]);
    expect(await found({ action: "secret.set" })).toEqual([1]);
    expect(await found({ principal: "user:u1" })).toEqual([2]);
    expect(await found({ since: NOW + 5 })).toEqual([2]);
    expect(await found({ before: 3, limit: 1 })).toEqual([2]);
    expect((await audit.query({ limit: 1 }))[0]).toMatchObject({ outcome: "failed", detail: "IoError", role: "admin" });
  });

  it("keeps clients, drops unused ones, and forgets what is over", async () => {
    const { issuer } = await (await create())();
    const client = (id: string, createdAt: number) => ({
      id,
      metadata: { client_name: "Cursor" },
      createdAt,
      createdFrom: "127.0.0.1",
      usedAt: undefined,
    });
    await issuer.addClient(client("old", NOW - 2 * DAY_MS), 3);
    for (const n of [1, 2, 3, 4]) await issuer.addClient(client(`c${n}`, NOW + n), 3);
    expect(await issuer.findClient("c4")).toEqual(client("c4", NOW + 4));
    expect([await issuer.findClient("old"), await issuer.findClient("c1")]).toEqual([undefined, undefined]);
    await issuer.addLogin(login({ client: "c4" }));
    await issuer.usedLogin("l1");
    expect(await issuer.findClient("c4")).toMatchObject({ usedAt: NOW });
    expect(await issuer.listLogins()).toMatchObject([{ client: "c4", usedAt: NOW }]);
  });

  it("keeps logins of clients; their refresh tokens are marked when used, and end with them", async () => {
    const { issuer } = await (await create())();
    await issuer.addLogin(login());
    await issuer.addLogin(login({ id: "over", expiresAt: NOW - 1 }));
    await issuer.keepPayload("l1", { a: [1] });
    expect(await issuer.findLogin("l1")).toEqual({ login: login(), payload: { a: [1] } });
    expect(await issuer.findLogin("over")).toBeUndefined();
    await issuer.addRefreshToken("d", "l1", { jti: "d" }, NOW + 5);
    expect(await issuer.listLogins()).toEqual([login({ usedAt: NOW })]);
    expect(await issuer.findRefreshToken("d")).toEqual({ payload: { jti: "d" }, usedAt: undefined });
    await issuer.useRefreshToken("d");
    expect(await issuer.findRefreshToken("d")).toMatchObject({ usedAt: NOW });
    await issuer.addRefreshToken("e", "l1", {}, NOW + 5);
    await issuer.removeRefreshToken("e");
    expect(await issuer.findRefreshToken("e")).toBeUndefined();
    expect([await issuer.revokeLogin("l1", "local"), await issuer.revokeLogin("l1", "local")]).toEqual([true, false]);
    expect(await issuer.findRefreshToken("d")).toBeUndefined();
    expect(await issuer.listLogins()).toEqual([]);
  });
});
