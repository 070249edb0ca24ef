// The messages of a start that waits, with a fake clock.

import { Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Io } from "../io.ts";
import { StartSteps } from "./start-steps.ts";

let said: string[];
let steps: StartSteps;

beforeEach(() => {
  vi.useFakeTimers();
  said = [];
  const stderr = new Writable({ write: (chunk, _encoding, done) => (said.push(String(chunk)), done()) });
  steps = new StartSteps({ stderr } as unknown as Io);
});

afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

describe("a step of a start", () => {
  it("LC-10 that is fast prints nothing", async () => {
    expect(await steps.wait("the config", Promise.resolve(1))).toBe(1);
    expect(said).toEqual([]);
  });

  it("LC-10 that is slow is named, each time after twice the time", async () => {
    const slow = new Promise((resolve) => setTimeout(resolve, 21_000));
    const waited = steps.wait("the config", slow);
    await vi.advanceTimersByTimeAsync(21_000);
    await waited;
    expect(said).toEqual([5, 10, 20].map((s) => `still waiting for the config (${s} s)\n`));
  });

  it("LC-10 that is not needed does not delay the start", async () => {
    const waited = steps.waitAtMost(6000, "the record", new Promise(() => undefined));
    await vi.advanceTimersByTimeAsync(6000);
    await waited;
    expect(said).toEqual(["still waiting for the record (5 s)\n"]);
  });

  it("LC-10 that fails fails the start", async () => {
    await expect(steps.wait("the port", Promise.reject(new Error("in use")))).rejects.toThrow("in use");
  });
});
