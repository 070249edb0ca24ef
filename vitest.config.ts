import { defineConfig } from "vitest/config";

const common = {
  // Real processes on slow machines: timeouts detect a hang, not slowness.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
  // A shared machine can stall for longer than any timeout. CI runs a failed test once more, and the summary names each test that
  // needed it: that is a defect to mend, but does not hide what the change broke.
  retry: process.env["CI"] === undefined ? 0 : 1,
  // The tests start many processes, so few files run at a time: one more than a small machine has processors, because some
  // always wait.
  maxWorkers: 3,
  pool: "forks",
  // There is no mutable state at module level, so files can share a process: loading the modules for each file would take longer
  // than most tests.
  isolate: false,
} as const;

const ALONE = ["test/{bench,fuzz}/**/*.test.ts", "test/faults/memory.test.ts", "test/http/sessions.test.ts"];

export default defineConfig({
  test: {
    globalSetup: "hub/build/bundle.js",
    projects: [
      // Projects run in alphabetical order: the short unit tests come last and fill the gaps.
      { test: { ...common, name: "unit", include: ["{shared,hub,chat}/src/**/*.test.ts"] } },
      { extends: "ui/vite.config.ts", test: { ...common, name: "ui", include: ["ui/src/**/*.test.ts"] } },
      { test: { ...common, name: "run", include: ["test/**/*.test.ts"], exclude: [...ALONE, "test/.*/**"] } },
      // These tests measure their own process.
      { test: { ...common, name: "alone", include: ALONE, isolate: true } },
    ],
    reporters: ["default", "json", "./test/support/flaky-reporter.ts"],
    outputFile: { json: "test-results/vitest.json" },
  },
});
