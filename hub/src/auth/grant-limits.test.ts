import { describe, expect, it } from "vitest";
import { Grant, ownerGrant, type GrantKind } from "./grant.ts";
import { GrantLimits, toGrantLimits } from "./grant-limits.ts";

const SETTINGS = { perSecond: 10, burst: 2, maxAtOnce: 2 };

function grantOf(kind: GrantKind = "token"): Grant {
  return new Grant({ kind, id: "1", principal: "service:ci", role: "user", groups: "*", readOnly: false });
}

describe("AU-7 the limits of one caller", () => {
  it("AU-7 refuse requests beyond rate and burst, with the time to wait, and count them", () => {
    const limits = new GrantLimits(SETTINGS);
    const limit = limits.of(grantOf());
    limit?.take(1000);
    limit?.take(1000);
    expect(() => limit?.take(1000)).toThrow(
      expect.objectContaining({
        kind: "RateLimited",
        retryAfterMs: 100,
        hint: expect.stringContaining("requests_per_second"),
      }),
    );
    limit?.take(1100);
    expect(Object.fromEntries(limits.refused)).toEqual({
      requests_per_second: 1,
      max_requests: 0,
      address_requests_per_second: 0,
    });
  });

  it("AU-7 refuse more open requests than allowed, until one ends", () => {
    const limits = new GrantLimits(SETTINGS);
    const limit = limits.of(grantOf());
    limit?.enter();
    limit?.enter();
    expect(() => limit?.enter()).toThrow(expect.objectContaining({ kind: "RateLimited" }));
    limit?.leave();
    limit?.enter();
    expect(limits.refused.get("max_requests")).toBe(1);
  });

  it("AU-7 are separate for each token, and the same wherever it is used", () => {
    const limits = new GrantLimits(SETTINGS);
    const [one, other] = [grantOf(), grantOf()];
    expect(limits.of(one)).toBe(limits.of(one));
    expect(limits.of(one)).not.toBe(limits.of(other));
  });

  it.each([["owner"], ["anonymous"]] as const)("AU-7 do not concern %s callers", (kind) => {
    expect(new GrantLimits(SETTINGS).of(ownerGrant({ kind, id: kind }))).toBeUndefined();
  });

  it("AU-7 refuse requests of one address, whoever they are from, except for the owner", () => {
    const limits = new GrantLimits({ ...SETTINGS, address: { perSecond: 1, burst: 2 } });
    const owner = ownerGrant({ kind: "owner", id: "owner" });
    limits.take(grantOf(), "192.0.2.1", 0);
    limits.take(ownerGrant({ kind: "anonymous", id: "anonymous" }), "192.0.2.1", 0);
    expect(() => limits.take(grantOf(), "192.0.2.1", 0)).toThrow(
      expect.objectContaining({
        kind: "RateLimited",
        retryAfterMs: 1000,
        hint: expect.stringContaining("address_requests_per_second"),
      }),
    );
    limits.take(owner, "192.0.2.1", 0);
    limits.take(grantOf(), "192.0.2.2", 0);
    expect(limits.refused.get("address_requests_per_second")).toBe(1);
  });

  it.each([
    [undefined, { perSecond: 50, burst: 100, maxAtOnce: 100 }],
    [{ requests_per_second: 500 }, { perSecond: 500, burst: 500, maxAtOnce: 100 }],
    [
      { requests_per_second: 1, requests_burst: 2, max_requests: 3 },
      { perSecond: 1, burst: 2, maxAtOnce: 3 },
    ],
    [
      { address_requests_per_second: 100 },
      { perSecond: 50, burst: 100, maxAtOnce: 100, address: { perSecond: 100, burst: 200 } },
    ],
  ])("AU-7 of %j in hub.json", (entry, expected) => {
    expect(toGrantLimits(entry)).toEqual(expected);
  });
});
