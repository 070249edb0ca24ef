import { describe, expect, it } from "vitest";
import { LOCAL } from "../servers/caller.ts";
import { callerOf, principalOf } from "./principal.ts";

const of = (authorization?: string) => principalOf({ headers: { authorization } });

describe("SE-3 who a request comes from", () => {
  it("the same credentials are the same user, others another", () => {
    expect(of("Bearer a")).toBe(of("Bearer a"));
    expect(new Set([of("Bearer a"), of("Bearer b"), of()]).size).toBe(3);
  });

  it("without any it is whoever may use this machine", () => {
    expect(of()).toBe(LOCAL.principal());
    expect(of("")).toBe(LOCAL.principal());
  });

  it("SE-1 the credentials are not in it", () => {
    expect(of("Bearer s3same")).not.toContain("s3same");
    const headers = { authorization: "Bearer s3same" };
    expect(JSON.stringify(callerOf({ headers, session: undefined, era: "modern", capabilities: {} }))).toBe("{}");
  });
});
