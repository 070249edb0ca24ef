import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Places, type Occupant } from "./places.ts";

/** One that is gone when it is told so. */
class Guest implements Occupant {
  idleSince: number | undefined;
  readonly #places: readonly Places[];
  #gone: Promise<void> | undefined;
  vanish: () => void = () => undefined;

  constructor(places: readonly Places[], idleSince?: number) {
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
    for (const places of this.#places) places.leave(this, this.#gone);
    return this.#gone;
  }
}

/** Whether it has resolved by now. */
async function isSettled(promise: Promise<void>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await turn();
  return settled;
}

describe("SE-5 so many places and no more", () => {
  it("are taken at once while there are any", async () => {
    const places = new Places("It", () => 2);
    expect(await isSettled(places.take(new Guest([places])))).toBe(true);
    expect(await isSettled(places.take(new Guest([places])))).toBe(true);
    expect(() => places.take(new Guest([places]))).toThrow(expect.objectContaining({ kind: "Overloaded" }));
  });

  it("the longest idle one makes room, and the newcomer waits until it is gone", async () => {
    const places = new Places("It", () => 3);
    const guests = [new Guest([places], 20), new Guest([places], 10), new Guest([places])];
    await Promise.all(guests.map((guest) => places.take(guest)));
    const free = places.take(new Guest([places]));
    expect(guests.map(({ isLeaving }) => isLeaving)).toEqual([false, true, false]);
    expect(await isSettled(free)).toBe(false);
    guests[1]?.vanish();
    expect(await isSettled(free)).toBe(true);
  });

  it("two newcomers at once end two", async () => {
    const places = new Places("It", () => 2);
    const guests = [new Guest([places], 20), new Guest([places], 10)];
    await Promise.all(guests.map((guest) => places.take(guest)));
    const both = Promise.all([places.take(new Guest([places])), places.take(new Guest([places]))]).then(
      () => undefined,
    );
    expect(guests.every(({ isLeaving }) => isLeaving)).toBe(true);
    for (const guest of guests) {
      expect(await isSettled(both)).toBe(false);
      guest.vanish();
    }
    expect(await isSettled(both)).toBe(true);
  });

  it("one that leaves by itself is waited for too", async () => {
    const places = new Places("It", () => 1);
    const first = new Guest([places]);
    await places.take(first);
    void first.end();
    const free = places.take(new Guest([places]));
    expect(await isSettled(free)).toBe(false);
    first.vanish();
    expect(await isSettled(free)).toBe(true);
  });

  it("a limit that was lowered ends as many as it takes", async () => {
    let max = 3;
    const places = new Places("It", () => max);
    const guests = [1, 2, 3].map((since) => new Guest([places], since));
    await Promise.all(guests.map((guest) => places.take(guest)));
    max = 1;
    void places.take(new Guest([places]));
    expect(guests.every(({ isLeaving }) => isLeaving)).toBe(true);
  });

  it("an end frees the places of both bounds", async () => {
    const [own, all] = [new Places("It", () => 5), new Places("All", () => 1)];
    const first = new Guest([own, all], 1);
    await Promise.all([own.take(first), all.take(first)]);
    const second = new Guest([own, all]);
    await own.take(second);
    const free = all.take(second);
    expect(first.isLeaving).toBe(true);
    first.vanish();
    expect(await isSettled(free)).toBe(true);
  });
});
