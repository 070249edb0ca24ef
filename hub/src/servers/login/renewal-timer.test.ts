import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { deadlinesOf } from "./clock.ts";
import { RenewalTimer } from "./renewal-timer.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const CLOCK = { now: () => Date.now(), monotonic: () => performance.now() };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A login whose tokens last an hour. */
function login({ fails = () => false }: { fails?: () => boolean } = {}) {
  const renewals: number[] = [];
  const started = Date.now();
  let receivedAt = Date.now();
  let retryAt = 0;
  const timer: RenewalTimer = new RenewalTimer({
    clock: CLOCK,
    next: () => ({ renewAt: deadlinesOf({ receivedAt, expiresIn: 3600 }, CLOCK).renewAt, receivedAt, retryAt }),
    renew: async () => {
      renewals.push(Date.now() - started);
      if (fails()) {
        retryAt = performance.now() + MINUTE;
        throw new Error("The authorization server cannot be reached");
      }
      receivedAt = Date.now();
      timer.schedule();
    },
  });
  return { timer, renewals };
}

describe("AU-1 a login is renewed in the background", () => {
  it("before its token expires, while the server is in use", async () => {
    const { timer, renewals } = login();
    timer.run();
    for (let minute = 0; minute < 180; minute++) {
      timer.used();
      await vi.advanceTimersByTimeAsync(MINUTE);
    }
    expect(renewals).toHaveLength(3);
    expect(renewals[0]).toBeGreaterThanOrEqual(55 * MINUTE);
    expect(renewals[0]).toBeLessThan(HOUR);
    timer.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("once a day while no one uses it, so that its refresh token stays valid", async () => {
    const { timer, renewals } = login();
    timer.run();
    await vi.advanceTimersByTimeAsync(30 * 24 * HOUR + HOUR);
    expect(renewals).toHaveLength(30);
    timer.stop();
  });

  it("again after a failure, not before the authorization server may be asked", async () => {
    let failures = 3;
    const { timer, renewals } = login({ fails: () => failures-- > 0 });
    timer.run();
    for (let minute = 0; minute < 70; minute++) {
      timer.used();
      await vi.advanceTimersByTimeAsync(MINUTE);
    }
    expect(renewals.length).toBeGreaterThanOrEqual(4);
    expect(renewals.slice(1, 4).map((at, index) => at - (renewals[index] ?? 0) >= MINUTE)).toEqual([true, true, true]);
    timer.stop();
  });

  it("not before it is started, and not after it is stopped", async () => {
    const { timer, renewals } = login();
    timer.schedule();
    await vi.advanceTimersByTimeAsync(48 * HOUR);
    timer.run();
    timer.stop();
    await vi.advanceTimersByTimeAsync(48 * HOUR);
    expect(renewals).toEqual([]);
  });
});
