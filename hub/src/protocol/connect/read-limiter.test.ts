import { describe, expect, it } from "vitest";
import { ReadLimiter, MESSAGES_PER_SECOND } from "./read-limiter.ts";

const NEWS = { isAnswer: false };

/** Reads an endless stream for this long on a fake clock. Returns the number of messages. */
function flood(inflow: ReadLimiter, ms: number, bytes = 100, from = 0): number {
  let count = 0;
  for (let now = from; now < from + ms;) {
    inflow.note(bytes, NEWS);
    count++;
    now += inflow.pauseMs(now) ?? 0;
  }
  return count;
}

describe("T26 how fast a server is read", () => {
  it("T26 a flood is read at the configured rate after a burst, and reported once", () => {
    let told = 0;
    const inflow = new ReadLimiter({ perSecond: 1000, onFlood: () => told++ });
    expect(flood(inflow, 10_000)).toBeGreaterThan(30_000);
    expect(flood(inflow, 10_000, 100, 10_000)).toBeLessThan(11_000);
    expect(told).toBe(1);
  });

  it("T26 large messages count for several", () => {
    const inflow = new ReadLimiter({ perSecond: 1000 });
    flood(inflow, 10_000, 160_000);
    expect(flood(inflow, 10_000, 160_000, 10_000)).toBeLessThan(1200);
  });

  it("F12 100,000 messages before a reply are read without a pause, yielding to others", () => {
    const inflow = new ReadLimiter({ perSecond: MESSAGES_PER_SECOND });
    const pauses = new Set<number | undefined>();
    for (let n = 0; n < 90_000; n++) {
      inflow.note(200, NEWS);
      pauses.add(inflow.pauseMs(0));
    }
    expect(pauses).toEqual(new Set([undefined, 0]));
  });

  it("T26 replies are never delayed", () => {
    const inflow = new ReadLimiter({ perSecond: 1 });
    for (let n = 0; n < 10_000; n++) inflow.note(1_000_000, { isAnswer: true });
    expect(inflow.pauseMs(0)).toBeUndefined();
  });

  it("T26 a few messages need no pause, many in a row yield", () => {
    const inflow = new ReadLimiter({ perSecond: 1000 });
    const turns = (bytes: number) => {
      const pauses = Array.from({ length: 24 }, () => {
        inflow.note(bytes, NEWS);
        return inflow.pauseMs(0);
      });
      expect(pauses.filter((pause) => pause !== undefined && pause > 0)).toEqual([]);
      return pauses.filter((pause) => pause === 0).length;
    };
    expect(turns(100)).toBe(2);
    // A single large message yields.
    expect(turns(1_000_000)).toBe(24);
  });
});
