import { describe, expect, it } from "vitest";
import { nextAttempt, NO_FAILURES, type Attempt } from "./backoff.ts";

const RULE = { enabled: true, firstMs: 1000, maxMs: 60_000 };

/** A server that starts and crashes after `upMs`; undefined: it fails to start. */
function crash(times: number, upMs: number | undefined, chance = 0.5): Attempt[] {
  const attempts: Attempt[] = [];
  let at = 0;
  let backoff = NO_FAILURES;
  for (let count = 0; count < times; count++) {
    const upSince = upMs === undefined ? undefined : at;
    at += upMs ?? 0;
    const attempt = nextAttempt(backoff, { at, upSince, chance }, RULE);
    attempts.push(attempt);
    ({ backoff } = attempt);
    at += attempt.delayMs;
  }
  return attempts;
}

const delays = (attempts: readonly Attempt[]) => attempts.map(({ delayMs }) => Math.round(delayMs));

describe("F20 LC-6 the backoff", () => {
  it("F20 starts a server that has run without delay, then after 1, 2, 4 … 60 s", () => {
    expect(delays(crash(9, 100))).toEqual([0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  });

  it("F30 waits a second before a server that did not start is tried again", () => {
    expect(delays(crash(4, undefined))).toEqual([1000, 2000, 4000, 8000]);
  });

  it("F20 resets after ten healthy minutes", () => {
    const { backoff } = crash(6, 100).at(-1) ?? { backoff: NO_FAILURES };
    const rested = nextAttempt(backoff, { at: 10_000_000, upSince: 10_000_000 - 600_000, chance: 0.5 }, RULE);
    expect(rested).toMatchObject({ delayMs: 0, crashLoop: false, backoff: { failures: 1 } });
    const early = nextAttempt(backoff, { at: 10_000_000, upSince: 10_000_000 - 599_999, chance: 0.5 }, RULE);
    expect(early.delayMs).toBeGreaterThan(0);
  });

  it("F20 detects a crash loop after five crashes in ten minutes", () => {
    expect(crash(6, 100).map(({ crashLoop }) => crashLoop)).toEqual([false, false, false, false, true, true]);
    expect(crash(6, 200_000).some(({ crashLoop }) => crashLoop)).toBe(false);
  });

  it.each([0, 0.25, 0.999])("F20 adds jitter to the delay, up to the maximum (random %d)", (chance) => {
    for (const [index, { delayMs }] of crash(12, 100, chance).entries()) {
      const exact = index === 0 ? 0 : Math.min(60_000, 1000 * 2 ** (index - 1));
      expect(Math.abs(delayMs - exact)).toBeLessThanOrEqual(exact * 0.2);
      expect(delayMs).toBeLessThanOrEqual(60_000);
    }
  });
});
