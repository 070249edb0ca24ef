import { expect, it } from "vitest";
import { UiKeys } from "./ui-keys.ts";

const MINUTE = 60_000;

function withClock() {
  const clock = { now: 1_800_000_000_000 };
  return { clock, keys: new UiKeys({ now: () => clock.now }) };
}

it("a key has 256 bits, and signs in once", () => {
  const { keys } = withClock();
  const { key } = keys.make();
  expect(key).toMatch(/^[\w-]{43}$/);
  expect([keys.take(key), keys.take(key)]).toEqual([true, false]);
});

it("a key ends after ten minutes", () => {
  const { clock, keys } = withClock();
  const { key, expiresAt } = keys.make();
  const { key: later } = keys.make();
  expect(expiresAt).toBe(clock.now + 10 * MINUTE);
  clock.now = expiresAt - 1;
  expect(keys.take(later)).toBe(true);
  clock.now = expiresAt;
  expect(keys.take(key)).toBe(false);
});

it("at most eight keys are open: the oldest is dropped", () => {
  const { keys } = withClock();
  const made = Array.from({ length: 9 }, () => keys.make().key);
  expect(made.map((key) => keys.take(key))).toEqual([false, ...Array<boolean>(8).fill(true)]);
});

it.each(["", "x", "A".repeat(43), "k".repeat(10_000)])("the text %.20s is no key", (text) => {
  const { keys } = withClock();
  keys.make();
  expect(keys.take(text)).toBe(false);
});
