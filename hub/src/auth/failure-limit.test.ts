import { describe, expect, it } from "vitest";
import { FailureLimit } from "./failure-limit.ts";

/** A limit with a fake clock. */
function limited(options: { limit?: number; maxSources?: number } = {}) {
  const clock = { now: 0 };
  return { clock, failures: new FailureLimit({ now: () => clock.now, windowMs: 1000, limit: 3, ...options }) };
}

describe("failures of one source", () => {
  it("count up to the limit; then the source has to wait until its window ends", () => {
    const { clock, failures } = limited();
    expect([1, 2, 3].map(() => failures.fail("a"))).toEqual([undefined, undefined, undefined]);
    clock.now = 400;
    expect(failures.fail("a")).toBe(600);
  });

  it("expire with the window", () => {
    const { clock, failures } = limited({ limit: 1 });
    failures.fail("a");
    expect(failures.fail("a")).toBe(1000);
    clock.now = 1000;
    expect(failures.fail("a")).toBeUndefined();
  });

  it("do not lengthen the wait", () => {
    const { clock, failures } = limited({ limit: 1 });
    failures.fail("a");
    for (clock.now = 100; clock.now < 1000; clock.now += 100) expect(failures.fail("a")).toBe(1000 - clock.now);
  });

  it("do not count for another source", () => {
    const { failures } = limited({ limit: 1 });
    failures.fail("a");
    expect(failures.fail("b")).toBeUndefined();
  });
});

it("T05 keeps a bounded number of sources, the newest ones", () => {
  const { failures } = limited({ limit: 1, maxSources: 2 });
  for (const source of ["a", "b", "c"]) failures.fail(source);
  expect(failures.fail("c")).toBe(1000);
  expect(failures.fail("b")).toBe(1000);
  expect(failures.fail("a")).toBeUndefined();
});
