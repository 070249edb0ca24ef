import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { InstancePool, type PooledInstance } from "./instance-pool.ts";

/** An instance that closes when the test says so. */
class Guest implements PooledInstance {
  idleSince: number | undefined;
  readonly #places: readonly InstancePool[];
  #gone: Promise<void> | undefined;
  vanish: () => void = () => undefined;

  constructor(places: readonly InstancePool[], idleSince?: number) {
    this.#places = places;
    this.idleSince = idleSince;
  }

  get isLeaving(): boolean {
    return this.#gone !== undefined;
  }

  end(): Promise<void> {
    this.#gone ??= new Promise((resolve) => {
      this.vanish = resolve;
    });
    this.idleSince = undefined;
    for (const places of this.#places) places.release(this, this.#gone);
    return this.#gone;
  }
}

/** Whether a promise has resolved. */
async function isSettled(promise: Promise<void>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await turn();
  return settled;
}

describe("SE-5 a pool is bounded", () => {
  it("adds at once while there is room", async () => {
    const places = new InstancePool("It", () => 2);
    expect(await isSettled(places.acquire(new Guest([places])))).toBe(true);
    expect(await isSettled(places.acquire(new Guest([places])))).toBe(true);
    expect(() => places.acquire(new Guest([places]))).toThrow(expect.objectContaining({ kind: "Overloaded" }));
  });

  it("the longest idle one is evicted, and the new one waits for its end", async () => {
    const places = new InstancePool("It", () => 3);
    const guests = [new Guest([places], 20), new Guest([places], 10), new Guest([places])];
    await Promise.all(guests.map((guest) => places.acquire(guest)));
    const free = places.acquire(new Guest([places]));
    expect(guests.map(({ isLeaving }) => isLeaving)).toEqual([false, true, false]);
    expect(await isSettled(free)).toBe(false);
    guests[1]?.vanish();
    expect(await isSettled(free)).toBe(true);
  });

  it("two new ones at once evict two", async () => {
    const places = new InstancePool("It", () => 2);
    const guests = [new Guest([places], 20), new Guest([places], 10)];
    await Promise.all(guests.map((guest) => places.acquire(guest)));
    const both = Promise.all([places.acquire(new Guest([places])), places.acquire(new Guest([places]))]).then(
      () => undefined,
    );
    expect(guests.every(({ isLeaving }) => isLeaving)).toBe(true);
    for (const guest of guests) {
      expect(await isSettled(both)).toBe(false);
      guest.vanish();
    }
    expect(await isSettled(both)).toBe(true);
  });

  it("an instance that ends by itself is waited for too", async () => {
    const places = new InstancePool("It", () => 1);
    const first = new Guest([places]);
    await places.acquire(first);
    void first.end();
    const free = places.acquire(new Guest([places]));
    expect(await isSettled(free)).toBe(false);
    first.vanish();
    expect(await isSettled(free)).toBe(true);
  });

  it("a lowered limit ends surplus instances", async () => {
    let max = 3;
    const places = new InstancePool("It", () => max);
    const guests = [1, 2, 3].map((since) => new Guest([places], since));
    await Promise.all(guests.map((guest) => places.acquire(guest)));
    max = 1;
    void places.acquire(new Guest([places]));
    expect(guests.every(({ isLeaving }) => isLeaving)).toBe(true);
  });

  it("an end frees the slots of both pools", async () => {
    const [own, all] = [new InstancePool("It", () => 5), new InstancePool("All", () => 1)];
    const first = new Guest([own, all], 1);
    await Promise.all([own.acquire(first), all.acquire(first)]);
    const second = new Guest([own, all]);
    await own.acquire(second);
    const free = all.acquire(second);
    expect(first.isLeaving).toBe(true);
    first.vanish();
    expect(await isSettled(free)).toBe(true);
  });
});
