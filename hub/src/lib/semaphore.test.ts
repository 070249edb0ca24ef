import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Semaphore } from "./semaphore.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open(max = 2, maxWaiting = 2) {
  const slots = new Semaphore("The server", () => ({ max, maxWaiting }));
  const order: string[] = [];
  const take = (name: string, signal?: AbortSignal) => {
    const turn = slots.acquire({ signal, limitMs: 1000 });
    if (turn === undefined) order.push(name);
    else
      void turn.then(
        () => order.push(name),
        (error: { kind: string }) => order.push(`${name}: ${error.kind}`),
      );
  };
  return { slots, order, take };
}

describe("SE-5 a semaphore", () => {
  it("SE-5 admits a number at once, and the others in order", async () => {
    const { slots, order, take } = open();
    for (const name of ["a", "b", "c", "d"]) take(name);
    expect(order).toEqual(["a", "b"]);
    slots.release();
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(["a", "b", "c"]);
    slots.release();
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(["a", "b", "c", "d"]);
    slots.release();
    slots.release();
    expect([slots.taken, slots.waiting, vi.getTimerCount()]).toEqual([0, 0, 0]);
  });

  it("SE-5 refuses at once if the queue is full", () => {
    const { take } = open(1, 1);
    take("a");
    take("b");
    expect(() => take("c")).toThrow(
      expect.objectContaining({ kind: "RateLimited", code: "RATE_LIMITED", retryAfterMs: 1000 }),
    );
  });

  it("SE-5 refuses after a timeout, which frees the place in the queue", async () => {
    const { slots, order, take } = open(1, 2);
    take("a");
    take("b");
    await vi.advanceTimersByTimeAsync(1000);
    expect(order).toEqual(["a", "b: RateLimited"]);
    slots.release();
    expect([slots.taken, slots.waiting]).toEqual([0, 0]);
  });

  it("F46 a cancelled waiter leaves the queue", async () => {
    const { slots, order, take } = open(1, 2);
    const gone = new AbortController();
    take("a");
    take("b", gone.signal);
    take("c");
    gone.abort();
    slots.release();
    await vi.advanceTimersByTimeAsync(0);
    expect(order).toEqual(["a", "b: Cancelled", "c"]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
