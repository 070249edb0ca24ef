import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CLOSED, nextBreaker, type Breaker, type BreakerEvent } from "./breaker.ts";

const LIMITS = { failures: 3, cooldownMs: 60_000 };
const failure = (at: number): BreakerEvent => ({ type: "failure", at });
const success: BreakerEvent = { type: "success" };
const cooled = (at: number): BreakerEvent => ({ type: "cooled", at });

describe("RS-2 the breaker", () => {
  const open: Breaker = { state: "open", until: 60_002 };
  it.each<[string, BreakerEvent[], Breaker]>([
    ["begins closed", [], CLOSED],
    ["counts failures", [failure(0), failure(1)], { state: "closed", failures: 2 }],
    ["forgets them with a success", [failure(0), failure(1), success, failure(2)], { state: "closed", failures: 1 }],
    ["opens with the third in a row", [failure(0), failure(1), failure(2)], open],
    ["stays open when calls that were under way fail", [failure(0), failure(1), failure(2), failure(50)], open],
    ["stays open before the cooldown is over", [failure(0), failure(1), failure(2), cooled(60_001.9)], open],
    [
      "is half-open when it is over, to the millisecond",
      [failure(0), failure(1), failure(2), cooled(60_002)],
      { state: "half-open" },
    ],
    ["closes with the probe's success", [failure(0), failure(1), failure(2), cooled(60_002), success], CLOSED],
    [
      "opens anew with its failure, and the cooldown begins again",
      [failure(0), failure(1), failure(2), cooled(60_002), failure(61_000)],
      { state: "open", until: 121_000 },
    ],
    [
      "closes with a health check's success, whenever that comes",
      [failure(0), failure(1), failure(2), success],
      CLOSED,
    ],
  ])("%s", (_, events, expected) => {
    expect(events.reduce((breaker, event) => nextBreaker(breaker, event, LIMITS), CLOSED)).toEqual(expected);
  });

  it("RS-2 agrees with a model over 100,000 random histories", () => {
    const step = fc.oneof(fc.constant("success"), fc.constant("failure"), fc.integer({ min: 1, max: 50 }));
    const property = fc.property(
      fc.array(step, { maxLength: 24 }),
      fc.integer({ min: 1, max: 4 }),
      (steps, failures) => {
        const limits = { failures, cooldownMs: 40 };
        let breaker = CLOSED;
        // The model: a run of failures, and the time of the last opening.
        let run = 0;
        let openedAt: number | undefined;
        let isProbing = false;
        let now = 0;
        for (const event of steps) {
          if (typeof event === "number") {
            now += event;
            breaker = nextBreaker(breaker, cooled(now), limits);
            if (openedAt !== undefined && !isProbing && now - openedAt >= 40) isProbing = true;
          } else if (event === "success") {
            breaker = nextBreaker(breaker, success, limits);
            run = 0;
            openedAt = undefined;
            isProbing = false;
          } else {
            breaker = nextBreaker(breaker, failure(now), limits);
            if (openedAt === undefined) run++;
            if (isProbing || (openedAt === undefined && run >= failures)) {
              openedAt = now;
              isProbing = false;
            }
          }
          const expected = openedAt === undefined ? "closed" : isProbing ? "half-open" : "open";
          if (breaker.state !== expected) return false;
          if (breaker.state === "open" && breaker.until !== (openedAt ?? 0) + 40) return false;
          if (breaker.state === "closed" && breaker.failures !== run) return false;
        }
        return true;
      },
    );
    expect(() => fc.assert(property, { numRuns: 100_000 })).not.toThrow();
  });
});
