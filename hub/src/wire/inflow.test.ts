import { describe, expect, it } from "vitest";
import { Inflow } from "./inflow.ts";

const NEWS = { isAnswer: false };

/** Reads whatever is written without end, for so long of a clock of its own; how many messages that were. */
function flood(inflow: Inflow, ms: number, bytes = 100, from = 0): number {
  let count = 0;
  for (let now = from; now < from + ms;) {
    inflow.note(bytes, NEWS);
    count++;
    now += inflow.pauseMs(now) ?? 0;
  }
  return count;
}

describe("T26 how fast a server is read", () => {
  it("T26 a flood is read at the rate, after a burst, and told once", () => {
    let told = 0;
    const inflow = new Inflow({ perSecond: 1000, onFlood: () => told++ });
    expect(flood(inflow, 10_000)).toBeGreaterThan(9000);
    expect(flood(inflow, 10_000, 100, 10_000)).toBeLessThan(11_000);
    expect(told).toBe(1);
  });

  it("T26 large messages count for several", () => {
    const inflow = new Inflow({ perSecond: 1000 });
    expect(flood(inflow, 10_000, 160_000)).toBeLessThan(1200);
  });

  it("T26 answers are never held up", () => {
    const inflow = new Inflow({ perSecond: 1 });
    for (let n = 0; n < 10_000; n++) inflow.note(1_000_000, { isAnswer: true });
    expect(inflow.pauseMs(0)).toBeUndefined();
  });

  it("T26 a few messages need no pause, many in a row give others a turn", () => {
    const inflow = new Inflow({ perSecond: 1000 });
    const pauses = Array.from({ length: 120 }, () => {
      inflow.note(100, NEWS);
      return inflow.pauseMs(0);
    });
    expect(pauses.filter((pause) => pause === 0)).toHaveLength(2);
    expect(pauses.filter((pause) => pause !== undefined && pause > 0)).toEqual([]);
  });
});
