import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Slots } from "./slots.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open(max = 2, maxWaiting = 2) {
  const slots = new Slots("The server", () => ({ max, maxWaiting }));
  const order: string[] = [];
  const take = (name: string, signal?: AbortSignal) => {
    const turn = slots.take({ signal, limitMs: 1000 });
    if (turn === undefined) order.push(name);
    else
      void turn.then(
        () => order.push(name),
        (error: { kind: string }) => order.push(`${name}: ${error.kind}`),
      );
  };
  return { slots, order, take };
}

describe("SE-5 slots", () => {
  it("SE-5 lets so many through at once, the others in the order in which they came", async () => {
    const { slots, order, take } = open();
    for (const name of ["a", "b", "c", "d"]) take(name);
    expect(order).toEqual(["a", "b"]);
    slots.give();
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(["a", "b", "c"]);
    slots.give();
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(["a", "b", "c", "d"]);
    slots.give();
    slots.give();
    expect([slots.taken, slots.waiting, vi.getTimerCount()]).toEqual([0, 0, 0]);
  });

  it("SE-5 refuses at once where too many wait already", () => {
    const { take } = open(1, 1);
    take("a");
    take("b");
    expect(() => take("c")).toThrow(
      expect.objectContaining({ kind: "RateLimited", code: "RATE_LIMITED", retryAfterMs: 1000 }),
    );
  });

  it("SE-5 whoever waits too long is refused, and leaves the queue", async () => {
    const { slots, order, take } = open(1, 2);
    take("a");
    take("b");
    await vi.advanceTimersByTimeAsync(1000);
    expect(order).toEqual(["a", "b: RateLimited"]);
    slots.give();
    expect([slots.taken, slots.waiting]).toEqual([0, 0]);
  });

  it("F46 whoever goes away leaves the queue", async () => {
    const { slots, order, take } = open(1, 2);
    const gone = new AbortController();
    take("a");
    take("b", gone.signal);
    take("c");
    gone.abort();
    slots.give();
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(["a", "b: Cancelled", "c"]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
