// Users with a real database and a fake clock.

import { describe, expect, it, onTestFinished } from "vitest";
import { IdentityFile } from "../identity/identity-file.ts";
import { SqliteTokens } from "../identity/sqlite-tokens.ts";
import { SqliteUsers } from "../identity/sqlite-users.ts";
import { AccessTokens } from "./access-tokens.ts";
import { Users, type SignIn, type UserRules } from "./users.ts";

const ANN: SignIn = { issuer: "https://idp.test", subject: "1", email: "Ann@Example.com", emailVerified: true };

async function open(rules: Partial<UserRules> = {}, file = IdentityFile.open()) {
  const opened = await file;
  const given = { hasStore: () => true, onWarning: (message: string) => expect.unreachable(message) };
  const users = new Users({
    ...given,
    openStore: () => Promise.resolve(new SqliteUsers(opened)),
    rules: { admins: [], teams: {}, ...rules },
  });
  const tokens = new AccessTokens({ ...given, openStore: () => Promise.resolve(new SqliteTokens(opened)), users });
  onTestFinished(async () => {
    users.close();
    await tokens.close();
    await opened.close().catch(() => undefined);
  });
  return { users, tokens };
}

const LIMITS = { kind: "jwt", id: "1", groups: "*", readOnly: false } as const;

describe("AU-5 users", () => {
  it("someone who signs in again is the same user, also under a new address", async () => {
    const { users } = await open();
    const first = await users.signedIn(ANN);
    expect(first).toMatchObject({ principal: `user:${first.id}`, role: "user", disabled: false });
    const again = await users.signedIn({ ...ANN, email: "ann@other.test" });
    expect(again).toMatchObject({ id: first.id, email: "ann@other.test" });
    expect((await users.signedIn({ ...ANN, issuer: "https://other.test" })).id).not.toBe(first.id);
    expect(await users.list()).toHaveLength(2);
  });

  it.each<[what: string, rules: Partial<UserRules>, who: SignIn, role: string, teams: string[]]>([
    ["nothing is said", {}, ANN, "user", []],
    ["the issuer says", {}, { ...ANN, role: "operator", teams: ["eng"] }, "operator", ["eng"]],
    ["hub.json says", { admins: ["ann@example.com"], teams: { ops: ["ANN@example.com"] } }, ANN, "admin", ["ops"]],
    ["both say", { teams: { ops: ["ann@example.com"] } }, { ...ANN, teams: ["eng"] }, "user", ["eng", "ops"]],
    [
      "the address is not verified",
      { admins: ["ann@example.com"], teams: { ops: ["ann@example.com"] } },
      { ...ANN, emailVerified: false },
      "user",
      [],
    ],
  ])("role and teams when %s", async (_, rules, who, role, teams) => {
    const { users } = await open(rules);
    const user = await users.signedIn(who);
    expect([user.role, [...user.teams]]).toEqual([role, teams]);
  });

  it("a role that an administrator gives counts more than the issuer's, until it is taken back", async () => {
    const { users } = await open();
    const { id } = await users.signedIn({ ...ANN, role: "operator" });
    expect(await users.setRole("ann@example.com", "user")).toMatchObject({ role: "user" });
    expect(await users.signedIn({ ...ANN, role: "operator" })).toMatchObject({ role: "user" });
    expect(await users.setRole(id, undefined)).toMatchObject({ role: "operator" });
  });

  it("auth.admins cannot be overruled by a command", async () => {
    const { users } = await open({ admins: ["ann@example.com"] });
    const { id } = await users.signedIn(ANN);
    await expect(users.setRole(id, "user")).rejects.toMatchObject({ kind: "Conflict" });
  });

  it.each<[what: string, change: (users: Users, id: string) => Promise<unknown>, isIn: boolean]>([
    ["disabled", (users, id) => users.setDisabled(id, true), false],
    ["removed", (users, id) => users.remove(id), false],
    ["given another role", (users, id) => users.setRole(id, "operator"), true],
    ["put into another team by the issuer", (users) => users.signedIn({ ...ANN, teams: ["eng"] }), true],
  ])("A18 what a user holds open ends when the user is %s", async (_, change, isIn) => {
    const { users, tokens } = await open();
    const user = await users.signedIn(ANN);
    const { token } = await tokens.make(
      { name: "t", principal: user.principal, role: "user", groups: "*", readOnly: false, expiresAt: undefined },
      "local",
    );
    const held = [users.grant(user, LIMITS), tokens.find(token)];
    await change(users, user.id);
    expect(held.map((grant) => grant?.hasEnded)).toEqual([true, true]);
    expect(tokens.find(token) !== undefined).toBe(isIn);
  });

  it("A27 a token never has a higher role than its user", async () => {
    const { users, tokens } = await open();
    const user = await users.signedIn(ANN);
    const given = { name: "t", role: "admin", groups: "*", readOnly: false, expiresAt: undefined } as const;
    const { token } = await tokens.make({ ...given, principal: user.principal }, "local");
    expect(tokens.find(token)?.role).toBe("user");
    await users.setRole(user.id, "operator");
    expect(tokens.find(token)?.role).toBe("operator");
    expect(users.grant(user, { ...LIMITS, role: "admin" }).role).toBe("operator");
  });

  it("a disabled user is refused, and may come back", async () => {
    const { users } = await open();
    const { id } = await users.signedIn(ANN);
    await users.setDisabled(id, true);
    await expect(users.signedIn(ANN)).rejects.toMatchObject({ kind: "Forbidden" });
    await users.setDisabled(id, false);
    expect(await users.signedIn(ANN)).toMatchObject({ id });
  });

  it("an address that two issuers vouch for names nobody", async () => {
    const { users } = await open();
    await users.signedIn(ANN);
    await users.signedIn({ ...ANN, issuer: "https://other.test" });
    await expect(users.get("ann@example.com")).rejects.toMatchObject({ kind: "Conflict" });
    await expect(users.get("bob@example.com")).rejects.toMatchObject({ kind: "UserNotFound" });
  });

  it("a name has no characters that change how it is shown", async () => {
    const { users } = await open();
    expect(await users.signedIn({ ...ANN, name: "Ann\u202Enimda\n" })).toMatchObject({ name: "Annnimda" });
  });
});
