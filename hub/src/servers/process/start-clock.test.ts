import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { normalizeServer } from "../../config/parse/normalize.ts";
import { defaultStartMs, StartClock } from "./start-clock.ts";
import type { Stage } from "../status.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const HOUR = 3_600_000;

it.each<[string, readonly (readonly [Stage, number])[], "install" | "start" | undefined]>([
  [
    "waiting for a turn takes no time",
    [
      ["queued", HOUR],
      ["installing", 999],
      ["launching", 99],
    ],
    undefined,
  ],
  [
    "an install has its own limit",
    [
      ["queued", HOUR],
      ["installing", 1000],
    ],
    "install",
  ],
  [
    "the start limit counts from the launch",
    [
      ["installing", 999],
      ["launching", 99],
      ["handshake", 1],
    ],
    "start",
  ],
  [
    "all that follows the launch shares one limit",
    [
      ["launching", 40],
      ["handshake", 40],
      ["listing", 20],
    ],
    "start",
  ],
  [
    "a download of the launcher is no start",
    [
      ["launching", 99],
      ["downloading", 999],
      ["handshake", 99],
    ],
    undefined,
  ],
  [
    "a download has the limit of installs",
    [
      ["handshake", 50],
      ["downloading", 1000],
    ],
    "install",
  ],
])("%s", (_what, stages, expired) => {
  const clock = new StartClock({ install: 1000, start: 100 });
  for (const [stage, ms] of stages) {
    clock.enter(stage);
    vi.advanceTimersByTime(ms);
  }
  expect(clock.expired).toBe(expired);
  expect(clock.signal.aborted).toBe(expired !== undefined);
  clock.stop();
  vi.advanceTimersByTime(HOUR);
  expect(clock.signal.aborted).toBe(expired !== undefined);
});

it.each([
  [{ command: "npx", args: ["x"] }, 120_000],
  [{ command: "/opt/bin/bunx", args: ["x"] }, 120_000],
  [{ command: "pnpm", args: ["dlx", "x"] }, 120_000],
  [{ command: "node", args: ["x.js"] }, 30_000],
  [{ url: "http://127.0.0.1:1/mcp" }, 30_000],
])("a program that fetches the server has more time: %j", (entry, ms) => {
  expect(defaultStartMs(normalizeServer("x", entry).transport)).toBe(ms);
});

it.each([
  [{ command: "node" }, [30_000, 60_000, 120_000, 120_000]],
  [{ command: "npx", args: ["x"] }, [120_000, 120_000]],
])("a server that was too slow has more time at the next attempt, up to a limit: %j", (entry, expected) => {
  const { transport } = normalizeServer("x", entry);
  expect(expected.map((_, timeouts) => defaultStartMs(transport, timeouts))).toEqual(expected);
});
