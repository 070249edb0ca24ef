import { describe, expect, it } from "vitest";
import { Grant, ROLES, type GrantInit, type Role } from "./grant.ts";
import { may, type Action } from "./policy.ts";

const LIMITS = { kind: "token", id: "1", principal: "user:9", readOnly: false } as const;

function grantOf(role: Role, groups: "*" | readonly string[]): Grant {
  const limited = groups === "*" ? "*" : new Set(groups);
  return new Grant({ kind: "token", id: "1", principal: "ann", role, groups: limited, readOnly: false });
}

describe("AU-3 A27 the policy", () => {
  it.each<[groups: "*" | string[], group: string, allowed: boolean]>([
    ["*", "dev", true],
    ["*", "default", true],
    [["dev"], "dev", true],
    [["dev"], "default", false],
    [["dev"], "Dev", false],
    [["dev"], "dev2", false],
    [[], "dev", false],
  ])("groups %j may use %s: %s", (groups, group, allowed) => {
    for (const role of ROLES) expect(may(grantOf(role, groups), { to: "use", group: { name: group } })).toBe(allowed);
  });

  it.each<[access: string[] | undefined, who: Partial<GrantInit>, allowed: boolean]>([
    [undefined, {}, true],
    [[], {}, false],
    [["*"], {}, true],
    [["user:1"], { principal: "user:1" }, true],
    [["user:1"], { principal: "user:2" }, false],
    [["user:1"], { principal: "service:1" }, false],
    [["user:Ann@Example.com"], { principal: "user:1", email: "ann@example.com" }, true],
    [["user:ann@example.com"], { principal: "user:1" }, false],
    [["team:eng"], { teams: new Set(["eng"]) }, true],
    [["team:eng"], { teams: new Set(["Eng"]) }, false],
    [["team:eng", "service:ci"], { principal: "service:ci" }, true],
    [["service:ci"], { principal: "service:ci", groups: new Set(["other"]) }, false],
    [[], { role: "operator" }, false],
    [[], { role: "admin" }, true],
    [[], { role: "admin", groups: new Set(["other"]) }, false],
    [[], { kind: "anonymous" }, true],
  ])("T06 a group with the access %j is open to %j: %s", (access, who, allowed) => {
    const grant = new Grant({ ...LIMITS, role: "user", groups: "*", ...who });
    expect(may(grant, { to: "use", group: { name: "dev", access } })).toBe(allowed);
  });

  it.each<[who: Partial<GrantInit>, allowed: boolean]>([
    [{}, true],
    [{ kind: "anonymous" }, true],
    [{ readOnly: true }, true],
    [{ groups: new Set(["dev"]) }, false],
    [{ groups: new Set(["dev"]), role: "admin" }, false],
  ])("the registry is open to %j: %s", (who, allowed) => {
    expect(may(new Grant({ ...LIMITS, role: "user", groups: "*", ...who }), { to: "find" })).toBe(allowed);
  });

  it("a read-only token reads only, whatever its role", () => {
    const grant = new Grant({ ...LIMITS, role: "admin", groups: "*", readOnly: true });
    expect(may(grant, { to: "manage", as: "admin", changes: false })).toBe(true);
    expect(may(grant, { to: "manage", as: "user", changes: true })).toBe(false);
  });

  it("what belongs to others needs a role, and programs without credentials have nothing", () => {
    const handle = { to: "handle", owner: "user:1", as: "operator" } as const;
    const of = (init: Partial<GrantInit>) => may(new Grant({ ...LIMITS, role: "user", groups: "*", ...init }), handle);
    expect([of({ principal: "user:1" }), of({ principal: "user:2" }), of({ role: "operator" })]).toEqual([
      true,
      false,
      true,
    ]);
    expect(of({ kind: "anonymous", role: "admin", principal: "user:1" })).toBe(false);
  });

  it.each<[has: Role, needs: Role, allowed: boolean]>([
    ["user", "user", true],
    ["user", "operator", false],
    ["user", "admin", false],
    ["operator", "user", true],
    ["operator", "operator", true],
    ["operator", "admin", false],
    ["admin", "user", true],
    ["admin", "operator", true],
    ["admin", "admin", true],
  ])("the role %s may do what needs %s: %s", (has, needs, allowed) => {
    expect(may(grantOf(has, []), { to: "manage", as: needs, changes: true })).toBe(allowed);
  });

  it("nothing is allowed after the end of the grant", () => {
    const grant = grantOf("admin", "*");
    grant.end();
    const actions: Action[] = [
      { to: "use", group: { name: "dev" } },
      { to: "find" },
      ...ROLES.map((as) => ({ to: "manage", as, changes: false }) as const),
    ];
    for (const action of actions) expect(may(grant, action)).toBe(false);
  });
});

describe("AU-3 a grant", () => {
  it("ends everything that it holds open, once, and what is opened later at once", () => {
    const grant = grantOf("user", "*");
    const ended: string[] = [];
    grant.onceEnded(() => ended.push("stream"));
    const forget = grant.onceEnded(() => ended.push("closed before"));
    forget();
    grant.end();
    grant.end();
    grant.onceEnded(() => ended.push("late"));
    expect(ended).toEqual(["stream", "late"]);
  });
});
