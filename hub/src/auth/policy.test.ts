import { describe, expect, it } from "vitest";
import { Grant, ROLES, type Role } from "./grant.ts";
import { may, type Action } from "./policy.ts";

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
    expect(may(grantOf(has, []), { to: "manage", as: needs })).toBe(allowed);
  });

  it("nothing is allowed after the end of the grant", () => {
    const grant = grantOf("admin", "*");
    grant.end();
    const actions: Action[] = [
      { to: "use", group: { name: "dev" } },
      ...ROLES.map((as) => ({ to: "manage", as }) as const),
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
