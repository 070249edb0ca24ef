import { expect, it } from "vitest";
import { eachOf } from "./pool.ts";

it("runs all, never more than a few at once", async () => {
  let now = 0;
  let most = 0;
  const done: number[] = [];
  await eachOf([1, 2, 3, 4, 5, 6, 7], 3, new AbortController().signal, async (item) => {
    most = Math.max(most, (now += 1));
    await Promise.resolve();
    now -= 1;
    done.push(item);
  });
  expect(most).toBe(3);
  expect(done.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

it("begins nothing more after an abort", async () => {
  const stop = new AbortController();
  const done: number[] = [];
  await eachOf([1, 2, 3, 4], 1, stop.signal, async (item) => {
    done.push(item);
    if (item === 2) stop.abort();
    await Promise.resolve();
  });
  expect(done).toEqual([1, 2]);
});
