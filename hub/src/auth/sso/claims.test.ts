// Who may enter by an identity provider, and with which role and teams.

import { describe, expect, it } from "vitest";
import { toSignIn, type ClaimRules, type Claims } from "./claims.ts";

const read = (claims: Claims, rules: Partial<ClaimRules> = {}) =>
  toSignIn("https://id.example", "ann", claims, { name: "Acme", ...rules });

describe("AU-5 the claims of a person", () => {
  it("name the person", () => {
    expect(read({ email: "ann@example.com", email_verified: true, name: "Ann" })).toEqual({
      issuer: "https://id.example",
      subject: "ann",
      email: "ann@example.com",
      emailVerified: true,
      name: "Ann",
    });
  });

  it.each([
    [true, true],
    ["true", true],
    [false, false],
    ["false", false],
    [undefined, false],
    [1, false],
  ])("email_verified %j counts as %s", (email_verified, expected) => {
    expect(read({ email: "ann@example.com", email_verified }).emailVerified).toBe(expected);
  });

  it.each([
    [["ops"], "operator"],
    ["ops", "operator"],
    [["ops", "root"], "admin"],
    [["staff"], "user"],
    [[], "user"],
    [undefined, "user"],
    [["constructor", "__proto__"], "user"],
    [{ ops: true }, "user"],
  ])("the groups %j give the role %s", (groups, role) => {
    const roles = { claim: "groups", map: { ops: "operator", root: "admin" } } as const;
    expect(read({ groups }, { roles }).role).toBe(role);
  });

  it("without a rule, the provider says nothing about role and teams", () => {
    const signIn = read({ groups: ["ops"], role: "admin" });
    expect([signIn.role, signIn.teams]).toEqual([undefined, undefined]);
  });

  it("teams have the names of the provider, or those of the map alone", () => {
    const claims = { groups: ["/eng", "/all"] };
    expect(read(claims, { teams: { claim: "groups" } }).teams).toEqual(["/eng", "/all"]);
    expect(read(claims, { teams: { claim: "groups", map: { "/eng": "eng" } } }).teams).toEqual(["eng"]);
    expect(read({}, { teams: { claim: "groups" } }).teams).toEqual([]);
  });

  it.each<[Claims, boolean]>([
    [{ email: "ann@example.com", email_verified: true }, true],
    [{ email: "ann@EXAMPLE.com", email_verified: true }, true],
    [{ email: "ann@example.com", email_verified: false }, false],
    [{ email: "ann@example.com" }, false],
    [{ email: "ann@example.com.evil.example", email_verified: true }, false],
    [{ email: "ann@evil-example.com", email_verified: true }, false],
    [{ email: "example.com", email_verified: true }, false],
    [{}, false],
  ])("allowed_domains: %j may enter: %s", (claims, mayEnter) => {
    const enter = () => read(claims, { allowed_domains: ["example.com"] });
    if (mayEnter) expect(enter).not.toThrow();
    else expect(enter).toThrow(expect.objectContaining({ kind: "Forbidden" }));
  });

  it.each<[Claims, boolean]>([
    [{ hd: "example.com", groups: ["hub"] }, true],
    [{ hd: "example.com", groups: ["admins", "other"] }, true],
    [{ hd: "example.com", groups: ["other"] }, false],
    [{ hd: "other.example", groups: ["hub"] }, false],
    [{ groups: ["hub"] }, false],
  ])("required_claims: %j may enter: %s", (claims, mayEnter) => {
    const enter = () => read(claims, { required_claims: { hd: "example.com", groups: ["hub", "admins"] } });
    if (mayEnter) expect(enter).not.toThrow();
    else expect(enter).toThrow(expect.objectContaining({ kind: "Forbidden" }));
  });
});
