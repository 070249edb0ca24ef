import { expect, it } from "vitest";
import { Gathering } from "./gathering.ts";

/** With an event loop whose turns the test makes, and a file that only counts. */
class Setting {
  readonly writes: number[] = [];
  settled = 0;
  #waiting = 0;
  #next: (() => void)[] = [];
  readonly gathering = new Gathering({
    waiting: () => this.#waiting,
    write: () => {
      const count = this.#waiting;
      this.#waiting = 0;
      if (count > 0) this.writes.push(count);
      this.gathering.written(count);
    },
    onNextTurn: (callback) => this.#next.push(callback),
  });

  /** True where it is written when it returns. */
  add({ isAlone = false } = {}): boolean {
    this.#waiting++;
    const written = this.gathering.add({ isAlone });
    void written?.then(() => this.settled++);
    return written === undefined;
  }

  addMany(count: number): void {
    for (let added = 0; added < count; added++) this.add();
  }

  async turn(): Promise<void> {
    for (const callback of this.#next.splice(0)) callback();
    // What was settled is told.
    await Promise.resolve();
  }
}

it("RS-4 a record that comes alone is written at once", () => {
  const setting = new Setting();
  expect([setting.add({ isAlone: true }), setting.add({ isAlone: true })]).toEqual([true, true]);
  expect(setting.writes).toEqual([1, 1]);
});

it("RS-4 a few that come together are written at the end of the turn", async () => {
  const setting = new Setting();
  setting.addMany(3);
  expect(setting.writes).toEqual([]);
  await setting.turn();
  expect([setting.writes, setting.settled]).toEqual([[3], 3]);
});

it("RS-4 many wait for a second turn while it brings more, and no longer", async () => {
  const setting = new Setting();
  setting.addMany(8);
  await setting.turn();
  expect(setting.writes).toEqual([]);
  setting.addMany(4);
  await setting.turn();
  expect([setting.writes, setting.settled]).toEqual([[12], 12]);
  setting.addMany(8);
  await setting.turn();
  // Nothing came with the second turn: as soon as that is seen they are written.
  await setting.turn();
  expect(setting.writes).toEqual([12, 8]);
});

it("RS-4 after a crowd one that seems to be alone waits for others, until some have come alone", async () => {
  const setting = new Setting();
  setting.addMany(16);
  await setting.turn();
  await setting.turn();
  const alone: boolean[] = [];
  for (let count = 0; count < 6; count++) {
    alone.push(setting.add({ isAlone: true }));
    await setting.turn();
    await setting.turn();
  }
  expect(alone).toEqual([false, false, false, false, true, true]);
  expect(setting.writes).toEqual([16, 1, 1, 1, 1, 1, 1]);
});

it("RS-4 what somebody else has written is settled, and what comes after it waits for its own turn", async () => {
  const setting = new Setting();
  setting.addMany(2);
  setting.gathering.written(2);
  setting.addMany(1);
  await setting.turn();
  expect(setting.settled).toBe(3);
  expect(setting.writes).toEqual([3]);
});
