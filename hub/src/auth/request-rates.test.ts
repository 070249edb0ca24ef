import { describe, expect, it } from "vitest";
import { RequestRates, toRates, type RateName } from "./request-rates.ts";

describe("AU-7 A28 what comes before any credentials", () => {
  it.each<[rate: RateName, times: number, windowMs: number]>([
    ["wrong_credentials", 10, 60_000],
    ["client_registrations", 20, 3_600_000],
    ["authorizations", 60, 60_000],
    ["sign_ins", 10, 60_000],
    ["token_requests", 60, 60_000],
    ["server_logins", 5, 60_000],
  ])("AU-7 %s: %i at once, and as many in %i ms", (rate, times, windowMs) => {
    const clock = { now: 0 };
    const rates = new RequestRates({}, () => clock.now);
    for (let n = 0; n < times; n++) rates.take(rate, "one");
    expect(() => rates.take(rate, "one")).toThrow(
      expect.objectContaining({ kind: "RateLimited", retryAfterMs: expect.closeTo(windowMs / times) }),
    );
    rates.take(rate, "other");
    clock.now = windowMs / times + 1;
    rates.take(rate, "one");
    expect(rates.count(rate, "one")?.hint).toMatch(/^Wait \d+ s/);
    expect(Object.fromEntries(rates.refused)).toEqual({ [rate]: 2 });
  });

  it("sign-ins have a setting, for an office behind one address", () => {
    const rates = new RequestRates(toRates({ sign_ins_per_minute: 100 }), () => 0);
    for (let n = 0; n < 100; n++) rates.take("sign_ins", "office");
    expect(rates.count("sign_ins", "office")).toMatchObject({ kind: "RateLimited" });
  });
});
