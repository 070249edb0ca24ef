import { expect, it } from "vitest";
import { LoopLoad } from "./loop-load.ts";

it("RS-4 tells a thread that has much to do from one that waits, by the time since the last look", () => {
  let time = { idle: 1000, active: 0 };
  const load = new LoopLoad(() => time);
  const after = (idle: number, active: number) => {
    time = { idle: time.idle + idle, active: time.active + active };
    return load.isBusy();
  };
  expect([after(0, 100), after(10, 90), after(50, 50), after(250, 0), after(0, 0)]).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
