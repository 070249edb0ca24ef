import { describe, expect, it } from "vitest";
import { LOCAL } from "../servers/instances/caller.ts";
import { callerOf, principalOf } from "./principal.ts";

const of = (authorization?: string) => principalOf({ headers: { authorization } });

describe("SE-3 the principal of a request", () => {
  it("is the same for the same credentials, and another for others", () => {
    expect(of("Bearer a")).toBe(of("Bearer a"));
    expect(new Set([of("Bearer a"), of("Bearer b"), of()]).size).toBe(3);
  });

  it("is the local user without credentials", () => {
    expect(of()).toBe(LOCAL.principal());
    expect(of("")).toBe(LOCAL.principal());
  });

  it("SE-1 does not contain the credentials", () => {
    expect(of("Bearer s3same")).not.toContain("s3same");
    const headers = { authorization: "Bearer s3same" };
    expect(JSON.stringify(callerOf({ headers, session: undefined, era: "modern", capabilities: {} }))).toBe("{}");
  });
});
